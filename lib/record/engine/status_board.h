// StatusBoard: what other threads may ask of the writer: its counts, its last error, and the traces
// that it has saved.
//
//   StatusBoard board(options);
//   board.set_error("trace.json: No space left on device");   // also into the program's log
//   board.status().last_error
#pragma once

#include "record/names/kept_traces.h"
#include "record/session.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace traceloom::record {

// Returns the text of the exception that is being handled; a program's callbacks may throw
// anything.
std::string current_problem();
// Returns the same without the file that it was about.
std::string current_reason();

// Thread-safe.
class StatusBoard {
 public:
  // `options` must outlive the board.
  explicit StatusBoard(const Options& options);

  Status status() const;
  std::vector<SavedTrace> saved_traces() const;
  void set_error(const std::string& text);
  // Adds to the counts. `bytes` is how many have been written so far; none without files.
  void add_counts(std::uint64_t events, std::uint64_t lost, std::optional<std::uint64_t> bytes);
  // Tells the program of a trace that has been saved, and deletes old files after it has used this
  // one. `part` is none for a trace without a file.
  void save(const SavedTrace& saved, std::optional<TracePart> part);

 private:
  void tell(const std::string& text) const;

  const Options& options_;
  mutable std::mutex mutex_;
  KeptTraces kept_;
  Status status_;
};

}  // namespace traceloom::record
