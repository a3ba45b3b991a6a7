#include "record/engine/engine.h"

#include "base/problems.h"
#include "base/units.h"
#include "record/buffers/chunk_pool.h"
#include "record/buffers/registry.h"
#include "record/engine/writer.h"
#include "record/journal/recover.h"
#include "record/names/session_place.h"
#include "record/session.h"
#include "record/support/process_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <pthread.h>
#include <shared_mutex>
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

void set_position_of_events(const Position& position) {
  detail::position.store(position.epoch << 32 | (position.batch & 0xffffffffU),
                         std::memory_order_relaxed);
}

}  // namespace

// Does the work of a Session: it follows the schedule, opens and ends cycles, and owns the writer.
class Engine {
 public:
  // Throws std::runtime_error.
  explicit Engine(Options options);
  ~Engine() { close(UseBarrier::no); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void batch_begin(const Position& position) {
    if (!is_open()) return;
    arrive(position, NextBatch::comes);
    if (action_ != Action::skip && !is_cycle_open_) open_cycle();
  }

  void batch_end(const Position& position) {
    if (!is_open()) return;
    if (action_ == Action::active_and_save && is_cycle_open_) {
      is_cycle_open_ = false;
      SyncRounds rounds = meet_at_end();
      has_grace_ = next_batch(position) == NextBatch::none;
      send({Command::Kind::end_cycle, position, std::move(rounds), {}, has_grace_});
    }
    follow_schedule(position, next_batch(position));
  }

  void set_position(const Position& position) {
    if (is_open()) arrive(position, next_batch(position));
  }

  bool is_open() const {
    const std::shared_lock lock(mutex_);
    return writer_ != nullptr;
  }

  Action action() const { return action_.load(std::memory_order_relaxed); }
  void record_external_trace(const std::string& path) {
    send({Command::Kind::external_trace, position(), {}, path});
  }

  void flush() {
    const std::shared_lock lock(mutex_);
    if (writer_ != nullptr) writer_->wait(writer_->send({Command::Kind::flush, position()}));
  }

  bool wait_saved(unsigned timeout_ms) {
    const std::shared_lock lock(mutex_);
    if (writer_ == nullptr) return true;
    writer_->send({Command::Kind::end_grace, position()});
    return writer_->wait(writer_->last_end_of_cycle(), timeout_ms);
  }

  std::vector<SavedTrace> saved_traces() const {
    const std::shared_lock lock(mutex_);
    return writer_ != nullptr ? writer_->board().saved_traces() : saved_at_close_;
  }

  Status status() const {
    const std::shared_lock lock(mutex_);
    Status status = writer_ != nullptr ? writer_->board().status() : status_at_close_;
    if (writer_ == nullptr) return status;
    status.dropped = ChunkPool::instance().dropped();
    status.peak_pool_bytes = ChunkPool::instance().peak_bytes();
    status.misuses = Registry::instance().misuses() - misuses_before_;
    return status;
  }

  enum class UseBarrier : std::uint8_t { no, yes };
  void close(UseBarrier use_barrier);

  // Returns false in a child of fork(), where there is no writer.
  bool is_of_this_process() const { return generation_ == generation.load(); }
  // Called in a child of fork().
  void forget() {
    is_beside_session = true;
    if (writer_ != nullptr) writer_->forget();
  }

  // Does what close() does once the lock for closing is held.
  void close_locked(SyncRounds rounds);

 private:
  void start();
  // Does nothing once the session is closed: another thread may exit the process, which closes it.
  void send(Command command) {
    const std::shared_lock lock(mutex_);
    if (writer_ != nullptr) writer_->send(std::move(command));
  }

  void prepare_folder() const;
  void recover_journal() const;
  std::shared_ptr<Journal> make_journal(const ClockPair& start, std::string& problem) const;
  enum class NextBatch : std::uint8_t { comes, none };
  void follow_schedule(const Position& position, NextBatch next = NextBatch::comes) {
    {
      const std::lock_guard lock(position_mutex_);
      position_ = position;
    }
    set_position_of_events(position);
    if (!options_.schedule)
      action_ = Action::active;
    else
      action_ = next == NextBatch::none ? Action::skip : options_.schedule(position);
    Registry::instance().set_action(action_);
  }

  void arrive(const Position& position, NextBatch next) {
    // Events that are recorded from here on belong to the next cycle.
    if (std::exchange(has_grace_, false)) send({Command::Kind::end_grace, position});
    const bool begins_epoch = position.epoch != this->position().epoch;
    const std::uint64_t before = detail::position.load(std::memory_order_relaxed);
    follow_schedule(position, next);
    if (begins_epoch) Registry::instance().begin_epoch(before, action_);
  }

  // After the last batch of an epoch, a schedule has no answer for a next batch. What is recorded
  // there would be a trace of its own, unless the cycle goes on.
  NextBatch next_batch(const Position& position) const {
    const bool is_at_end = position.epoch_batches && *position.epoch_batches > 0 &&
                           position.batch_in_epoch >= *position.epoch_batches;
    return is_at_end && !is_cycle_open_ ? NextBatch::none : NextBatch::comes;
  }

  Position position() const {
    const std::lock_guard lock(position_mutex_);
    return position_;
  }

  void open_cycle() {
    is_cycle_open_ = true;
    send({Command::Kind::begin_cycle, position_, meet_at_begin()});
  }

  SyncRounds meet_at_begin() const {
    if (options_.barrier) return meet(options_.barrier, std::max(options_.sync_rounds, 1U));
    // A single rank agrees with itself; of several ranks without a barrier, nothing is known.
    return options_.world_size == 1 ? meet([] {}, 1) : SyncRounds{};
  }

  SyncRounds meet_at_end() const {
    return options_.sync_at_end && options_.barrier ? meet_at_begin() : SyncRounds{};
  }

  void complain(const std::string& text) const {
    if (options_.log) options_.log(text);
  }

  Options options_;
  std::uint64_t generation_;
  std::uint64_t misuses_before_ = 0;
  std::atomic<Action> action_ = Action::skip;
  mutable std::mutex position_mutex_;
  Position position_;
  bool is_cycle_open_ = false;
  bool has_grace_ = false;  // the last cycle was the last of its epoch and still takes events
  // Threads that use the writer share it; close() takes it alone and removes the writer.
  mutable std::shared_mutex mutex_;
  std::unique_ptr<Writer> writer_;
  std::vector<SavedTrace> saved_at_close_;
  Status status_at_close_;
};

namespace {

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
  if (Engine* const engine = current.exchange(nullptr)) engine->forget();
  keep_forever(closing.exchange(new std::mutex));
  after_fork_in_parent();
}

void install_process_hooks() {
  static const bool installed = [] {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    std::atexit(close_open_session);
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
bool may_be_merged_meanwhile(const std::string& name, const Options& options) {
  const RunIdentity run = identity_of(options);
  const NameTemplate::Owner owner = NameTemplate(kDefaultMergedName).owner_of(name, run);
  return owner == NameTemplate::Owner::other_rank ||
         (owner == NameTemplate::Owner::this_rank && run.place.local_rank != 0);
}

}  // namespace

void close_open_session() {
  if (Writer::is_own_thread()) return;  // it cannot wait for itself
  const std::lock_guard lock(*closing.load());
  if (Engine* const engine = current.load()) engine->close_locked({});
}

Engine::Engine(Options options)
    : options_(settled_options(std::move(options))),
      generation_(generation.load()),
      position_(options_.start) {
  install_process_hooks();
  Engine* expected = nullptr;
  if (!current.compare_exchange_strong(expected, this))
    throw Error("traceloom", "a session is open already; close() it first");
  try {
    start();
    // These call functions of the program, which may throw.
    follow_schedule(position_);
    if (!options_.schedule) open_cycle();
  } catch (...) {
    close(UseBarrier::no);
    const std::lock_guard lock(*closing.load());  // another thread may exit the process
    Engine* self = this;
    current.compare_exchange_strong(self, nullptr);
    throw;
  }
}

void Engine::start() {
  constexpr int kBestLevel = 9;
  if (options_.gzip_level < 0 || options_.gzip_level > kBestLevel)
    throw Error("traceloom",
                "gzip_level " + std::to_string(options_.gzip_level) + " is not from 0 to 9");
  static_cast<void>(KeptTraces(options_.num_traces_to_keep));  // throws for a bad number, too
  options_.flush_ms = std::max(options_.flush_ms, 1U);
  options_.is_beside_rank |= is_beside_session.load();
  if (!options_.journal_folder.empty()) recover_journal();
  if (options_.write_json) prepare_folder();
  if (options_.barrier) options_.barrier();
  choose_clock(options_.clock);
  if (options_.clock == ClockChoice::tsc && !detail::clock_is_tsc.load())
    complain(
        "the processor does not say that its counter runs at one speed; going by "
        "CLOCK_MONOTONIC");
  const ClockPair start = read_clock_pair();
  std::string problem;
  const std::shared_ptr<Journal> journal = make_journal(start, problem);
  PoolSettings pool{.bytes = options_.pool_bytes,
                    .max_bytes = options_.max_pool_bytes,
                    .when_full = options_.when_full,
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
  Registry::instance().set_log(options_.log);
  set_position_of_events(position_);
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
  if (access(options_.folder.c_str(), W_OK | X_OK) != 0) throw system_error(options_.folder, errno);
  if (options_.overwrite || options_.is_beside_rank) return;
  // Without a barrier, the files of another rank may belong to this run.
  for (fs::recursive_directory_iterator entries(options_.folder), end; entries != end; ++entries) {
    const std::string name = entries->path().filename();
    if (name.starts_with('.')) entries.disable_recursion_pending();
    if (name.starts_with('.') || !entries->is_regular_file()) continue;
    const std::optional<std::int64_t> rank = rank_in(name);
    if (!options_.barrier && rank && *rank != options_.rank) continue;
    if (!options_.barrier && may_be_merged_meanwhile(name, options_)) continue;
    throw Error(options_.folder,
                "is not empty: " + name + " exists; choose another folder, or allow to overwrite");
  }
}

std::shared_ptr<Journal> Engine::make_journal(const ClockPair& start, std::string& problem) const {
  if (options_.journal_folder.empty() || !options_.write_json) return nullptr;
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
  if (use_barrier == UseBarrier::yes && is_open() && is_cycle_open_) rounds = meet_at_end();
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

Session::Session(Options options) : engine_(std::make_shared<Engine>(std::move(options))) {}

Session Session::open(Options options) noexcept {
  const Options given = options;
  try {
    return Session(std::move(options));
  } catch (const std::exception& error) {
    return Session(Refusal{error.what()}, given);
  } catch (...) {
    return Session(Refusal{"a callback threw an exception of an unknown type"}, given);
  }
}

// Makes a session that only meets at the barrier: other ranks may be there already, and wait for
// this one.
Session::Session(Refusal refusal, Options options) noexcept : refusal_(std::move(refusal.why)) {
  try {
    if (options.log) options.log(refusal_ + "; nothing is recorded");
    if (!options.barrier) return;
    options.write_json = false;
    options.journal_folder.clear();
    options.handlers.clear();
    options.on_saved = {};
    engine_ = std::make_shared<Engine>(std::move(options));
  } catch (...) {
    engine_ = nullptr;  // the first problem is reported
  }
}

Session::~Session() {
  if (engine_ == nullptr || engine_->is_of_this_process()) return;
  // The engine's thread does not exist here, and what it holds may be locked for ever.
  keep_forever(new (std::nothrow) std::shared_ptr<Engine>(std::move(engine_)));
}

// Returns nullptr in the child of a fork(), where nothing is done: the session belongs to the
// parent.
Engine* Session::engine() const {
  return engine_ != nullptr && engine_->is_of_this_process() ? engine_.get() : nullptr;
}

bool Session::is_open() const {
  return refusal_.empty() && engine() != nullptr && engine()->is_open();
}

void Session::batch_begin(const Position& position) {
  if (Engine* const own = engine()) own->batch_begin(position);
}

void Session::batch_end(const Position& position) {
  if (Engine* const own = engine()) own->batch_end(position);
}

void Session::set_position(const Position& position) {
  if (Engine* const own = engine()) own->set_position(position);
}

Action Session::action() const {
  const Engine* const own = engine();
  return own == nullptr ? Action::skip : own->action();
}

void Session::record_chrome_json_trace_file(const std::string& path) {
  if (Engine* const own = engine(); own != nullptr && refusal_.empty())
    own->record_external_trace(path);
}

void Session::flush() {
  if (Engine* const own = engine()) own->flush();
}

bool Session::wait_saved(unsigned timeout_ms) {
  Engine* const own = engine();
  return own == nullptr || own->wait_saved(timeout_ms);
}

std::vector<SavedTrace> Session::saved_traces() const {
  const Engine* const own = engine();
  return own == nullptr ? std::vector<SavedTrace>{} : own->saved_traces();
}

Status Session::status() const {
  Status status;
  if (!refusal_.empty())
    status.last_error = refusal_;  // a session without files counts nothing
  else if (const Engine* const own = engine())
    status = own->status();
  return status;
}

Status Session::close() {
  if (engine_ != nullptr) engine_->close(Engine::UseBarrier::yes);
  return status();
}

}  // namespace traceloom::record
