#include "record/writer.h"

#include "base/error.h"
#include "base/json_string.h"
#include "record/registry.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <pthread.h>

namespace traceloom::record {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kBetweenPairsNs = 1'000'000'000;

std::string value_json(std::int64_t value) {
  return "{\"value\":" + std::to_string(value) + "}";
}

std::string text_json(const char* key, const std::string& text) {
  std::string json = std::string("{\"") + key + "\":";
  append_json_string(json, text);
  return json + "}";
}

}  // namespace

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
    json_ = std::make_shared<JsonSink>(JsonSinkOptions{options.gzip_level, options.overwrite});
    handlers_.push_back({json_});
  }
  for (const std::shared_ptr<TraceHandler>& handler : options.handlers)
    handlers_.push_back({handler});
  if (journal_ != nullptr)
    Registry::instance().watch([this](const Label& label) { journal_->add_label(label); });
  if (journal_ != nullptr && json_ != nullptr)
    journal_->commit_file(unfinished_path(path_at(options.start)), first_ticks_, {});
  status_.clock = detail::clock_is_tsc.load() ? "tsc" : "monotonic";
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "traceloom");
    run();
  });
}

Writer::~Writer() {
  if (thread_.joinable()) thread_.join();
  if (journal_ != nullptr) {
    Registry::instance().watch({});
    journal_->remove();
  }
}

void Writer::forget() {
  if (journal_ != nullptr) journal_->forget();
}

std::uint64_t Writer::send(Command command) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    // Read here, so that what the thread drains without a command lies in front of the next one.
    command.ticks = detail::now();
    number = ++sent_;
    if (command.kind == Command::Kind::end_cycle) last_end_of_cycle_ = number;
    commands_.push_back(std::move(command));
  }
  pool_.wake();
  return number;
}

bool Writer::wait(std::uint64_t number, unsigned timeout_ms) {
  std::unique_lock lock(mutex_);
  return finished_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                            [&] { return finished_number_ >= number; });
}

void Writer::wait(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return finished_number_ >= number; });
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
    return;  // a log that fails has nobody to tell
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
  bool is_stopped = false;
  while (!is_stopped) {
    pool_.wait_for_work(options_.flush_ms);
    std::vector<Command> commands;
    {
      const std::lock_guard lock(mutex_);
      commands.swap(commands_);
    }
    keep_time();
    for (const Command& command : commands) {
      execute(command);
      is_stopped |= command.kind == Command::Kind::stop;
      const std::lock_guard lock(mutex_);
      ++finished_number_;
      finished_.notify_all();
    }
    if (is_stopped || options_.when_full == WhenFull::ring) continue;
    // Threads that record what the session never makes a cycle of must not fill the pool for ever.
    if (!is_cycle_open_ && pool_.is_half_full()) begin_cycle(position_);
    if (is_cycle_open_) drain_idle();
  }
}

// What has been recorded, unless a command that comes first is waiting.
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

void Writer::keep_time() {
  ClockPair pair = read_clock_pair();
  while (!line_.is_ready()) {
    const std::int64_t passed_ns = pair.monotonic_ns - line_.start().monotonic_ns;
    if (passed_ns < kLeastBaselineNs)
      std::this_thread::sleep_for(std::chrono::nanoseconds(kLeastBaselineNs - passed_ns));
    pair = read_clock_pair();
    line_.add(pair);
    if (line_.is_ready() && journal_ != nullptr) journal_->add_segment(line_.last_segment());
  }
  if (pair.monotonic_ns - line_.last().monotonic_ns < kBetweenPairsNs) return;
  line_.add(pair);
  if (journal_ != nullptr) journal_->add_segment(line_.last_segment());
}

template <typename Call>
void Writer::call(const Call& use) {
  for (Handler& handler : handlers_) {
    if (handler.has_failed) continue;
    try {
      use(*handler.handler);
    } catch (const std::exception& error) {
      fail(handler, error.what());
    }
  }
}

void Writer::fail(Handler& handler, const std::string& what) {
  handler.has_failed = true;
  set_error(what + (handler.handler == json_ ? "; nothing more of this cycle is written"
                                             : "; the handler gets no more of this cycle"));
}

