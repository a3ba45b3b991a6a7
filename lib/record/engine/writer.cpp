#include "record/engine/writer.h"

#include "record/buffers/registry.h"
#include "record/support/process_support.h"

#include <limits>
#include <utility>

namespace traceloom::record {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

__thread bool is_writer = false;  // true in a writer's thread

}  // namespace

Writer::Writer(const SessionOptions& options, const ClockPair& start, std::uint32_t main_tid,
               std::shared_ptr<Journal> journal)
    : options_(options),
      pool_(ChunkPool::instance()),
      journal_(std::move(journal)),
      status_(options),
      cycle_(options, status_, start, main_tid, journal_.get()),
      position_(options.start_position()) {
  if (journal_ != nullptr)
    Registry::instance().watch([this](const Label& label) { journal_->add_label(label); });
  cycle_.announce_next_file(options.start_position());
  try {
    thread_ = start_quiet_thread("traceloom", [this] { run(); });
  } catch (...) {
    leave_journal();
    throw;
  }
}

Writer::~Writer() {
  if (thread_.joinable()) thread_.join();
  leave_journal();
}

void Writer::leave_journal() {
  if (journal_ == nullptr) return;
  Registry::instance().watch({});
  journal_->remove();
}

void Writer::forget() {
  is_writer = false;  // now a thread of the program like any other
  if (journal_ != nullptr) journal_->forget();
}

std::uint64_t Writer::send(Command command) {
  std::unique_lock lock(mutex_);
  if (is_stop_sent_) {
    const std::uint64_t stop = sent_;
    lock.unlock();
    if (command.kind == Command::Kind::external_trace)
      status_.set_error(command.path + ": came when the session was being closed; it is left out");
    return stop;
  }
  if (holds_ring(command)) pool_.hold();
  // The time is read with the lock held, so that what the thread drains without a command lies
  // before the next command.
  command.ticks = detail::now();
  command.dropped = pool_.dropped();
  const std::uint64_t number = ++sent_;
  if (command.kind == Command::Kind::end_cycle) last_end_of_cycle_ = number;
  is_stop_sent_ = command.kind == Command::Kind::stop;
  commands_.push_back(std::move(command));
  lock.unlock();
  pool_.wake();
  return number;
}

bool Writer::wait(std::uint64_t number, std::optional<unsigned> timeout_ms) {
  std::unique_lock lock(mutex_);
  const auto is_done = [&] { return finished_number_ >= number || is_stopped_; };
  if (!is_writer && timeout_ms)
    finished_.wait_for(lock, std::chrono::milliseconds(*timeout_ms), is_done);
  else if (!is_writer)
    finished_.wait(lock, is_done);
  return is_done();
}

std::uint64_t Writer::last_end_of_cycle() const {
  const std::lock_guard lock(mutex_);
  return last_end_of_cycle_;
}

// Between the end of a cycle and its draining, a ring would overwrite what has to be saved.
bool Writer::holds_ring(const Command& command) const {
  return is_ring() && command.ends_cycle();
}

// Returns the time now, before which all commands have been taken; none if a command waits.
std::optional<std::uint64_t> Writer::ticks_if_idle() const {
  const std::lock_guard lock(mutex_);
  if (!commands_.empty()) return std::nullopt;
  return detail::now();
}

bool Writer::is_own_thread() {
  return is_writer;
}

void Writer::run() {
  is_writer = true;
  bool is_stopped = false;
  while (!is_stopped) {
    pool_.wait_for_work(options_.flush_ms);
    taken_.clear();
    {
      const std::lock_guard lock(mutex_);
      taken_.swap(commands_);
    }
    cycle_.keep_time();
    execute_all(taken_);
    is_stopped = !taken_.empty() && taken_.back().kind == Command::Kind::stop;
    if (held_) cut_held_in_time();
    if (is_stopped || is_ring()) continue;
    // Threads that record events which never belong to a cycle must not fill the pool for ever.
    if (!cycle_.is_open() && pool_.is_half_full()) cycle_.begin(position_);
    if (cycle_.is_open()) drain_idle();
  }
}

// Drains what has been recorded, unless a command that comes first is waiting.
void Writer::drain_idle() {
  if (const std::optional<std::uint64_t> limit = ticks_if_idle())
    cycle_.drain(*limit);
  else
    pool_.wake();
}

void Writer::execute(const Command& command) {
  // Events recorded before the first batch belong to the cycle that begins with it.
  const bool opens =
      command.kind == Command::Kind::begin_cycle || command.kind == Command::Kind::external_trace ||
      (command.kind == Command::Kind::stop && !cycle_.is_open() && cycle_.has_untold_events());
  if (!cycle_.is_open() && opens) cycle_.begin(command.position);
  position_ = command.position;
  if (cycle_.is_open() && (!is_ring() || command.ends_cycle()))
    cycle_.drain(command.kind == Command::Kind::stop ? kNoLimit : command.ticks);
  if (holds_ring(command)) pool_.release();
  switch (command.kind) {
    case Command::Kind::begin_cycle:
      cycle_.go_on(command.rounds);
      break;
    case Command::Kind::external_trace:
      cycle_.handlers().take_external_trace(command.path);
      cycle_.flush();
      break;
    case Command::Kind::end_grace:
      break;
    case Command::Kind::flush:
      cycle_.handlers().call([](TraceHandler& handler) { handler.flush(); });
      break;
    case Command::Kind::end_cycle:
      // Events dropped after this end are the next cycle's.
      if (cycle_.is_open()) cycle_.end(command, command.dropped);
      break;
    case Command::Kind::stop:
      if (cycle_.is_open()) cycle_.end(command, pool_.dropped());
      break;
  }
}

void Writer::execute_all(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (held_) cut_held(command.ticks);
    // A ring must not overwrite anything until it is saved, so it gets no grace.
    if (command.has_grace && !is_ring()) {
      held_ = command;
      held_until_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.flush_ms);
      continue;
    }
    execute(command);
    finish_one(command);
  }
}

void Writer::finish_one(const Command& command) {
  const std::lock_guard lock(mutex_);
  ++finished_number_;
  is_stopped_ |= command.kind == Command::Kind::stop;
  finished_.notify_all();
}

void Writer::cut_held(std::uint64_t ticks) {
  Command end = *std::exchange(held_, std::nullopt);
  end.ticks = ticks;
  end.dropped = pool_.dropped();
  execute(end);
  finish_one(end);
}

void Writer::cut_held_in_time() {
  if (std::chrono::steady_clock::now() < held_until_) return;
  // The next command cuts, if there is one.
  if (const std::optional<std::uint64_t> ticks = ticks_if_idle()) cut_held(*ticks);
}

}  // namespace traceloom::record
