#include "node_merge/node_merger.h"

#include "base/error.h"
#include "merge/merger.h"
#include "node_merge/node_notes.h"
#include "record/call_both.h"
#include "record/engine.h"
#include "record/keep_forever.h"
#include "record/name_template.h"
#include "record/quiet_thread.h"
#include "record/trace_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
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

bool is_within(const std::string& inner, const std::string& outer) {
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(fs::absolute(inner, ignored), ignored);
  const fs::path from = fs::weakly_canonical(fs::absolute(outer, ignored), ignored);
  const fs::path relative = whole.lexically_relative(from);
  return !relative.empty() && *relative.begin() != "..";
}

// What is called so only while it is written. Its name ends like the last one, which says how it is
// packed and may be as long as a name can be.
std::string hidden_path(const fs::path& path) {
  constexpr std::size_t kMostOfName = 200;
  const std::string name = path.filename().string();
  return path.parent_path() /
         fmt::format(".{}-{}", getpid(),
                     name.substr(name.size() - std::min(name.size(), kMostOfName)));
}

}  // namespace

void check_node_merge(const NodeMergeOptions& options, const record::Options& session) {
  if (session.num_traces_to_keep >= 0)
    throw std::invalid_argument(fmt::format(
        "num_traces_to_keep is {}: a trace could be deleted before it is merged with those of the "
        "other ranks; with a merge per node all are kept (-1)",
        session.num_traces_to_keep));
  if (!session.write_json)
    throw std::invalid_argument("a session that writes no files has nothing to merge (write_json)");
  if (session.local_world_size < 1 || session.local_rank < 0 ||
      session.local_rank >= session.local_world_size)
    throw std::invalid_argument(
        fmt::format("a merge per node has to know its ranks: this is local rank {} of {}",
                    session.local_rank, session.local_world_size));
  if (options.folder.empty())
    throw std::invalid_argument("the folder of merged traces has no name");
  if (is_within(options.folder, session.folder))
    throw std::invalid_argument(fmt::format(
        "{} is within the folder of the traces, {}: a merge of that would find what is merged "
        "already",
        options.folder, session.folder));
}

// One rank's part, and of the first rank the thread that merges.
class NodeMerger::Node {
 public:
  Node(NodeMergeOptions options, const record::Options& session)
      : options_(std::move(options)),
        rank_(session.rank),
        local_rank_(session.local_rank),
        ranks_(session.local_world_size),
        run_{options_.run_name,
             {session.rank, session.local_rank, session.world_size, session.local_world_size,
              session.node_rank}},
        overwrite_(session.overwrite),
        notes_(session.folder, session.node_rank, session.local_rank) {
    if (local_rank_ == 0) thread_ = record::start_quiet_thread("node-merge", [this] { run(); });
  }
  ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  bool is_of_this_process() const { return getpid() == process_; }

  void note(const record::SavedTrace& trace) {
    {
      const std::lock_guard lock(mutex_);
      if (is_closing_)
        throw Error(trace.path, "saved after the merge per node was closed; it is not merged");
      const std::uint64_t cycle = next_cycle_++;
      notes_.write(note_of(cycle, rank_, trace.path));
      if (local_rank_ == 0) cycles_.push_back({cycle, trace.position});
    }
    wake_.notify_all();
  }

  bool is_calling() const { return std::this_thread::get_id() == thread_.get_id(); }

  void close() { close(patience()); }
  // A process that exits without closing may be one that has failed, and others wait for its end.
  void close_at_exit() { close(std::min(patience(), kPatienceAtExit)); }

