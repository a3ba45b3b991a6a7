// The functions of traceloom_node_merge.h.
#include "node_merge/node_merger.h"

#include "base/problems.h"
#include "identity/ranks/ranks.h"
#include "merge/merger.h"
#include "merge/options/merge_options.h"
#include "node_merge/node_notes.h"
#include "output/file_sink.h"
#include "record/engine/engine.h"
#include "record/files/trace_file.h"
#include "record/names/session_place.h"
#include "record/support/c_calls.h"
#include "record/support/process_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{20};
constexpr std::chrono::milliseconds kPatienceAtExit{5'000};

// Fills in the placeholders of the folder and the name of the run; the default folder is that of
// the traces.
NodeMergeOptions settled(NodeMergeOptions options, const record::SessionOptions& session) {
  if (options.run_name.empty()) options.run_name = record::default_run_name();
  record::RunIdentity run = session.run();
  run.run_name = options.run_name;
  options.folder = options.folder.empty() ? std::string(session.folder)
                                          : record::NameTemplate(options.folder).expand(run);
  return options;
}

// Fills in the place of the process. If nothing says how many processes its node has, it is alone
// there.
record::SessionOptions settled(const traceloom_options* given) {
  record::SessionOptions session(given);
  const bool is_told = session.local_world_size != record::kFromEnvironment;
  session.settle();
  if (!is_told && session.local_world_size == 0) session.local_world_size = session.local_rank + 1;
  return session;
}

// `session` must be settled().
void check_merge(const NodeMergeOptions& options, const record::SessionOptions& session) {
  constexpr int kBestLevel = 9;
  if (options.gzip_level < 0 || options.gzip_level > kBestLevel)
    throw std::invalid_argument(
        fmt::format("gzip_level {} is not from 0 to {}", options.gzip_level, kBestLevel));
  if (session.write_json == 0)
    throw std::invalid_argument("a session that writes no files has nothing to merge (write_json)");
  if (session.local_world_size < 1 || session.local_rank < 0 ||
      session.local_rank >= session.local_world_size)
    throw std::invalid_argument(
        fmt::format("a merge per node has to know its ranks: this is local rank {} of {}",
                    session.local_rank, session.local_world_size));
  if (format_of_name(options.file_name) != MergeFormat::json &&
      !record::NameTemplate(options.file_name).tells_positions())
    throw std::invalid_argument(
        fmt::format("{}: an archive cannot grow; put {{epoch}} and {{batch}} into the name, for "
                    "one a cycle, or let it end in .json",
                    options.file_name));
}

}  // namespace

// The trace that the traces of a node are merged into: one that grows by a cycle at a time, or one
// a cycle.
//
// Each merge appears whole or not at all: it is written to a hidden file, which then takes the
// name. A trace that grows is read and written as a whole for each merge.
class NodeTrace {
 public:
  NodeTrace(const NodeMergeOptions& options, const record::SessionOptions& session)
      : options_(options),
        path_((fs::path(options.folder) / options.file_name).string()),
        run_{options.run_name, session.run().place},
        overwrite_(session.overwrite != 0) {}

  // A name without a place of the training in it ({batch}) is that of one trace for all cycles.
  bool grows() const { return !path_.tells_positions(); }

  // Adds the traces of a cycle, or of several that end at `at`. It first removes hidden files that
  // killed processes have left there. Returns the path and events of the merge, and whether it
  // lacks what it had before. Throws Error; then everything is as before.
  NodeMerge add(const record::Position& at, const std::vector<TraceNote>& parts) {
    const std::string path = path_.expand(run_, at);
    NodeMerge merged;
    MergeOptions options;
    const bool goes_on = is_there(last_);
    if (goes_on)
      options.inputs.push_back({last_.path, std::nullopt});
    else if (!last_.path.empty())
      merged.problem = fmt::format(
          "{} is not there as it was merged last; what it held of earlier cycles is not in this "
          "one",
          last_.path);
    std::error_code ignored;  // a problem shows when the file is made
    fs::create_directories(fs::path(path).parent_path(), ignored);
    remove_abandoned(fs::path(path).parent_path());
    for (const TraceNote& part : parts) {
      options.inputs.push_back({part.source(), std::nullopt});
      options.known_as[part.source()] = part.path;
    }
    options.output = hidden_path(path);
    options.threads = options_.threads;
    if (packing_of_name(path) == Packing::gzip) options.level = options_.gzip_level;
    options.format = format_of_name(path);
    try {
      merged.events = merge_traces(options).events;
      merged.path = goes_on ? record::give_last_name(options.output, last_.path, true)
                            : record::give_last_name(options.output, path, overwrite_);
    } catch (...) {
      fs::remove(options.output, ignored);
      throw;
    }
    if (grows()) last_ = note_of(0, 0, merged.path);
    return merged;
  }

