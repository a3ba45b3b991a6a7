#include "record/engine/engine.h"

#include "base/problems.h"
#include "base/units.h"
#include "record/buffers/chunk_pool.h"
#include "record/buffers/registry.h"
#include "record/journal/recover.h"
#include "record/support/process_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace traceloom::record {
namespace {

std::atomic<Engine*> current{nullptr};
std::atomic<std::uint64_t> generation{0};  // counts the forks that led to this process
// A fork that led to this process happened while a session was open.
std::atomic<bool> is_beside_session{false};

// Serializes closing: the session's thread and a thread that exits the process may both do it.
// Leaked on purpose, and replaced in the child of a fork(), where its owner may not exist.
std::atomic<std::mutex*> closing{new std::mutex};

// After fork(), the child has one thread, a copy of the memory and none of the locks' owners. It
// must not write what the parent writes as well.
void before_fork() {
  Registry::instance().lock();
  ChunkPool::instance().lock();
}

void after_fork_in_parent() {
  ChunkPool::instance().unlock();
  Registry::instance().unlock();
}

void after_fork_in_child() {
  generation.fetch_add(1);
  forget_thread_after_fork();
  ChunkPool::instance().forget_session();
  Registry::instance().forget_session();
  if (Engine* const engine = current.exchange(nullptr)) {
    is_beside_session = true;
    engine->forget();
  }
  keep_forever(closing.exchange(new std::mutex));
  after_fork_in_parent();
}

void install_process_hooks() {
  static const bool installed = [] {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    std::atexit(traceloom_close_open_session);
    return true;
  }();
  static_cast<void>(installed);
}

// Returns the number after the last "rank" of a name.
std::optional<std::int64_t> rank_in(std::string_view name) {
  const std::size_t at = name.rfind("rank");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string digits(
      name.substr(at + 4, name.find_first_not_of("0123456789", at + 4) - at - 4));
  return digits.empty() || digits.size() > 9 ? std::nullopt
                                             : std::optional<std::int64_t>(std::stoll(digits));
}

// Returns whether the merge per node may write the file meanwhile: that of another node, or that of
// this node once its first rank has ended.
bool may_be_merged_meanwhile(const std::string& name, const SessionOptions& options) {
  const NameTemplate::Owner owner = NameTemplate(kDefaultMergedName).owner_of(name, options.run());
  return owner == NameTemplate::Owner::other_rank ||
         (owner == NameTemplate::Owner::this_rank && options.run().place.local_rank != 0);
}

}  // namespace

bool Engine::is_of_this_process() const {
  return generation_ == generation.load();
}

Engine::Engine(SessionOptions options, bool& has_met)
    : options_(std::move(options)),
      generation_(generation.load()),
      position_(options_.start_position()) {
  options_.settle();
  install_process_hooks();
  Engine* expected = nullptr;
  if (!current.compare_exchange_strong(expected, this))
    throw Error("traceloom", "a session is open already; close() it first");
  try {
    start(has_met);
    // These call functions of the program, which may throw.
    follow_schedule(position_);
    if (options_.schedule == nullptr) open_cycle();
  } catch (...) {
    close(UseBarrier::no);
    const std::lock_guard lock(*closing.load());  // another thread may exit the process
    Engine* self = this;
    current.compare_exchange_strong(self, nullptr);
    throw;
  }
}

Engine::Engine(SessionOptions options, HasMet has_met)
    : options_(std::move(options)),
      is_follower_(true),
      generation_(generation.load()),
      position_(options_.start_position()) {
  if (has_met == HasMet::no) options_.barrier(options_.barrier_arg);
  follow_schedule(position_);
  if (options_.schedule == nullptr) open_cycle();
}

void Engine::start(bool& has_met) {
  constexpr int kBestLevel = 9;
  if (options_.gzip_level < 0 || options_.gzip_level > kBestLevel)
    throw Error("traceloom",
                "gzip_level " + std::to_string(options_.gzip_level) + " is not from 0 to 9");
  static_cast<void>(KeptTraces(options_.num_traces_to_keep));  // throws for a bad number, too
  options_.flush_ms = std::max(options_.flush_ms, 1U);
  if (is_beside_session) options_.is_beside_rank = 1;
  if (has_journal()) recover_journal();
  if (options_.write_json != 0) prepare_folder();
  if (options_.barrier != nullptr) options_.barrier(options_.barrier_arg);
  has_met = true;
  choose_clock(static_cast<ClockChoice>(options_.clock));
  if (options_.clock == TRACELOOM_CLOCK_TSC && !detail::clock_is_tsc.load())
    complain(
        "the processor does not say that its counter runs at one speed; going by "
        "CLOCK_MONOTONIC");
  const ClockPair start = read_clock_pair();
  std::string problem;
  const std::shared_ptr<Journal> journal = make_journal(start, problem);
  PoolSettings pool{.bytes = options_.pool_bytes,
                    .max_bytes = options_.max_pool_bytes,
                    .when_full = static_cast<WhenFull>(options_.when_full),
                    .block_ms = options_.block_ms};
  if (journal != nullptr) {
    pool.memory = journal->chunks();
    pool.max_bytes = journal->chunk_bytes();
    pool.bytes = std::min(pool.bytes, pool.max_bytes);
    // A thread may ask for memory while the writer, which uses the journal, ends.
    pool.has_memory = [journal](std::size_t chunks) { return journal->grow(chunks); };
  }
  ChunkPool::instance().open(pool);
  misuses_before_ = Registry::instance().misuses();
  Registry::instance().set_log(options_.log_function());
  set_position_of_events();
  Registry::instance().begin_epoch(kNoEpoch, Action::skip);
  const ThreadState* const thread = this_thread_state();
  try {
    auto writer =
        std::make_unique<Writer>(options_, start, thread == nullptr ? 0 : thread->tid, journal);
    if (!problem.empty()) writer->board().set_error(problem);
    const std::unique_lock lock(mutex_);
    writer_ = std::move(writer);
  } catch (...) {
    ChunkPool::instance().close();
    Registry::instance().set_log({});
    throw;
  }
}

