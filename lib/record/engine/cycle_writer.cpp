#include "record/engine/cycle_writer.h"

#include "base/problems.h"
#include "output/json_writer.h"
#include "record/buffers/registry.h"
#include "record/files/trace_file.h"
#include "record/slots.h"
#include "record/support/process_support.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <thread>
#include <utility>

namespace traceloom::record {

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

StatusBoard::StatusBoard(const SessionOptions& options)
    : options_(options), log_(options.log_function()), kept_(options.num_traces_to_keep) {
  status_.clock = detail::clock_is_tsc.load() ? "tsc" : "monotonic";
}

Status StatusBoard::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

std::vector<SavedTrace> StatusBoard::saved_traces() const {
  const std::lock_guard lock(mutex_);
  return kept_.list();
}

void StatusBoard::set_error(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    status_.last_error = text;
  }
  tell(log_, text);
}

void StatusBoard::add_counts(std::uint64_t events, std::uint64_t lost,
                             std::optional<std::uint64_t> bytes) {
  const std::lock_guard lock(mutex_);
  status_.events += events;
  status_.lost += lost;
  if (bytes) status_.bytes = *bytes;
}

void StatusBoard::save(const SavedTrace& saved, std::optional<TracePart> part) {
  std::optional<std::string> complaint;
  if (part) {
    const std::lock_guard lock(mutex_);
    complaint = kept_.add(saved, *part);
  }
  if (complaint) set_error(*complaint);
  // A callback that fails keeps none of the others away: a merge per node must know each trace.
  const auto tell_program = [this](const auto& call) {
    try {
      call();
    } catch (...) {
      set_error(current_problem());
    }
  };
  tell_program([&] {
    if (options_.on_saved != nullptr)
      options_.on_saved(options_.on_saved_arg, saved.path.c_str(), saved.events, saved.dropped);
  });
  tell_program(
      [&] { tell_saved_trace(saved, options_.on_saved_trace, options_.on_saved_trace_arg); });
  tell_program([&] { tell_saved_trace(saved, options_.note_saved, options_.note_saved_arg); });
  std::vector<std::string> complaints;
  {
    const std::lock_guard lock(mutex_);
    complaints = kept_.delete_old();
  }
  for (const std::string& each : complaints) set_error(each);
}

HandlerList::HandlerList(const SessionOptions& options, StatusBoard& status, NextPath next_path)
    : status_(status) {
  if (options.write_json) {
    json_ = std::make_shared<JsonSink>(
        JsonSinkOptions{options.gzip_level, options.overwrite != 0, std::move(next_path)});
    handlers_.push_back({json_});
  }
  for (const std::shared_ptr<TraceHandler>& handler : options.program_handlers())
    handlers_.push_back({handler});
}

void HandlerList::begin_cycle() {
  json_failure_.clear();
  for (Handler& handler : handlers_) handler.has_failed = false;
}

void HandlerList::metadata(const char* name, const std::string& args, std::int64_t at_ns,
                           std::int64_t tid) {
  const MetadataEvent event = metadata_of(name, args, at_ns, tid);
  call([&](TraceHandler& handler) { handler.metadata(event); });
}

void HandlerList::take_external_trace(const std::string& path) {
  for (Handler& handler : handlers_) {
    if (handler.has_failed) continue;
    try {
      handler.handler->external_trace(path);
    } catch (const ImperfectTrace& error) {
      status_.set_error(error.what());
    } catch (...) {
      if (handler.handler == json_)
        status_.set_error(current_problem() + "; the external trace is left out");
      else
        fail(handler);
    }
  }
}

void HandlerList::fail_json() {
  fail(handlers_.front());
}

// Notes the exception that is being handled.
void HandlerList::fail(Handler& handler) {
  handler.has_failed = true;
  const bool is_json = handler.handler == json_;
  if (is_json) json_failure_ = current_reason();
  status_.set_error(current_problem() + (is_json ? "; nothing more of this cycle is written"
                                                 : "; the handler gets no more of this cycle"));
}