 private:
  // Returns the name that a file has while it is written. It ends like the final name, which shows
  // how the file is packed and may be as long as a name can be.
  static std::string hidden_path(const fs::path& path) {
    constexpr std::size_t kMostOfName = 200;
    const std::string name = path.filename().string();
    return path.parent_path() /
           fmt::format(".{}-{}", getpid(),
                       name.substr(name.size() - std::min(name.size(), kMostOfName)));
  }

  // Removes the hidden files of killed processes: "..4711-node0.json.traceloom-4711.tmp", which its
  // process has locked while it writes the merge, and ".4711-node0.json", which the merge is called
  // for a moment before it gets its name.
  void remove_abandoned(const fs::path& folder) const {
    constexpr std::chrono::minutes kMoment{1};
    for (const std::string& name : names_in(folder)) {
      std::string_view hidden = name;
      const bool is_written = hidden.starts_with("..") && hidden.ends_with(".tmp");
      if (is_written) hidden = hidden.substr(1, hidden.rfind(".traceloom-") - 1);
      const std::size_t dash = hidden.find_first_not_of("0123456789", 1);
      if (!hidden.starts_with('.') || dash == std::string_view::npos || dash < 2) continue;
      const fs::path merged = folder / hidden.substr(dash + 1);
      if (hidden[dash] != '-' ||
          path_.owner_of(merged.native(), run_) != record::NameTemplate::Owner::this_rank)
        continue;
      std::error_code error;
      const fs::file_time_type time = fs::last_write_time(folder / name, error);
      if (is_written || (!error && fs::file_time_type::clock::now() - time > kMoment))
        remove_if_abandoned((folder / name).string());
    }
  }

  const NodeMergeOptions& options_;
  const record::NameTemplate path_;
  const record::RunIdentity run_;
  const bool overwrite_;  // may replace a file that was there before
  TraceNote last_;        // of a trace that grows: the file as it was written
};

// The part of one rank; on the first rank also the thread that merges.
class Node {
 public:
  // Both arguments must be settled().
  Node(NodeMergeOptions options, const record::SessionOptions& session)
      : options_(std::move(options)),
        rank_(session.rank),
        local_rank_(session.local_rank),
        ranks_(session.local_world_size),
        keeps_(session.num_traces_to_keep >= 0 || session.overwrite != 0),
        notes_(session.folder, session.node_rank, session.local_rank),
        trace_(options_, session) {
    if (local_rank_ == 0) thread_ = record::start_quiet_thread("node-merge", [this] { run(); });
  }
  ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  bool is_of_this_process() const { return getpid() == process_; }
  bool is_open() const { return is_of_this_process() && !is_closed_; }

  void note(const record::SavedTrace& trace) {
    if (!is_of_this_process()) return;  // a child of fork() may have a session of its own
    {
      const std::lock_guard lock(mutex_);
      if (is_closing_)
        throw Error(trace.path, "saved after the merge per node was closed; it is not merged");
      const std::uint64_t cycle = next_cycle_++;
      const TraceNote note = note_of(cycle, rank_, trace.path);
      notes_.write(keeps_ ? notes_.keep(note, kept_name(note)) : note);
      if (local_rank_ == 0) cycles_.push_back({cycle, trace.position, {}});
    }
    wake_.notify_all();
  }

  bool is_calling() const { return std::this_thread::get_id() == thread_.get_id(); }

