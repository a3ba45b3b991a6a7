#include "record/engine/cycle_writer.h"

#include "output/json_writer.h"
#include "record/buffers/registry.h"
#include "record/files/json_sink.h"
#include "record/files/trace_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace traceloom::record {

EventDrain::EventDrain(const WriterParts& parts)
    : parts_(parts),
      pool_(ChunkPool::instance()),
      feeder_(parts.clock.line(), [](std::uint32_t id) { return Registry::instance().label(id); }) {
}

void EventDrain::begin_cycle() {
  named_threads_ = {parts_.main_tid};
  events_ = 0;
  told_events_ = 0;
  lost_ = 0;
  told_lost_ = 0;
  is_left_out_told_ = false;
  feeder_.begin_file();
}

bool EventDrain::has_untold_events() {
  bool has_some = pool_.dropped() > dropped_before_;
  for (const LiveChunk& live : pool_.begin_drain()) {
    const std::uint32_t committed = live.chunk->committed.load(std::memory_order_acquire);
    std::uint32_t i = live.chunk->written.load(std::memory_order_relaxed);
    for (; i < committed && !has_some; i += 1U + live.chunk->slots()[i].more_slots)
      has_some = live.chunk->slots()[i].time >= parts_.first_ticks;
  }
  pool_.end_drain({});
  return has_some;
}