bool is_session_calling() {
  // There is no current engine in the child of a fork().
  return current.load() != nullptr && Writer::is_own_thread();
}

void Engine::recover_journal() const {
  std::error_code ignored;  // a problem shows when the journal is made
  std::filesystem::create_directories(options_.journal_folder, ignored);
  // This session must not change a trace of its rank that lies elsewhere.
  for (const RecoveredTrace& trace :
       recover_journals(options_.journal_folder, {options_.folder}, options_.rank)) {
    if (!trace.problem.empty())
      complain(words_of_problem(trace));
    else if (!trace.path.empty())
      complain(trace.path + ": completed with " + std::to_string(trace.events) +
               " events of a journal that an earlier run left" + words_of_loss(trace));
  }
  if (options_.local_rank != 0) return;  // one process of a node is enough
  if (const std::size_t old = count_old_journals(options_.journal_folder); old > 0)
    complain(fmt::format(
        "{0}: {1} of dead processes, older than a day; trace-merge --recover {0} FOLDER, with the "
        "folder of their traces, completes these and deletes what holds nothing",
        options_.journal_folder, count_of(old, "journal")));
}

void Engine::prepare_folder() const {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(options_.folder, error);
  if (error) throw system_error(options_.folder, error.value());
  if (access(options_.folder, W_OK | X_OK) != 0) throw system_error(options_.folder, errno);
  if (options_.overwrite != 0 || options_.is_beside_rank != 0) return;
  // Without a barrier, the files of another rank may belong to this run.
  for (fs::recursive_directory_iterator entries(options_.folder), end; entries != end; ++entries) {
    const std::string name = entries->path().filename();
    if (name.starts_with('.')) entries.disable_recursion_pending();
    if (name.starts_with('.') || !entries->is_regular_file()) continue;
    const std::optional<std::int64_t> rank = rank_in(name);
    if (options_.barrier == nullptr && rank && *rank != options_.rank) continue;
    if (options_.barrier == nullptr && may_be_merged_meanwhile(name, options_)) continue;
    throw Error(options_.folder,
                "is not empty: " + name + " exists; choose another folder, or allow to overwrite");
  }
}

std::shared_ptr<Journal> Engine::make_journal(const ClockPair& start, std::string& problem) const {
  if (!has_journal() || options_.write_json == 0) return nullptr;
  try {
    return std::make_shared<Journal>(options_, start);
  } catch (const Error& error) {
    problem = std::string(error.what()) + "; going on without a journal";
    return nullptr;
  }
}

void Engine::close(UseBarrier use_barrier) {
  // A callback of the session runs in its thread, which cannot wait for itself.
  if (!is_of_this_process() || Writer::is_own_thread()) return;
  SyncRounds rounds;
  if (use_barrier == UseBarrier::yes && is_at_work() && is_cycle_open_) rounds = meet_at_end();
  is_follower_ = false;
  const std::lock_guard lock(*closing.load());
  close_locked(std::move(rounds));
}

void Engine::close_locked(SyncRounds rounds) {
  if (!is_open()) return;
  Registry::instance().set_action(std::nullopt);
  ChunkPool::instance().hand_over_own();
  writer_->wait(writer_->send({Command::Kind::stop, position(), std::move(rounds)}));
  Status status = this->status();
  const std::unique_lock lock(mutex_);  // threads that waited for the writer have been let go
  status_at_close_ = std::move(status);
  saved_at_close_ = writer_->board().saved_traces();
  writer_.reset();
  ChunkPool::instance().close();
  Registry::instance().set_log({});
  Engine* expected = this;
  current.compare_exchange_strong(expected, nullptr);
}

}  // namespace traceloom::record

void traceloom_close_open_session() {
  using namespace traceloom::record;
  if (Writer::is_own_thread()) return;  // it cannot wait for itself
  const std::lock_guard lock(*closing.load());
  if (Engine* const engine = current.load()) engine->close_locked({});
}