  // `most`: the process exits without closing. It may have failed, and others wait for its end, so
  // that it waits less.
  void close(std::chrono::milliseconds most = std::chrono::milliseconds::max()) {
    if (is_calling()) return;
    const std::lock_guard once(close_mutex_);  // the process may exit at the same time
    {
      const std::lock_guard lock(mutex_);
      const std::chrono::milliseconds patience(options_.patience_ms);
      if (!is_closing_) patience_ends_ = Clock::now() + std::min(patience, most);
      is_closing_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    notes_.leave();
    is_closed_ = true;
  }

 private:
  // Returns a file's second name; "" for its own. The cycles of different ranks are matched by
  // their names. If a file of this rank had the name before, the name would match another cycle,
  // and its clock, so the file is named by the number of its cycle.
  std::string kept_name(const TraceNote& note) {
    const std::string cycle = cycle_of_name(note.path);
    const bool is_told = !cycle.empty() && told_cycles_.insert(cycle).second;
    return is_told ? "" : fmt::format("cycle{}-rank{}.json", note.cycle, note.rank);
  }

  using Notes = std::vector<std::optional<TraceNote>>;  // index: local rank
  struct Cycle {
    std::uint64_t number = 0;
    record::Position position;
    Notes notes = {};
  };

  void run() {
    while (std::optional<Cycle> cycle = next_cycle()) {
      cycle->notes = wait_for_notes(cycle->number);
      std::vector<Cycle> cycles{*std::move(cycle)};
      while (trace_.grows() && add_whole_cycle(cycles)) {
      }
      const std::vector<NodeMerge> merges = merge(cycles);
      for (const Cycle& merged : cycles)
        for (std::int64_t rank = 0; rank < ranks_; ++rank) notes_.remove(merged.number, rank);
      for (const NodeMerge& merged : merges) tell(merged);
    }
  }

  void tell(const NodeMerge& merged) const {
    if (!options_.on_merged) return;
    try {
      options_.on_merged(merged);
    } catch (...) {
      return;  // nobody can be informed of a callback that fails
    }
  }

  // Returns nullopt if there are no more cycles.
  std::optional<Cycle> next_cycle() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return is_closing_ || !cycles_.empty(); });
    if (cycles_.empty()) return std::nullopt;
    const Cycle cycle = cycles_.front();
    cycles_.pop_front();
    return cycle;
  }

  // Adds the next cycle if all ranks have noted it by now.
  bool add_whole_cycle(std::vector<Cycle>& cycles) {
    const std::lock_guard lock(mutex_);
    if (cycles_.empty()) return false;
    Cycle cycle = cycles_.front();
    for (std::int64_t rank = 0; rank < ranks_; ++rank) {
      cycle.notes.push_back(notes_.read(cycle.number, rank));
      if (!cycle.notes.back()) return false;
    }
    cycles_.pop_front();
    cycles.push_back(std::move(cycle));
    return true;
  }

  Notes wait_for_notes(std::uint64_t cycle) {
    Notes notes(static_cast<std::size_t>(ranks_));
    while (true) {
      std::unique_lock lock(mutex_);
      const bool is_to_end = is_closing_;
      const bool is_last_look = is_closing_ && Clock::now() >= patience_ends_;
      lock.unlock();
      bool may_come = false;
      for (std::size_t i = 0; i < notes.size(); ++i) {
        if (notes[i]) continue;
        const auto rank = static_cast<std::int64_t>(i);
        // The order matters: what a rank notes before it leaves is seen.
        const bool is_at_work = rank != local_rank_ && notes_.is_at_work(rank);
        notes[i] = notes_.read(cycle, rank);
        may_come = may_come || (!notes[i] && (is_at_work || !is_to_end));
      }
      if (!may_come || is_last_look) return notes;
      lock.lock();
      wake_.wait_for(lock, kBetweenLooks);
    }
  }

  // Returns one result for each cycle.
  std::vector<NodeMerge> merge(const std::vector<Cycle>& cycles) {
    std::vector<NodeMerge> results;
    results.reserve(cycles.size());
    std::vector<TraceNote> parts;
    for (const Cycle& cycle : cycles) results.push_back(add_parts(cycle, parts));
    if (parts.empty()) return results;
    try {
      const NodeMerge merged = trace_.add(cycles.back().position, parts);
      for (NodeMerge& result : results) {
        if (result.ranks == 0) continue;
        result.path = merged.path;
        result.events = merged.events;
      }
      add_problem(results.front(), merged.problem);
    } catch (const std::exception& error) {
      for (NodeMerge& result : results) {
        if (result.ranks > 0) add_problem(result, error.what());
        result.ranks = 0;
      }
    }
    return results;
  }

  static void add_problem(NodeMerge& result, const std::string& problem) {
    if (problem.empty()) return;
    if (!result.problem.empty()) result.problem += "; ";
    result.problem += problem;
  }

  // Adds the traces that there are of a cycle to `parts`, and reports what is missing.
  static NodeMerge add_parts(const Cycle& cycle, std::vector<TraceNote>& parts) {
    NodeMerge result{.cycle = cycle.number, .position = cycle.position};
    for (std::size_t i = 0; i < cycle.notes.size(); ++i) {
      const std::optional<TraceNote>& note = cycle.notes[i];
      if (!note) {
        add_problem(result, fmt::format("local rank {} has saved no trace of it", i));
      } else if (note->path.empty()) {
        add_problem(result, fmt::format("rank {} has no trace of it", note->rank));
      } else if (!is_there(*note)) {
        add_problem(result,
                    fmt::format("{} is not what rank {} has saved", note->path, note->rank));
      } else {
        parts.push_back(*note);
        ++result.ranks;
      }
    }
    return result;
  }

  const NodeMergeOptions options_;
  const std::int64_t rank_;
  const std::int64_t local_rank_;
  const std::int64_t ranks_;
  const bool keeps_;  // the session may delete or replace traces before they are merged
  const pid_t process_ = getpid();
  NodeNotes notes_;
  NodeTrace trace_;  // used by the thread alone

  std::mutex close_mutex_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Cycle> cycles_;
  std::uint64_t next_cycle_ = 0;
  std::set<std::string> told_cycles_;  // cycles by name, one for each kept file with its own name
  bool is_closing_ = false;
  std::atomic<bool> is_closed_ = false;
  Clock::time_point patience_ends_;
  std::thread thread_;
};

}  // namespace traceloom