void EventDrain::drain(std::uint64_t up_to_ticks) {
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

const EventThread& EventDrain::thread_of(const detail::ChunkHeader& chunk) {
  EventThread& thread = threads_[chunk.tid];
  if (named_threads_.insert(chunk.tid).second || thread.tid == 0) {
    thread.tid = chunk.tid;
    const std::string given = Registry::instance().thread_name(chunk.tid);
    thread.name = given.empty() ? chunk.thread_name : given;
    if (chunk.tid == parts_.main_tid && given.empty()) thread.name = "Training Loop";
    const TimeLine& line = parts_.clock.line();
    if (chunk.tid != parts_.main_tid)
      parts_.handlers.metadata("thread_name", json_object("name", thread.name),
                               line.ns(line.last().ticks), chunk.tid);
  }
  return thread;
}

// Returns how many slots of the chunk are with the handlers now.
std::uint32_t EventDrain::drain_chunk(const LiveChunk& live, std::uint64_t up_to_ticks) {
  detail::ChunkHeader& chunk = *live.chunk;
  const std::uint32_t committed = chunk.committed.load(std::memory_order_acquire);
  std::uint32_t i = chunk.written.load(std::memory_order_relaxed);
  if (i == committed) return i;
  const JsonSink* const json = parts_.handlers.json();
  const EventThread* thread = nullptr;
  const auto to_handlers = [this](const auto& use) { parts_.handlers.call(use); };
  while (i < committed) {
    const detail::Slot& slot = chunk.slots()[i];
    if (EventFeeder::commit_ticks(slot) > up_to_ticks) break;
    // Events that began before this session do not belong to it.
    if (slot.time >= parts_.first_ticks) {
      if (thread == nullptr) thread = &thread_of(chunk);
      if (feeder_.feed(slot, *thread, to_handlers)) {
        ++events_;
        if (parts_.handlers.has_json_failed()) ++lost_;
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

void EventDrain::cut_open_slices(std::uint64_t at_ticks) {
  if (parts_.handlers.has_json_failed() || !parts_.handlers.has_file()) return;
  feeder_.for_each_open(parts_.clock.line().ns(at_ticks),
                        [this](const DurationEvent& event) { parts_.handlers.json()->cut(event); });
}

// Counts events that the file cannot have as lost, so that the file has what it is said to have.
void EventDrain::count_left_out() {
  const JsonSink::LeftOut left_out = parts_.handlers.json()->take_left_out();
  lost_ += left_out.events;
  if (left_out.events == 0 || std::exchange(is_left_out_told_, true)) return;
  parts_.status.set_error(
      "counter '" + left_out.label->name +
      "': an event without any value that is a number is not written (told once a file)");
}

void EventDrain::check_labels() {
  Journal* const journal = parts_.journal;
  const std::uint64_t count = journal == nullptr ? 0 : journal->labels_without_room();
  if (count == 0 || std::exchange(is_label_loss_told_, true)) return;
  parts_.status.set_error(
      journal->path() +
      ": has no room for the names of more markers; a recovery would call their events "
      "\"marker NUMBER\", and count them (told once)");
}

void EventDrain::flush() {
  HandlerList& handlers = parts_.handlers;
  check_labels();
  if (handlers.json() != nullptr) count_left_out();
  if (handlers.has_file() && !handlers.has_json_failed()) {
    try {
      handlers.json()->flush();
    } catch (...) {
      lost_ += handlers.json()->pending_events();
      handlers.fail_json();
    }
  }
  if (parts_.journal != nullptr && handlers.has_file()) {
    parts_.journal->commit(handlers.json()->state(), written_,
                           {in_file(), lost_, pool_.dropped() - dropped_before_});
  } else {
    for (const Journal::Written& each : written_)
      each.chunk->written.store(each.written, std::memory_order_release);
  }
  written_.clear();
  tell_counts();
}

void EventDrain::tell_counts() {
  std::optional<std::uint64_t> bytes;
  if (parts_.handlers.json() != nullptr) bytes = parts_.handlers.json()->bytes_written();
  parts_.status.add_counts(events_ - std::exchange(told_events_, events_),
                           lost_ - std::exchange(told_lost_, lost_), bytes);
}

std::uint64_t EventDrain::take_dropped(std::uint64_t so_far) {
  return so_far - std::exchange(dropped_before_, so_far);
}

namespace {

// A problem shows when the file is made or renamed.
void make_folder_of(const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
}

}  // namespace

CycleWriter::CycleWriter(const WriterParts& parts, EventDrain& drain)
    : parts_(parts), drain_(drain), file_ticks_(parts.first_ticks) {
  cycle_.rank = parts.options.rank;
}

std::string CycleWriter::path_at(const Position& position) {
  const Options& options = parts_.options;
  std::string name =
      fmt::format("ep{}-ba{}-rank{}.json", position.epoch, position.batch, options.rank);
  try {
    if (options.file_name) name = options.file_name(position);
  } catch (...) {
    parts_.status.set_error(current_problem() + "; the file is called " + name);
  }
  return options.folder + "/" + name;
}

// A later cycle may replace a file of this session, if the program gives both the same name. A
// rest, or a cycle that is closed in its first batch, must not: it comes with the name of the one
// before.
std::string CycleWriter::final_path_at(const Position& position) {
  const bool is_at_last_end = last_end_ && last_end_->epoch == position.epoch &&
                              last_end_->batch == position.batch &&
                              last_end_->batch_in_epoch == position.batch_in_epoch;
  std::string path = path_at(position);
  if (!parts_.options.overwrite || !(is_rest_ || is_at_last_end)) return path;
  std::string name = path;
  for (unsigned number = 2; own_paths_.count(name) > 0; ++number)
    name = numbered_path(path, number);
  return name;
}

void CycleWriter::announce_next_file(const Position& position) {
  if (parts_.journal != nullptr && parts_.handlers.json() != nullptr)
    commit_file(unfinished_path(path_at(position)), {});
}

void CycleWriter::commit_file(const std::string& path, const FileState& state) {
  if (parts_.journal != nullptr) parts_.journal->commit_file(path, file_ticks_, state);
}

std::string CycleWriter::next_unfinished_path(const FileState& state) {
  cycle_.path = new_unfinished_path(path_at_begin_);
  commit_file(cycle_.path, state);
  return cycle_.path;
}

void CycleWriter::begin(const Position& position) {
  is_open_ = true;
  is_rest_ = true;
  drain_.begin_cycle();
  parts_.handlers.begin_cycle();
  cycle_.path.clear();
  if (parts_.handlers.json() != nullptr) {
    path_at_begin_ = path_at(position);
    make_folder_of(path_at_begin_);
    cycle_.path = new_unfinished_path(path_at_begin_);
  }
  parts_.handlers.call([&](TraceHandler& handler) { handler.begin_cycle(cycle_); });
  if (parts_.handlers.has_file()) commit_file(cycle_.path, parts_.handlers.json()->state());
  write_opening();
  drain_.flush();
}

// The first five are Composer's, in its order.
void CycleWriter::write_opening() {
  const ClockPair pair = parts_.clock.read();
  const std::int64_t at_ns = parts_.clock.line().ns(pair.ticks);
  const std::uint32_t main_tid = parts_.main_tid;
  const Options& options = parts_.options;
  const auto write = [&](const char* name, const std::string& args) {
    parts_.handlers.metadata(name, args, at_ns, main_tid);
  };
  const std::string given = Registry::instance().thread_name(main_tid);
  const std::string main_name = given.empty() ? "Training Loop" : given;
  write("process_name",
        json_object("name", fmt::format("Rank {} training loop process", options.rank)));
  write("thread_name", json_object("name", main_name));
  write("thread_sort_index", json_object("sort_index", 0));
  write("global_rank", json_object("value", options.rank));
  write("process_sort_index", json_object("sort_index", options.rank));
  if (options.is_beside_rank) write("beside_rank", json_object("value", true));
  write("host", host_json());
  write("clock_source", json_object("value", parts_.status.status().clock));
  write("clock_pairs", pair_json(pair, "start"));
  write("ntp", ntp_json());
}

void CycleWriter::write_rounds(const SyncRounds& rounds, const char* group) {
  // Rounds of a rank that is alone say nothing of any other clock.
  if (rounds.enter.empty() || !parts_.options.barrier) return;
  const TimeLine& line = parts_.clock.line();
  parts_.handlers.metadata("clock_sync_rounds", rounds_json(rounds, line, group),
                           line.ns(rounds.exit.back()), parts_.main_tid);
}

void CycleWriter::go_on(const SyncRounds& rounds) {
  is_rest_ = false;
  if (!rounds.enter.empty()) {
    const TimeLine& line = parts_.clock.line();
    const std::int64_t at_ns = line.ns(rounds.exit.back());
    const SyncValue value = sync_value(rounds, line);
    parts_.handlers.metadata("clock_sync_timestamp_us", json_object("value", value.timestamp_us),
                             at_ns, parts_.main_tid);
    parts_.handlers.metadata("clock_sync_error_bound", json_object("value", value.error_bound_us),
                             at_ns, parts_.main_tid);
  }
  write_rounds(rounds, "start");
  drain_.flush();
}

std::string CycleWriter::counts_json(std::uint64_t dropped) const {
  RecorderCounts counts;
  counts.events = drain_.in_file();
  counts.dropped = dropped;
  counts.is_ring = parts_.options.when_full == WhenFull::ring;
  counts.lost = drain_.lost();
  counts.error = parts_.handlers.json_failure();
  counts.clock_error_ns = parts_.clock.line().worst_error_ns();
  return recorder_json(counts);
}

// Ends the file first: then it is known what it lacks.
void CycleWriter::write_closing(std::uint64_t dropped) {
  const ClockPair pair = parts_.clock.read();
  const std::int64_t at_ns = parts_.clock.line().ns(pair.ticks);
  const std::string pairs = pair_json(pair, "end");
  end_json(pairs, at_ns, dropped);
  drain_.tell_counts();
  const std::string counts = counts_json(dropped);
  parts_.handlers.call_others([&](TraceHandler& handler) {
    handler.metadata({"clock_pairs", pairs, at_ns, parts_.main_tid});
    handler.metadata({"recorder", counts, at_ns, parts_.main_tid});
  });
}

// Ends the file, also if a full disk has cut it: there is room for its end, and for what is lost.
// Where no room could be kept, the last events make some.
void CycleWriter::end_json(const std::string& pairs, std::int64_t at_ns, std::uint64_t dropped) {
  HandlerList& handlers = parts_.handlers;
  if (!handlers.has_file()) return;
  JsonSink& json = *handlers.json();
  if (!handlers.json_failure().empty() && json.state().text_bytes == 0) return json.drop_file();
  const auto try_to_write_end = [&] {
    try {
      const std::string counts = counts_json(dropped);
      json.write_end({{"clock_pairs", pairs, at_ns, parts_.main_tid},
                      {"recorder", counts, at_ns, parts_.main_tid}});
      return true;
    } catch (...) {
      if (!handlers.has_json_failed()) handlers.fail_json();
      const std::optional<std::uint64_t> events = json.take_back();
      if (!events) throw;
      drain_.lose(*events);
      return false;
    }
  };
  try {
    bool is_written = false;
    while (!is_written) is_written = try_to_write_end();
  } catch (...) {
    parts_.status.set_error(current_problem() + "; the file ends without its bracket");
  }
}

void CycleWriter::end(const Command& command, std::uint64_t dropped_so_far) {
  const std::uint64_t dropped = drain_.take_dropped(dropped_so_far);
  if (command.kind == Command::Kind::end_cycle) drain_.cut_open_slices(command.ticks);
  write_rounds(command.rounds, "end");
  drain_.flush();
  write_closing(dropped);
  is_open_ = false;
  if (parts_.handlers.json() != nullptr) finish_json(command.position);
  parts_.handlers.call_others([&](TraceHandler& handler) { handler.end_cycle(cycle_); });
  file_ticks_ = command.ticks;
  announce_next_file(command.position);
  save(command.position, dropped);
  last_end_ = command.position;
  ++cycle_.number;
}

// Gives the file its name; if that fails, it keeps the one it has.
void CycleWriter::finish_json(const Position& position) {
  JsonSink& json = *parts_.handlers.json();
  if (!json.has_file()) {
    cycle_.path.clear();  // a file of that name belongs to somebody else
    return;
  }
  CycleInfo final_cycle = cycle_;
  final_cycle.path = final_path_at(position);
  make_folder_of(final_cycle.path);
  try {
    json.end_cycle(final_cycle);
  } catch (...) {
    parts_.status.set_error(current_problem());
  }
  if (json.final_path().empty()) {
    // If there is no file, the disk took nothing of it.
    std::error_code ignored;
    if (!std::filesystem::exists(cycle_.path, ignored)) cycle_.path.clear();
    return;
  }
  cycle_.path = json.final_path();
  const std::string& failure = parts_.handlers.json_failure();
  if (!failure.empty())
    parts_.status.set_error(fmt::format("{}: {} of {} events are not in it: {}", cycle_.path,
                                        drain_.lost(), drain_.events(), failure));
  if (parts_.options.overwrite) own_paths_.insert(cycle_.path);
}

void CycleWriter::save(const Position& position, std::uint64_t dropped) {
  const JsonSink* const json = parts_.handlers.json();
  std::optional<TracePart> part;
  if (json != nullptr && !json->final_path().empty())
    part = is_rest_ ? TracePart::rest : TracePart::cycle;
  parts_.status.save({position, cycle_.path, drain_.in_file(), dropped}, part);
}

}  // namespace traceloom::record
