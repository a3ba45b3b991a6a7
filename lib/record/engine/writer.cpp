#include "record/engine/writer.h"

#include "base/error.h"
#include "record/buffers/registry.h"
#include "record/files/external_trace.h"
#include "record/support/quiet_thread.h"

#include <limits>
#include <utility>

namespace traceloom::record {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

__thread bool is_writer = false;  // true in a writer's thread

}  // namespace

std::string current_problem() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

std::string current_reason() {
  try {
    throw;
  } catch (const Error& error) {
    return error.problem();
  } catch (...) {
    return current_problem();
  }
}

Writer::Writer(const Options& options, const ClockPair& start, std::uint32_t main_tid,
               std::unique_ptr<Journal> journal)
    : options_(options),
      pool_(ChunkPool::instance()),
      main_tid_(main_tid),
      journal_(std::move(journal)),
      first_ticks_(start.ticks),
      file_ticks_(start.ticks),
      line_(start),
      feeder_(line_, [](std::uint32_t id) { return Registry::instance().label(id); }),
      position_(options.start),
      kept_(options.num_traces_to_keep) {
  cycle_.rank = options.rank;
  if (options.write_json) {
    json_ = std::make_shared<JsonSink>(
        JsonSinkOptions{options.gzip_level, options.overwrite,
                        [this](const FileState& state) { return next_unfinished_path(state); }});
    handlers_.push_back({json_});
  }
  for (const std::shared_ptr<TraceHandler>& handler : options.handlers)
    handlers_.push_back({handler});
  if (journal_ != nullptr)
    Registry::instance().watch([this](const Label& label) { journal_->add_label(label); });
  if (journal_ != nullptr && json_ != nullptr)
    journal_->commit_file(unfinished_path(path_at(options.start)), first_ticks_, {});
  status_.clock = detail::clock_is_tsc.load() ? "tsc" : "monotonic";
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
      set_error(command.path + ": came when the session was being closed; it is left out");
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

bool Writer::wait(std::uint64_t number, unsigned timeout_ms) {
  std::unique_lock lock(mutex_);
  if (is_writer) return finished_number_ >= number;
  return finished_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                            [&] { return finished_number_ >= number || is_stopped_; });
}

void Writer::wait(std::uint64_t number) {
  if (is_writer) return;
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return finished_number_ >= number || is_stopped_; });
}

bool Writer::is_own_thread() {
  return is_writer;
}

std::uint64_t Writer::last_end_of_cycle() const {
  const std::lock_guard lock(mutex_);
  return last_end_of_cycle_;
}

std::vector<SavedTrace> Writer::saved_traces() const {
  const std::lock_guard lock(mutex_);
  return kept_.list();
}

Status Writer::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void Writer::tell(const std::string& text) {
  if (!options_.log) return;
  try {
    options_.log(text);
  } catch (...) {
    return;  // nobody can be informed of a log that fails
  }
}

void Writer::set_error(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    status_.last_error = text;
  }
  tell(text);
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
    keep_time();
    execute_all(taken_);
    is_stopped = !taken_.empty() && taken_.back().kind == Command::Kind::stop;
    if (held_) cut_held_in_time();
    if (is_stopped || options_.when_full == WhenFull::ring) continue;
    // Threads that record events which never belong to a cycle must not fill the pool for ever.
    if (!is_cycle_open_ && pool_.is_half_full()) begin_cycle(position_);
    if (is_cycle_open_) drain_idle();
  }
}

// Drains what has been recorded, unless a command that comes first is waiting.
void Writer::drain_idle() {
  std::uint64_t limit = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!commands_.empty()) {
      pool_.wake();
      return;
    }
    limit = detail::now();
  }
  drain(limit);
}

void Writer::fail(Handler& handler, const std::string& what) {
  handler.has_failed = true;
  if (handler.handler == json_) json_failure_ = current_reason();
  set_error(what + (handler.handler == json_ ? "; nothing more of this cycle is written"
                                             : "; the handler gets no more of this cycle"));
}

void Writer::execute(const Command& command) {
  // Events recorded before the first batch belong to the cycle that begins with it.
  const bool opens = command.kind == Command::Kind::begin_cycle ||
                     command.kind == Command::Kind::external_trace ||
                     (command.kind == Command::Kind::stop && !is_cycle_open_ &&
                      (has_waiting_events() || pool_.dropped() > dropped_before_));
  if (!is_cycle_open_ && opens) begin_cycle(command.position);
  position_ = command.position;
  if (is_cycle_open_ && (options_.when_full != WhenFull::ring || command.ends_cycle()))
    drain(command.kind == Command::Kind::stop ? kNoLimit : command.ticks);
  if (holds_ring(command)) pool_.release();
  switch (command.kind) {
    case Command::Kind::begin_cycle:
      is_rest_ = false;
      write_rounds(command.rounds, "start", true);
      flush();
      break;
    case Command::Kind::external_trace:
      take_external_trace(command.path);
      flush();
      break;
    case Command::Kind::end_grace:
      break;
    case Command::Kind::flush:
      call([](TraceHandler& handler) { handler.flush(); });
      break;
    case Command::Kind::end_cycle:
    case Command::Kind::stop:
      if (is_cycle_open_) end_cycle(command);
      break;
  }
}

