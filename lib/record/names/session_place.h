// The options of a session as the recorder uses them, and which of its files are kept.
#pragma once

#include "record/names/name_template.h"
#include "record/names/program_handler.h"
#include "record/session.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace traceloom::record {

// SessionOptions: a program's options, complete, with texts of their own; settle() finds out which
// process of the run they belong to, from the options or the launcher.
//
//   SessionOptions options(given);
//   options.settle();
//   options.rank;                                 // 3, as RANK, SLURM_PROCID and so on say
//   options.folder;                               // "run7/traces"

// No text is NULL. Functions are the program's, which it may have left out.
struct SessionOptions : traceloom_options {
  // Throws std::invalid_argument for a struct without a size. What it points to must live until
  // settle() has returned.
  explicit SessionOptions(const traceloom_options* given);

  // Sets rank, world size and node as known_place() has them, or to 0 if nobody says them, and
  // fills in the placeholders of the folder. The environment is not read again after that: a
  // program that runs may change it. Throws std::invalid_argument for values that no program can
  // mean, and as find_place() does.
  void settle();
  Position start_position() const { return first_; }
  // These are valid after settle(). In names, unknown sizes are those of a run that ends with this
  // rank.
  const RunIdentity& run() const { return run_; }
  const std::vector<std::shared_ptr<TraceHandler>>& program_handlers() const { return handlers_; }
  Action action_at(const Position& at) const;
  std::function<void()> meeting() const;                         // the barrier, if there is one
  std::function<void(const std::string&)> log_function() const;  // the log, if there is one
  // Returns the name of a file that ends at this place, after settle(). Throws what the program
  // throws.
  std::string name_at(const Position& at) const;

 private:
  void check();
  // Returns the text, which lives as long as the options and their copies.
  const char* keep(std::string text) { return texts_->emplace_back(std::move(text)).c_str(); }

  Position first_;  // a copy of what `start` points to
  std::vector<std::shared_ptr<TraceHandler>> handlers_;
  RunIdentity run_;
  std::optional<NameTemplate> name_;
  std::shared_ptr<std::deque<std::string>> texts_ = std::make_shared<std::deque<std::string>>();
};

// Returns what the program itself says of its place.
RunPlace given_place(const traceloom_options& options);

// Does nothing without a function.
using TellSavedTrace = void(void* arg, const traceloom_saved_trace* trace);
void tell_saved_trace(const SavedTrace& saved, TellSavedTrace* tell, void* arg);

// KeptTraces: the newest files that this process saved; it deletes older ones.
//
//   KeptTraces kept(3);
//   kept.add(saved);      // its file is complete
//   kept.delete_old();    // the oldest, when that was the fourth
//   kept.list()           // oldest first

inline constexpr std::int64_t kKeepAllTraces = -1;

// A cycle, or events that ended after one and became a file of their own when the session was
// closed.
enum class TracePart : std::uint8_t { cycle, rest };

// Not thread-safe.
class KeptTraces {
 public:
  // 0 deletes each file once it has been saved. Throws std::invalid_argument below -1.
  explicit KeptTraces(std::int64_t num_traces_to_keep);

  // Adds a trace. Returns what is wrong with it, for example that it is gone already; it is not
  // kept then. A rest counts as a part of the cycle before it, and is deleted with that.
  std::optional<std::string> add(const SavedTrace& trace, TracePart part = TracePart::cycle);
  // Deletes a file only if it was added here and still is the same file. A file that somebody has
  // put in its place stays, and so does one whose name a later save has used again. Returns what
  // could not be deleted, which is then forgotten: "traces/ep0-ba5-rank0.json: Permission denied".
  std::vector<std::string> delete_old();

  std::vector<SavedTrace> list() const;

 private:
  struct Kept {
    SavedTrace trace;
    dev_t device = 0;
    ino_t inode = 0;
    TracePart part = TracePart::cycle;
  };

  std::size_t cycle_count() const;
  std::string remove(const Kept& kept) const;

  std::int64_t most_;
  std::deque<Kept> kept_;
};

}  // namespace traceloom::record