 private:
  void close(std::chrono::milliseconds patience) {
    if (is_calling()) return;
    const std::lock_guard once(close_mutex_);  // the process may exit meanwhile
    {
      const std::lock_guard lock(mutex_);
      if (!is_closing_) patience_ends_ = Clock::now() + patience;
      is_closing_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    notes_.leave();
  }

  struct Cycle {
    std::uint64_t number = 0;
    record::Position position;
  };
  using Notes = std::vector<std::optional<TraceNote>>;  // by local rank

  std::chrono::milliseconds patience() const {
    return std::chrono::milliseconds(options_.patience_ms);
  }

  void run() {
    while (const std::optional<Cycle> cycle = next_cycle()) {
      const Notes notes = wait_for_notes(cycle->number);
      const NodeMerge merged = merge(*cycle, notes);
      for (std::int64_t rank = 0; rank < ranks_; ++rank) notes_.remove(cycle->number, rank);
      if (!options_.on_merged) continue;
      try {
        options_.on_merged(merged);
      } catch (...) {
        continue;  // one that fails has nobody to tell
      }
    }
  }

  // nullopt when there are no more.
  std::optional<Cycle> next_cycle() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return is_closing_ || !cycles_.empty(); });
    if (cycles_.empty()) return std::nullopt;
    const Cycle cycle = cycles_.front();
    cycles_.pop_front();
    return cycle;
  }

  Notes wait_for_notes(std::uint64_t cycle) {
    Notes notes(static_cast<std::size_t>(ranks_));
    while (true) {
      const bool is_last_look = is_patience_over();
      const bool is_to_end = is_closing();
      bool may_come = false;
      for (std::size_t i = 0; i < notes.size(); ++i) {
        if (notes[i]) continue;
        const auto rank = static_cast<std::int64_t>(i);
        // In this order: what a rank notes before it goes is seen.
        const bool is_at_work = rank != local_rank_ && notes_.is_at_work(rank);
        notes[i] = notes_.read(cycle, rank);
        may_come = may_come || (!notes[i] && (is_at_work || !is_to_end));
      }
      if (!may_come || is_last_look) return notes;
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kBetweenLooks);
    }
  }

  bool is_closing() {
    const std::lock_guard lock(mutex_);
    return is_closing_;
  }

  bool is_patience_over() {
    const std::lock_guard lock(mutex_);
    return is_closing_ && Clock::now() >= patience_ends_;
  }

  NodeMerge merge(const Cycle& cycle, const Notes& notes) const {
    NodeMerge result{.cycle = cycle.number, .position = cycle.position};
    MergeOptions options;
    std::vector<std::string> problems;
    for (std::size_t i = 0; i < notes.size(); ++i) {
      if (!notes[i])
        problems.push_back(fmt::format("local rank {} has saved no trace of it", i));
      else if (notes[i]->path.empty())
        problems.push_back(fmt::format("rank {} has no trace of it", notes[i]->rank));
      else if (note_of(cycle.number, notes[i]->rank, notes[i]->path) != *notes[i])
        problems.push_back(
            fmt::format("{} is not what rank {} has saved", notes[i]->path, notes[i]->rank));
      else
        options.inputs.push_back({notes[i]->path, std::nullopt});
    }
    result.ranks = static_cast<std::int64_t>(options.inputs.size());
    try {
      if (!options.inputs.empty()) write(std::move(options), result);
    } catch (const std::exception& error) {
      result.path.clear();
      result.ranks = 0;
      problems.emplace_back(error.what());
    }
    result.problem = fmt::format("{}", fmt::join(problems, "; "));
    return result;
  }

  void write(MergeOptions options, NodeMerge& result) const {
    const fs::path path = fs::path(options_.folder) /
                          record::NameTemplate(options_.file_name).expand(run_, result.position);
    std::error_code ignored;  // what is wrong shows when the file is made
    fs::create_directories(path.parent_path(), ignored);
    options.output = hidden_path(path);
    options.threads = options_.threads;
    options.gzip_level = options_.gzip_level;
    options.format = format_of_name(path.string());
    try {
      result.events = merge_traces(options).events;
      result.path = record::give_last_name(options.output, path.string(), overwrite_);
    } catch (...) {
      fs::remove(options.output, ignored);
      throw;
    }
  }

  const NodeMergeOptions options_;
  const std::int64_t rank_;
  const std::int64_t local_rank_;
  const std::int64_t ranks_;
  const record::RunIdentity run_;
  const bool overwrite_;
  const pid_t process_ = getpid();
  NodeNotes notes_;

  std::mutex close_mutex_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Cycle> cycles_;
  std::uint64_t next_cycle_ = 0;
  bool is_closing_ = false;
  Clock::time_point patience_ends_;
  std::thread thread_;
};

// Those of this process that the program has not closed, for its exit: a merge must not go on while
// what it is made with is destroyed.
class NodeMerger::OpenNodes {
 public:
  static void add(const std::shared_ptr<Node>& node) {
    static const bool installed = std::atexit(close_all) == 0;
    static_cast<void>(installed);
    OpenNodes& all = instance();
    const std::lock_guard lock(all.mutex_);
    std::erase_if(all.nodes_, [](const std::weak_ptr<Node>& gone) { return gone.expired(); });
    all.nodes_.push_back(node);
  }

 private:
  static void close_all() {
    const std::vector<std::shared_ptr<Node>> nodes = instance().taken();
    if (nodes.empty()) return;
    record::close_open_session();  // its last cycle is to be merged, too
    for (const std::shared_ptr<Node>& node : nodes) node->close_at_exit();
  }

  static OpenNodes& instance() {
    static OpenNodes& all = *new OpenNodes;  // never destroyed
    return all;
  }

  std::vector<std::shared_ptr<Node>> taken() {
    std::vector<std::shared_ptr<Node>> nodes;
    // In the child of a fork() nobody may be left to give up the lock.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return nodes;
    nodes.reserve(nodes_.size());
    for (const std::weak_ptr<Node>& each : nodes_)
      if (std::shared_ptr<Node> node = each.lock(); node && node->is_of_this_process())
        nodes.push_back(std::move(node));
    return nodes;
  }

  std::mutex mutex_;
  std::vector<std::weak_ptr<Node>> nodes_;
};

NodeMerger::NodeMerger(NodeMergeOptions options, record::Options& session) {
  check_node_merge(options, session);
  node_ = std::make_shared<Node>(std::move(options), session);
  OpenNodes::add(node_);
  session.on_saved = [node = node_.get(),
                      before = std::move(session.on_saved)](const record::SavedTrace& trace) {
    // A child of fork() may have a session of its own, by the same options.
    const auto note = [&] {
      if (node->is_of_this_process()) node->note(trace);
    };
    // Or this rank would be a cycle behind the others from now on.
    record::call_both(
        [&] {
          if (before) before(trace);
        },
        note);
  };
}

NodeMerger::~NodeMerger() {
  if (node_->is_of_this_process())
    close();
  else  // its thread does not exist here
    record::keep_forever(new (std::nothrow) std::shared_ptr<Node>(std::move(node_)));
}

void NodeMerger::note(const record::SavedTrace& trace) {
  if (node_->is_of_this_process()) node_->note(trace);
}

bool NodeMerger::is_calling() const {
  return node_->is_of_this_process() && node_->is_calling();
}

void NodeMerger::close() {
  if (node_->is_of_this_process()) node_->close();
}

}  // namespace traceloom