// Between the end of a cycle and its draining, a ring would overwrite what has to be saved.
bool Writer::holds_ring(const Command& command) const {
  return options_.when_full == WhenFull::ring && command.ends_cycle();
}

// A trace that cannot be read is no reason to stop the file. Another handler that throws gets no
// more of the cycle.
void Writer::take_external_trace(const std::string& path) {
  for (Handler& handler : handlers_) {
    if (handler.has_failed) continue;
    try {
      handler.handler->external_trace(path);
    } catch (const ImperfectTrace& error) {
      set_error(error.what());
    } catch (...) {
      if (handler.handler == json_)
        set_error(current_problem() + "; the external trace is left out");
      else
        fail(handler, current_problem());
    }
  }
}

// Returns whether there are events that no file has.
bool Writer::has_waiting_events() {
  bool has_some = false;
  for (const LiveChunk& live : pool_.begin_drain()) {
    const std::uint32_t committed = live.chunk->committed.load(std::memory_order_acquire);
    std::uint32_t i = live.chunk->written.load(std::memory_order_relaxed);
    for (; i < committed && !has_some; i += 1U + live.chunk->slots()[i].more_slots)
      has_some = live.chunk->slots()[i].time >= first_ticks_;
  }
  pool_.end_drain({});
  return has_some;
}

void Writer::drain(std::uint64_t up_to_ticks) {
  for (const LiveChunk& live : pool_.begin_drain()) {
    const std::uint32_t state = live.chunk->state.load(std::memory_order_acquire);
    const std::uint32_t written = drain_chunk(live, up_to_ticks);
    // The owner has let go of it, so nothing more will be committed.
    if (state == kFullChunk && written == live.chunk->committed.load(std::memory_order_acquire))
      done_.push_back(live.chunk);
  }
  flush();
  pool_.end_drain(done_);
  done_.clear();
}

// Returns how many slots of the chunk are with the handlers now.
std::uint32_t Writer::drain_chunk(const LiveChunk& live, std::uint64_t up_to_ticks) {
  detail::ChunkHeader& chunk = *live.chunk;
  const std::uint32_t committed = chunk.committed.load(std::memory_order_acquire);
  std::uint32_t i = chunk.written.load(std::memory_order_relaxed);
  if (i == committed) return i;
  const EventThread* thread = nullptr;
  const auto to_handlers = [this](const auto& use) { call(use); };
  while (i < committed) {
    const detail::Slot& slot = chunk.slots()[i];
    if (EventFeeder::commit_ticks(slot) > up_to_ticks) break;
    // Events that began before this session do not belong to it.
    if (slot.time >= first_ticks_) {
      if (thread == nullptr) thread = &thread_of(chunk);
      if (feeder_.feed(slot, *thread, to_handlers)) {
        ++cycle_events_;
        if (json_ != nullptr && handlers_.front().has_failed) ++cycle_lost_;
      }
    }
    i += 1U + slot.more_slots;
    if (json_ != nullptr && json_->wants_flush()) {
      written_.push_back({&chunk, i});
      flush();
    }
  }
  written_.push_back({&chunk, i});
  return i;
}

// Counts events that the file cannot have as lost, so that the file has what it is said to have.
void Writer::count_left_out() {
  const JsonSink::LeftOut left_out = json_->take_left_out();
  cycle_lost_ += left_out.events;
  if (left_out.events == 0 || std::exchange(is_left_out_told_, true)) return;
  set_error("counter '" + left_out.label->name +
            "': an event without any value that is a number is not written (told once a file)");
}

JournalLayout::CycleCounts Writer::cycle_counts() const {
  return {cycle_events_ - cycle_lost_, cycle_lost_, pool_.dropped() - dropped_before_};
}

void Writer::check_labels() {
  const std::uint64_t count = journal_ == nullptr ? 0 : journal_->labels_without_room();
  if (count == 0 || std::exchange(is_label_loss_told_, true)) return;
  set_error(journal_->path() +
            ": has no room for the names of more markers; a recovery would call their events "
            "\"marker NUMBER\", and count them (told once)");
}

// Writes what the handlers have into the file, and notes it in the chunks.
void Writer::flush() {
  check_labels();
  if (json_ != nullptr) count_left_out();
  if (json_ != nullptr && json_->has_file() && !handlers_.front().has_failed) {
    try {
      json_->flush();
    } catch (...) {
      cycle_lost_ += json_->pending_events();
      fail(handlers_.front(), current_problem());
    }
  }
  if (journal_ != nullptr && json_ != nullptr && json_->has_file()) {
    journal_->commit(json_->state(), written_, cycle_counts());
  } else {
    for (const Journal::Written& each : written_)
      each.chunk->written.store(each.written, std::memory_order_release);
  }
  written_.clear();
  tell_counts();
}

void Writer::tell_counts() {
  const std::lock_guard lock(mutex_);
  status_.events += cycle_events_ - told_events_;
  told_events_ = cycle_events_;
  status_.lost += cycle_lost_ - told_lost_;
  told_lost_ = cycle_lost_;
  if (json_ != nullptr) status_.bytes = json_->bytes_written();
}

}  // namespace traceloom::record