// A program may close the session after the merger, so it is never freed.
struct traceloom_node_merger : traceloom::Node {
  using Node::Node;
};

namespace traceloom {
namespace {

// The mergers of this process. The exit closes those that the program has not closed: a merge must
// not go on while the objects it uses are destroyed.
struct Mergers {
  static Mergers& instance() {
    static Mergers& all = *new Mergers;  // never destroyed
    return all;
  }

  traceloom_node_merger* add(std::unique_ptr<traceloom_node_merger> merger) {
    static const bool installed = std::atexit(close_all) == 0;
    static_cast<void>(installed);
    const std::lock_guard lock(mutex);
    return list.emplace_back(std::move(merger)).get();
  }

  static void close_all() {
    std::vector<Node*> open;
    // In the child of a fork() nobody may be left to give up the lock.
    if (std::unique_lock lock(instance().mutex, std::try_to_lock); lock)
      for (const auto& merger : instance().list)
        if (merger->is_open()) open.push_back(merger.get());
    if (open.empty()) return;
    traceloom_close_open_session();  // its last cycle has to be merged, too
    for (Node* const node : open) node->close(kPatienceAtExit);
  }

  std::mutex mutex;
  std::vector<std::unique_ptr<traceloom_node_merger>> list;
};

NodeMergeOptions merge_options_of(const traceloom_node_merge_options& given) {
  const traceloom_node_merge_options from =
      record::complete(&given, traceloom_node_merge_options TRACELOOM_NODE_MERGE_OPTIONS_INIT,
                       "traceloom_node_merge_options");
  NodeMergeOptions to;
  if (from.folder != nullptr) to.folder = from.folder;
  if (from.file_name != nullptr) to.file_name = from.file_name;
  if (from.run_name != nullptr) to.run_name = from.run_name;
  to.gzip_level = from.gzip_level;
  to.threads = from.threads;
  to.patience_ms = from.patience_ms;
  if (from.on_merged != nullptr)
    to.on_merged = [tell = from.on_merged, arg = from.on_merged_arg](const NodeMerge& merge) {
      const traceloom_merged_trace trace{sizeof trace,         merge.cycle,  &merge.position,
                                         merge.path.c_str(),   merge.events, merge.ranks,
                                         merge.problem.c_str()};
      tell(arg, &trace);
    };
  return to;
}

}  // namespace
}  // namespace traceloom

using namespace traceloom;
using namespace traceloom::record;

namespace {

// If this throws, the session reports it.
void note_saved(void* arg, const traceloom_saved_trace* trace) {
  static_cast<traceloom_node_merger*>(arg)->note(saved_trace_of(*trace));
}

// Throws std::invalid_argument if one of them is missing.
void check_given(const traceloom_node_merge_options* options, const traceloom_options* session) {
  if (options == nullptr || session == nullptr)
    throw std::invalid_argument("a merge per node needs its options and those of the session");
}

}  // namespace

int traceloom_node_merge_check(const traceloom_node_merge_options* options,
                               const traceloom_options* session) {
  return guarded([&] {
    check_given(options, session);
    check_merge(merge_options_of(*options), settled(session));
  });
}

traceloom_node_merger* traceloom_node_merger_open(const traceloom_node_merge_options* options,
                                                  traceloom_options* session) {
  return made([&] {
    check_given(options, session);
    check_size(session->size, "traceloom_options");
    if (session->size < offsetof(traceloom_options, note_saved_arg) + sizeof(void*))
      throw std::invalid_argument(
          "traceloom_options has no note_saved: compile with the traceloom.h of this library");
    const NodeMergeOptions merge = merge_options_of(*options);
    const SessionOptions own = settled(session);
    check_merge(merge, own);
    traceloom_node_merger* const merger =
        Mergers::instance().add(std::make_unique<traceloom_node_merger>(settled(merge, own), own));
    session->note_saved = note_saved;
    session->note_saved_arg = merger;
    return merger;
  });
}

int traceloom_node_merger_close(traceloom_node_merger* merger) {
  return with(merger, [](traceloom_node_merger& own) {
    if (!own.is_of_this_process()) return;
    if (own.is_calling())
      throw std::logic_error(
          "traceloom_node_merger_close() was called in on_merged, which would wait for itself; the "
          "merger is still open");
    own.close();
  });
}