void Writer::execute(const Command& command) {
  // What was recorded before the first batch belongs to the cycle that begins with it.
  const bool opens =
      command.kind == Command::Kind::begin_cycle || command.kind == Command::Kind::external_trace ||
      (command.kind == Command::Kind::stop && !is_cycle_open_ && has_waiting_events());
  if (!is_cycle_open_ && opens) begin_cycle(command.position);
  position_ = command.position;
  if (is_cycle_open_ &&
      (options_.when_full != WhenFull::ring || command.kind == Command::Kind::end_cycle ||
       command.kind == Command::Kind::stop))
    drain(command.kind == Command::Kind::stop ? kNoLimit : command.ticks);
  switch (command.kind) {
    case Command::Kind::begin_cycle:
      write_rounds(command.rounds, "start", true);
      flush();
      break;
    case Command::Kind::external_trace:
      take_external_trace(command.path);
      flush();
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

// One that cannot be read is no reason to stop the file.
void Writer::take_external_trace(const std::string& path) {
  for (Handler& handler : handlers_) {
    if (handler.has_failed) continue;
    try {
      handler.handler->external_trace(path);
    } catch (const std::exception& error) {
      set_error(std::string(error.what()) + "; the external trace is left out");
    }
  }
}

std::string Writer::path_at(const Position& position) {
  std::string name = "ep" + std::to_string(position.epoch) + "-ba" +
                     std::to_string(position.batch) + "-rank" + std::to_string(options_.rank) +
                     ".json";
  try {
    if (options_.file_name) name = options_.file_name(position);
  } catch (const std::exception& error) {
    set_error(std::string(error.what()) + "; the file is called " + name);
  }
  return options_.folder + "/" + name;
}

void Writer::begin_cycle(const Position& position) {
  is_cycle_open_ = true;
  cycle_events_ = 0;
  told_events_ = 0;
  cycle_lost_ = 0;
  told_lost_ = 0;
  named_threads_.clear();
  feeder_.begin_file();
  for (Handler& handler : handlers_) handler.has_failed = false;
  cycle_.path.clear();
  if (json_ != nullptr) {
    std::error_code ignored;  // what is wrong shows when the file is made
    const std::string path = path_at(position);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    cycle_.path = unfinished_path(path);
    // A killed run may have left one that nobody has looked at yet.
    for (unsigned i = 2; std::filesystem::exists(cycle_.path, ignored); ++i)
      cycle_.path = unfinished_path(numbered_path(path, i));
  }
  call([&](TraceHandler& handler) { handler.begin_cycle(cycle_); });
  if (journal_ != nullptr && json_ != nullptr && json_->has_file())
    journal_->commit_file(cycle_.path, file_ticks_, json_->state());
  write_opening();
  flush();
}

void Writer::metadata(const char* name, const std::string& args, std::int64_t at_ns,
                      std::int64_t tid) {
  const MetadataEvent event{name, args, at_ns, tid};
  call([&](TraceHandler& handler) { handler.metadata(event); });
}

// The first five are Composer's, in its order.
void Writer::write_opening() {
  const ClockPair pair = read_clock_pair();
  const std::int64_t at_ns = line_.ns(pair.ticks);
  const std::string rank = std::to_string(options_.rank);
  const std::string given = Registry::instance().thread_name(main_tid_);
  const std::string main_name = given.empty() ? "Training Loop" : given;
  metadata("process_name", text_json("name", "Rank " + rank + " training loop process"), at_ns,
           main_tid_);
  metadata("thread_name", text_json("name", main_name), at_ns, main_tid_);
  metadata("thread_sort_index", R"({"sort_index":0})", at_ns, main_tid_);
  metadata("global_rank", value_json(options_.rank), at_ns, main_tid_);
  metadata("process_sort_index", "{\"sort_index\":" + rank + "}", at_ns, main_tid_);
  metadata("host", host_json(), at_ns, main_tid_);
  metadata("clock_source", text_json("value", status().clock), at_ns, main_tid_);
  metadata("clock_pairs", pair_json(pair, "start"), at_ns, main_tid_);
  metadata("ntp", ntp_json(), at_ns, main_tid_);
  named_threads_.insert(main_tid_);
}

void Writer::write_rounds(const SyncRounds& rounds, const char* group, bool with_value) {
  if (rounds.enter.empty()) return;
  const std::int64_t at_ns = line_.ns(rounds.exit.back());
  if (with_value) {
    const SyncValue value = sync_value(rounds, line_);
    metadata("clock_sync_timestamp_us", value_json(value.timestamp_us), at_ns, main_tid_);
    metadata("clock_sync_error_bound", value_json(value.error_bound_us), at_ns, main_tid_);
  }
  metadata("clock_sync_rounds", rounds_json(rounds, line_, group), at_ns, main_tid_);
}

void Writer::write_closing() {
  const ClockPair pair = read_clock_pair();
  const std::int64_t at_ns = line_.ns(pair.ticks);
  metadata("clock_pairs", pair_json(pair, "end"), at_ns, main_tid_);
  const std::uint64_t dropped = pool_.dropped() - dropped_before_;
  metadata("recorder",
           "{\"events\":" + std::to_string(cycle_events_) +
               ",\"dropped\":" + std::to_string(dropped) +
               ",\"clock_error_ns\":" + std::to_string(line_.worst_error_ns()) + "}",
           at_ns, main_tid_);
}

void Writer::end_cycle(const Command& command) {
  write_rounds(command.rounds, "end", false);
  write_closing();
  flush();
  is_cycle_open_ = false;
  if (json_ != nullptr) finish_json(command.position);
  for (Handler& handler : handlers_) {
    if (handler.has_failed || handler.handler == json_) continue;
    try {
      handler.handler->end_cycle(cycle_);
    } catch (const std::exception& error) {
      fail(handler, error.what());
    }
  }
  file_ticks_ = command.ticks;
  if (journal_ != nullptr && json_ != nullptr)
    journal_->commit_file(unfinished_path(path_at(command.position)), file_ticks_, {});
  save(command.position);
  ++cycle_.number;
}

// The file gets its name; where that fails it keeps the one it has.
void Writer::finish_json(const Position& position) {
  if (!json_->has_file()) return;
  CycleInfo final_cycle = cycle_;
  final_cycle.path = path_at(position);
  std::error_code ignored;  // what is wrong shows when the file is renamed
  std::filesystem::create_directories(std::filesystem::path(final_cycle.path).parent_path(),
                                      ignored);
  try {
    json_->end_cycle(final_cycle);
  } catch (const std::exception& error) {
    set_error(error.what());
  }
  if (!json_->final_path().empty()) cycle_.path = json_->final_path();
}

void Writer::save(const Position& position) {
  SavedTrace saved{position, cycle_.path, cycle_events_ - cycle_lost_,
                   pool_.dropped() - dropped_before_};
  dropped_before_ += saved.dropped;
  std::vector<std::string> complaints;
  if (json_ != nullptr && !json_->final_path().empty()) {
    const std::lock_guard lock(mutex_);
    complaints = kept_.add(saved);
  }
  for (const std::string& complaint : complaints) set_error(complaint);
  if (!options_.on_saved) return;
  try {
    options_.on_saved(saved);
  } catch (const std::exception& error) {
    set_error(error.what());
  }
}

const EventThread& Writer::thread_of(const detail::ChunkHeader& chunk) {
  EventThread& thread = threads_[chunk.tid];
  if (named_threads_.insert(chunk.tid).second || thread.tid == 0) {
    thread.tid = chunk.tid;
    const std::string given = Registry::instance().thread_name(chunk.tid);
    thread.name = given.empty() ? chunk.thread_name : given;
    if (chunk.tid == main_tid_ && given.empty()) thread.name = "Training Loop";
    if (chunk.tid != main_tid_)
      metadata("thread_name", text_json("name", thread.name), line_.ns(line_.last().ticks),
               chunk.tid);
  }
  return thread;
}

// Whether there is anything that no file has.
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
    // Its owner has let go, so what is committed is all there will be.
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
    // What began before this session is none of its business.
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

// What the handlers have is in the file, and the chunks know it.
void Writer::flush() {
  if (json_ != nullptr && json_->has_file() && !handlers_.front().has_failed) {
    const std::uint64_t events = json_->pending_events();
    try {
      json_->flush();
    } catch (const std::exception& error) {
      cycle_lost_ += events;
      fail(handlers_.front(), error.what());
    }
  }
  if (journal_ != nullptr && json_ != nullptr && json_->has_file()) {
    journal_->commit(json_->state(), written_);
  } else {
    for (const Journal::Written& each : written_)
      each.chunk->written.store(each.written, std::memory_order_release);
  }
  written_.clear();
  const std::lock_guard lock(mutex_);
  status_.events += cycle_events_ - told_events_;
  told_events_ = cycle_events_;
  status_.lost += cycle_lost_ - told_lost_;
  told_lost_ = cycle_lost_;
  if (json_ != nullptr) status_.bytes = json_->bytes_written();
}

}  // namespace traceloom::record
