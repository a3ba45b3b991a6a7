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

Writer::Writer(const Options& options, const ClockPair& start, std::uint32_t main_tid,
               std::shared_ptr<Journal> journal)
    : options_(options),
      pool_(ChunkPool::instance()),
      journal_(std::move(journal)),
      queue_(pool_, options.when_full),
      status_(options),
      clock_(start, status_, journal_.get()),
      handlers_(options, status_,
                [this](const FileState& state) { return cycle_.next_unfinished_path(state); }),
      parts_{options, status_, clock_, handlers_, journal_.get(), main_tid, start.ticks},
      metadata_(parts_),
      drain_(parts_, metadata_),
      cycle_(parts_, metadata_, drain_),
      position_(options.start) {
  if (journal_ != nullptr)
    Registry::instance().watch([this](const Label& label) { journal_->add_label(label); });
  cycle_.announce_next_file(options.start);
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
  const CommandQueue::Sent sent = queue_.send(command);
  if (!sent.is_taken && command.kind == Command::Kind::external_trace)
    status_.set_error(command.path + ": came when the session was being closed; it is left out");
  return sent.number;
}

bool Writer::wait(std::uint64_t number, unsigned timeout_ms) {
  return is_writer ? queue_.is_finished(number) : queue_.wait(number, timeout_ms);
}

void Writer::wait(std::uint64_t number) {
  if (!is_writer) queue_.wait(number);
}

bool Writer::is_own_thread() {
  return is_writer;
}

void Writer::run() {
  is_writer = true;
  bool is_stopped = false;
  while (!is_stopped) {
    pool_.wait_for_work(options_.flush_ms);
    queue_.take(taken_);
    clock_.keep_time();
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
  if (const std::optional<std::uint64_t> limit = queue_.ticks_if_idle())
    drain_.drain(*limit);
  else
    pool_.wake();
}

void Writer::execute(const Command& command) {
  // Events recorded before the first batch belong to the cycle that begins with it.
  const bool opens =
      command.kind == Command::Kind::begin_cycle || command.kind == Command::Kind::external_trace ||
      (command.kind == Command::Kind::stop && !cycle_.is_open() && drain_.has_untold_events());
  if (!cycle_.is_open() && opens) cycle_.begin(command.position);
  position_ = command.position;
  if (cycle_.is_open() && (!is_ring() || command.ends_cycle()))
    drain_.drain(command.kind == Command::Kind::stop ? kNoLimit : command.ticks);
  if (queue_.holds_ring(command)) pool_.release();
  switch (command.kind) {
    case Command::Kind::begin_cycle:
      cycle_.mark_begun();
      metadata_.write_rounds(command.rounds, "start", true);
      drain_.flush();
      break;
    case Command::Kind::external_trace:
      handlers_.take_external_trace(command.path);
      drain_.flush();
      break;
    case Command::Kind::end_grace:
      break;
    case Command::Kind::flush:
      handlers_.call([](TraceHandler& handler) { handler.flush(); });
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
    queue_.finish_one(command.kind == Command::Kind::stop);
  }
}

void Writer::cut_held(std::uint64_t ticks) {
  Command end = *std::exchange(held_, std::nullopt);
  end.ticks = ticks;
  end.dropped = pool_.dropped();
  execute(end);
  queue_.finish_one(false);
}

void Writer::cut_held_in_time() {
  if (std::chrono::steady_clock::now() < held_until_) return;
  // The next command cuts, if there is one.
  if (const std::optional<std::uint64_t> ticks = queue_.ticks_if_idle()) cut_held(*ticks);
}

}  // namespace traceloom::record