CycleWriter::CycleWriter(const SessionOptions& options, StatusBoard& status, const ClockPair& start,
                         std::uint32_t main_tid, Journal* journal)
    : options_(options),
      status_(status),
      journal_(journal),
      main_tid_(main_tid),
      first_ticks_(start.ticks),
      line_(start),
      handlers_(options, status,
                [this](const FileState& state) { return next_unfinished_path(state); }),
      pool_(ChunkPool::instance()),
      feeder_(line_, [](std::uint32_t id) { return Registry::instance().label(id); }),
      file_ticks_(start.ticks) {}

void CycleWriter::keep_time() {
  constexpr std::int64_t kBetweenPairsNs = 1'000'000'000;
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
  check_clock(pair);
  line_.add(pair);
  if (journal_ != nullptr) journal_->add_segment(line_.last_segment());
}

ClockPair CycleWriter::read_clock() {
  const ClockPair pair = read_clock_pair();
  check_clock(pair);
  return pair;
}

// Called at both ends of a cycle, and every second in between: a machine that was moved while it
// ran may have another counter.
void CycleWriter::check_clock(const ClockPair& pair) {
  constexpr std::int64_t kMostErrorNs = 1'000'000;
  constexpr std::int64_t kMostDrift = 1000;  // one part in so many, while the thread did not look
  const std::int64_t error_ns = std::abs(line_.check(pair));
  const std::int64_t passed_ns = pair.monotonic_ns - line_.last().monotonic_ns;
  if (error_ns <= kMostErrorNs + passed_ns / kMostDrift) return;
  distrust_counter();
  if (std::exchange(is_clock_error_told_, true)) return;
  status_.set_error(
      "the processor's counter was " + std::to_string(error_ns / 1000) +
      " us off CLOCK_MONOTONIC, and so may times of this trace be; further sessions of this "
      "process go by CLOCK_MONOTONIC");
}

bool CycleWriter::has_untold_events() {
  bool has_some = pool_.dropped() > dropped_before_;
  for (const LiveChunk& live : pool_.begin_drain()) {
    const std::uint32_t committed = live.chunk->committed.load(std::memory_order_acquire);
    std::uint32_t i = live.chunk->written.load(std::memory_order_relaxed);
    for (; i < committed && !has_some; i += 1U + live.chunk->slots()[i].more_slots)
      has_some = live.chunk->slots()[i].time >= first_ticks_;
  }
  pool_.end_drain({});
  return has_some;
}

void CycleWriter::drain(std::uint64_t up_to_ticks) {
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

const EventThread& CycleWriter::thread_of(const detail::ChunkHeader& chunk) {
  EventThread& thread = threads_[chunk.tid];
  if (named_threads_.insert(chunk.tid).second || thread.tid == 0) {
    thread.tid = chunk.tid;
    const std::string given = Registry::instance().thread_name(chunk.tid);
    thread.name = given.empty() ? chunk.thread_name : given;
    if (chunk.tid == main_tid_ && given.empty()) thread.name = "Training Loop";
    if (chunk.tid != main_tid_)
      handlers_.metadata("thread_name", json_object("name", thread.name),
                         line_.ns(line_.last().ticks), chunk.tid);
  }
  return thread;
}

// Returns how many slots of the chunk are with the handlers now.
std::uint32_t CycleWriter::drain_chunk(const LiveChunk& live, std::uint64_t up_to_ticks) {
  detail::ChunkHeader& chunk = *live.chunk;
  const std::uint32_t committed = chunk.committed.load(std::memory_order_acquire);
  std::uint32_t i = chunk.written.load(std::memory_order_relaxed);
  if (i == committed) return i;
  const JsonSink* const json = handlers_.json();
  const EventThread* thread = nullptr;
  const auto to_handlers = [this](const auto& use) { handlers_.call(use); };
  while (i < committed) {
    const detail::Slot& slot = chunk.slots()[i];
    if (EventFeeder::commit_ticks(slot) > up_to_ticks) break;
    // Events that began before this session do not belong to it.
    if (slot.time >= first_ticks_) {
      if (thread == nullptr) thread = &thread_of(chunk);
      if (feeder_.feed(slot, *thread, to_handlers)) {
        ++events_;
        if (handlers_.has_json_failed()) ++lost_;
      }
    }
    i += 1U + slot.more_slots;
    if (json != nullptr && json->wants_flush()) {
      written_.push_back({&chunk, i});
      flush();
    }
  }
  written_.push_back({&chunk, i});
  return i;
}

void CycleWriter::cut_open_slices(std::uint64_t at_ticks) {
  if (handlers_.has_json_failed() || !handlers_.has_file()) return;
  feeder_.for_each_open(line_.ns(at_ticks),
                        [this](const DurationEvent& event) { handlers_.json()->cut(event); });
}

// Counts events that the file cannot have as lost, so that the file has what it is said to have.
void CycleWriter::count_left_out() {
  const JsonSink::LeftOut left_out = handlers_.json()->take_left_out();
  lost_ += left_out.events;
  if (left_out.events == 0 || std::exchange(is_left_out_told_, true)) return;
  status_.set_error(
      "counter '" + left_out.counter +
      "': an event without any value that is a number is not written (told once a file)");
}

void CycleWriter::check_labels() {
  const std::uint64_t count = journal_ == nullptr ? 0 : journal_->labels_without_room();
  if (count == 0 || std::exchange(is_label_loss_told_, true)) return;
  status_.set_error(
      journal_->path() +
      ": has no room for the names of more markers; a recovery would call their events "
      "\"marker NUMBER\", and count them (told once)");
}

void CycleWriter::flush() {
  check_labels();
  if (handlers_.json() != nullptr) count_left_out();
  if (handlers_.has_file() && !handlers_.has_json_failed()) {
    try {
      handlers_.json()->flush();
    } catch (...) {
      lost_ += handlers_.json()->pending_events();
      handlers_.fail_json();
    }
  }
  if (journal_ != nullptr && handlers_.has_file()) {
    journal_->commit(handlers_.json()->state(), written_,
                     {in_file(), lost_, pool_.dropped() - dropped_before_});
  } else {
    for (const Journal::Written& each : written_)
      each.chunk->written.store(each.written, std::memory_order_release);
  }
  written_.clear();
  tell_counts();
}

void CycleWriter::tell_counts() {
  std::optional<std::uint64_t> bytes;
  if (handlers_.json() != nullptr) bytes = handlers_.json()->bytes_written();
  status_.add_counts(events_ - std::exchange(told_events_, events_),
                     lost_ - std::exchange(told_lost_, lost_), bytes);
}

namespace {

// A problem shows when the file is made or renamed.
void make_folder_of(const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
}

}  // namespace

std::string CycleWriter::path_at(const Position& position) {
  std::string name;
  try {
    name = options_.name_at(position);
  } catch (...) {
    name = fmt::format("ep{}-ba{}-rank{}.json", position.epoch, position.batch, options_.rank);
    status_.set_error(current_problem() + "; the file is called " + name);
  }
  return std::string(options_.folder) + "/" + name;
}

// A later cycle may replace a file of this session, if the program gives both the same name. A
// rest, or a cycle that is closed in its first batch, must not: it comes with the name of the one
// before.
std::string CycleWriter::final_path_at(const Position& position) {
  const bool is_at_last_end = last_end_ && last_end_->epoch == position.epoch &&
                              last_end_->batch == position.batch &&
                              last_end_->batch_in_epoch == position.batch_in_epoch;
  std::string path = path_at(position);
  if (!options_.overwrite || !(is_rest_ || is_at_last_end)) return path;
  std::string name = path;
  for (unsigned number = 2; own_paths_.count(name) > 0; ++number)
    name = numbered_path(path, number);
  return name;
}

void CycleWriter::announce_next_file(const Position& position) {
  if (journal_ != nullptr && handlers_.json() != nullptr)
    commit_file(unfinished_path(path_at(position)), {});
}

void CycleWriter::commit_file(const std::string& path, const FileState& state) {
  if (journal_ != nullptr) journal_->commit_file(path, file_ticks_, state);
}

std::string CycleWriter::next_unfinished_path(const FileState& state) {
  path_ = new_unfinished_path(path_at_begin_);
  commit_file(path_, state);
  return path_;
}

void CycleWriter::begin(const Position& position) {
  is_open_ = true;
  is_rest_ = true;
  named_threads_ = {main_tid_};
  events_ = 0;
  told_events_ = 0;
  lost_ = 0;
  told_lost_ = 0;
  is_left_out_told_ = false;
  feeder_.begin_file();
  handlers_.begin_cycle();
  path_.clear();
  if (handlers_.json() != nullptr) {
    path_at_begin_ = path_at(position);
    make_folder_of(path_at_begin_);
    path_ = new_unfinished_path(path_at_begin_);
  }
  handlers_.call([&](TraceHandler& handler) { handler.begin_cycle(cycle()); });
  if (handlers_.has_file()) commit_file(path_, handlers_.json()->state());
  write_opening();
  flush();
}

// The first five are Composer's, in its order.
void CycleWriter::write_opening() {
  const ClockPair pair = read_clock();
  const std::int64_t at_ns = line_.ns(pair.ticks);
  const auto write = [&](const char* name, const std::string& args) {
    handlers_.metadata(name, args, at_ns, main_tid_);
  };
  const std::string given = Registry::instance().thread_name(main_tid_);
  const std::string main_name = given.empty() ? "Training Loop" : given;
  write("process_name",
        json_object("name", fmt::format("Rank {} training loop process", options_.rank)));
  write("thread_name", json_object("name", main_name));
  write("thread_sort_index", json_object("sort_index", 0));
  write("global_rank", json_object("value", options_.rank));
  write("process_sort_index", json_object("sort_index", options_.rank));
  if (options_.is_beside_rank) write("beside_rank", json_object("value", true));
  write("host", host_json());
  write("clock_source", json_object("value", status_.status().clock));
  write("clock_pairs", pair_json(pair, "start"));
  write("ntp", ntp_json());
}

void CycleWriter::write_rounds(const SyncRounds& rounds, const char* group) {
  // Rounds of a rank that is alone say nothing of any other clock.
  if (rounds.enter.empty() || !options_.barrier) return;
  handlers_.metadata("clock_sync_rounds", rounds_json(rounds, line_, group),
                     line_.ns(rounds.exit.back()), main_tid_);
}

void CycleWriter::go_on(const SyncRounds& rounds) {
  is_rest_ = false;
  if (!rounds.enter.empty()) {
    const std::int64_t at_ns = line_.ns(rounds.exit.back());
    const SyncValue value = sync_value(rounds, line_);
    handlers_.metadata("clock_sync_timestamp_us", json_object("value", value.timestamp_us), at_ns,
                       main_tid_);
    handlers_.metadata("clock_sync_error_bound", json_object("value", value.error_bound_us), at_ns,
                       main_tid_);
  }
  write_rounds(rounds, "start");
  flush();
}

std::string CycleWriter::counts_json(std::uint64_t dropped) const {
  RecorderCounts counts;
  counts.events = in_file();
  counts.dropped = dropped;
  counts.is_ring = options_.when_full == TRACELOOM_RING;
  counts.lost = lost_;
  counts.error = handlers_.json_failure();
  counts.clock_error_ns = line_.worst_error_ns();
  return recorder_json(counts);
}

// Returns what is said of the whole cycle, in texts of the caller.
std::vector<MetadataEvent> CycleWriter::last_metadata(const std::string& pairs,
                                                      const std::string& counts,
                                                      std::int64_t at_ns) const {
  return {metadata_of("clock_pairs", pairs, at_ns, main_tid_),
          metadata_of("recorder", counts, at_ns, main_tid_)};
}

// Ends the file first: then it is known what it lacks.
void CycleWriter::write_closing(std::uint64_t dropped) {
  const ClockPair pair = read_clock();
  const std::int64_t at_ns = line_.ns(pair.ticks);
  const std::string pairs = pair_json(pair, "end");
  end_json(pairs, at_ns, dropped);
  tell_counts();
  const std::string counts = counts_json(dropped);
  const std::vector<MetadataEvent> said = last_metadata(pairs, counts, at_ns);
  handlers_.call_others([&](TraceHandler& handler) {
    for (const MetadataEvent& event : said) handler.metadata(event);
  });
}

// Ends the file, also if a full disk has cut it: there is room for its end, and for what is lost.
// Where no room could be kept, the last events make some.
void CycleWriter::end_json(const std::string& pairs, std::int64_t at_ns, std::uint64_t dropped) {
  if (!handlers_.has_file()) return;
  JsonSink& json = *handlers_.json();
  if (!handlers_.json_failure().empty() && json.state().text_bytes == 0) return json.drop_file();
  const auto try_to_write_end = [&] {
    try {
      const std::string counts = counts_json(dropped);
      json.write_end(last_metadata(pairs, counts, at_ns));
      return true;
    } catch (...) {
      if (!handlers_.has_json_failed()) handlers_.fail_json();
      const std::optional<std::uint64_t> events = json.take_back();
      if (!events) throw;
      lost_ += *events;
      return false;
    }
  };
  try {
    bool is_written = false;
    while (!is_written) is_written = try_to_write_end();
  } catch (...) {
    status_.set_error(current_problem() + "; the file ends without its bracket");
  }
}

void CycleWriter::end(const Command& command, std::uint64_t dropped_so_far) {
  const std::uint64_t dropped = dropped_so_far - std::exchange(dropped_before_, dropped_so_far);
  if (command.kind == Command::Kind::end_cycle) cut_open_slices(command.ticks);
  write_rounds(command.rounds, "end");
  flush();
  write_closing(dropped);
  is_open_ = false;
  if (handlers_.json() != nullptr) finish_json(command.position);
  handlers_.call_others([&](TraceHandler& handler) { handler.end_cycle(cycle()); });
  file_ticks_ = command.ticks;
  announce_next_file(command.position);
  save(command.position, dropped);
  last_end_ = command.position;
  ++number_;
}

// Gives the file its name; if that fails, it keeps the one it has.
void CycleWriter::finish_json(const Position& position) {
  JsonSink& json = *handlers_.json();
  if (!json.has_file()) {
    path_.clear();  // a file of that name belongs to somebody else
    return;
  }
  const std::string final_path = final_path_at(position);
  make_folder_of(final_path);
  try {
    json.end_cycle({sizeof(CycleInfo), options_.rank, number_, final_path.c_str()});
  } catch (...) {
    status_.set_error(current_problem());
  }
  if (json.final_path().empty()) {
    // If there is no file, the disk took nothing of it.
    std::error_code ignored;
    if (!std::filesystem::exists(path_, ignored)) path_.clear();
    return;
  }
  path_ = json.final_path();
  const std::string& failure = handlers_.json_failure();
  if (!failure.empty())
    status_.set_error(
        fmt::format("{}: {} of {} events are not in it: {}", path_, lost_, events_, failure));
  if (options_.overwrite) own_paths_.insert(path_);
}

void CycleWriter::save(const Position& position, std::uint64_t dropped) {
  const JsonSink* const json = handlers_.json();
  std::optional<TracePart> part;
  if (json != nullptr && !json->final_path().empty())
    part = is_rest_ ? TracePart::rest : TracePart::cycle;
  status_.save({position, path_, in_file(), dropped}, part);
}

}  // namespace traceloom::record
