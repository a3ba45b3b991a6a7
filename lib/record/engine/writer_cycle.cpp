// The writer's cycles: how they begin and end, the names of their files, and what the files say
// besides events.
#include "base/json_string.h"
#include "record/buffers/registry.h"
#include "record/engine/writer.h"
#include "record/files/recorder_json.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <utility>

namespace traceloom::record {
namespace {

std::string value_json(std::int64_t value) {
  return "{\"value\":" + std::to_string(value) + "}";
}

std::string text_json(const char* key, const std::string& text) {
  std::string json = std::string("{\"") + key + "\":";
  append_json_string(json, text);
  return json + "}";
}

}  // namespace

bool Writer::is_at_last_end(const Position& position) const {
  return last_end_ && last_end_->epoch == position.epoch && last_end_->batch == position.batch &&
         last_end_->batch_in_epoch == position.batch_in_epoch;
}

std::string Writer::path_at(const Position& position) {
  std::string name = "ep" + std::to_string(position.epoch) + "-ba" +
                     std::to_string(position.batch) + "-rank" + std::to_string(options_.rank) +
                     ".json";
  try {
    if (options_.file_name) name = options_.file_name(position);
  } catch (...) {
    set_error(current_problem() + "; the file is called " + name);
  }
  return options_.folder + "/" + name;
}

// A later cycle may replace a file of this session, if the program gives both the same name. A
// rest, or a cycle that is closed in its first batch, must not: it comes with the name of the one
// before.
std::string Writer::final_path_at(const Position& position) {
  std::string path = path_at(position);
  if (!options_.overwrite || !(is_rest_ || is_at_last_end(position))) return path;
  std::string name = path;
  for (unsigned number = 2; own_paths_.count(name) > 0; ++number)
    name = numbered_path(path, number);
  return name;
}

void Writer::begin_cycle(const Position& position) {
  is_cycle_open_ = true;
  is_rest_ = true;  // until its command says otherwise
  cycle_events_ = 0;
  told_events_ = 0;
  cycle_lost_ = 0;
  told_lost_ = 0;
  json_failure_.clear();
  is_left_out_told_ = false;
  named_threads_.clear();
  feeder_.begin_file();
  for (Handler& handler : handlers_) handler.has_failed = false;
  cycle_.path.clear();
  if (json_ != nullptr) {
    std::error_code ignored;  // a problem shows when the file is made
    path_at_begin_ = path_at(position);
    std::filesystem::create_directories(std::filesystem::path(path_at_begin_).parent_path(),
                                        ignored);
    cycle_.path = new_unfinished_path(path_at_begin_);
  }
  call([&](TraceHandler& handler) { handler.begin_cycle(cycle_); });
  if (journal_ != nullptr && json_ != nullptr && json_->has_file())
    journal_->commit_file(cycle_.path, file_ticks_, json_->state());
  write_opening();
  flush();
}

// Two runs that begin in one folder at a time look for a name at the same time, too. The journal
// notes the next name before the file gets it.
std::string Writer::next_unfinished_path(const FileState& state) {
  cycle_.path = new_unfinished_path(path_at_begin_);
  if (journal_ != nullptr) journal_->commit_file(cycle_.path, file_ticks_, state);
  return cycle_.path;
}

void Writer::metadata(const char* name, const std::string& args, std::int64_t at_ns,
                      std::int64_t tid) {
  const MetadataEvent event{name, args, at_ns, tid};
  call([&](TraceHandler& handler) { handler.metadata(event); });
}

// The first five are Composer's, in its order.
void Writer::write_opening() {
  const ClockPair pair = read_clock_pair();
  check_clock(pair);
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
  if (options_.is_beside_rank) metadata("beside_rank", R"({"value":true})", at_ns, main_tid_);
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
  // Rounds of a rank that is alone say nothing of any other clock.
  if (options_.barrier)
    metadata("clock_sync_rounds", rounds_json(rounds, line_, group), at_ns, main_tid_);
}

std::string Writer::counts_json(std::uint64_t dropped) const {
  RecorderCounts counts;
  counts.events = cycle_events_ - cycle_lost_;
  counts.dropped = dropped;
  counts.is_ring = options_.when_full == WhenFull::ring;
  counts.lost = cycle_lost_;
  counts.error = json_failure_;
  counts.clock_error_ns = line_.worst_error_ns();
  return recorder_json(counts);
}

// Ends the file first: then it is known what it lacks.
void Writer::write_closing(std::uint64_t dropped) {
  const ClockPair pair = read_clock_pair();
  check_clock(pair);
  const std::int64_t at_ns = line_.ns(pair.ticks);
  const std::string pairs = pair_json(pair, "end");
  end_json(pairs, at_ns, dropped);
  tell_counts();
  const std::string counts = counts_json(dropped);
  for (Handler& handler : handlers_) {
    if (handler.has_failed || handler.handler == json_) continue;
    try {
      handler.handler->metadata({"clock_pairs", pairs, at_ns, main_tid_});
      handler.handler->metadata({"recorder", counts, at_ns, main_tid_});
    } catch (...) {
      fail(handler, current_problem());
    }
  }
}

// Ends the file, also if a full disk has cut it: there is room for its end, and for what is lost.
void Writer::end_json(const std::string& pairs, std::int64_t at_ns, std::uint64_t dropped) {
  if (json_ == nullptr || !json_->has_file()) return;
  if (!json_failure_.empty() && json_->state().text_bytes == 0) return json_->drop_file();
  const auto write_end = [&] {
    const std::string counts = counts_json(dropped);
    json_->write_end(
        {{"clock_pairs", pairs, at_ns, main_tid_}, {"recorder", counts, at_ns, main_tid_}});
  };
  try {
    try {
      write_end();
    } catch (...) {
      if (!handlers_.front().has_failed) fail(handlers_.front(), current_problem());
      cycle_lost_ += json_->take_back();
      write_end();
    }
  } catch (...) {
    set_error(current_problem() + "; the file ends without its bracket");
  }
}

void Writer::end_cycle(const Command& command) {
  // Events dropped after this end are the next cycle's; the last cycle takes all.
  const std::uint64_t dropped_so_far =
      command.kind == Command::Kind::stop ? pool_.dropped() : command.dropped;
  const std::uint64_t dropped = dropped_so_far - dropped_before_;
  dropped_before_ = dropped_so_far;
  if (command.kind == Command::Kind::end_cycle) cut_open_slices(command.ticks);
  write_rounds(command.rounds, "end", false);
  flush();
  write_closing(dropped);
  is_cycle_open_ = false;
  if (json_ != nullptr) finish_json(command.position);
  for (Handler& handler : handlers_) {
    if (handler.has_failed || handler.handler == json_) continue;
    try {
      handler.handler->end_cycle(cycle_);
    } catch (...) {
      fail(handler, current_problem());
    }
  }
  file_ticks_ = command.ticks;
  if (journal_ != nullptr && json_ != nullptr)
    journal_->commit_file(unfinished_path(path_at(command.position)), file_ticks_, {});
  save(command.position, dropped);
  last_end_ = command.position;
  ++cycle_.number;
}

// Writes ends for long-running markers that are open. Whoever reads this file alone sees them up to
// here; the file in which they end has the whole slices.
void Writer::cut_open_slices(std::uint64_t at_ticks) {
  if (json_ == nullptr || handlers_.front().has_failed || !json_->has_file()) return;
  feeder_.for_each_open(line_.ns(at_ticks),
                        [this](const DurationEvent& event) { json_->cut(event); });
}

void Writer::execute_all(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (held_) cut_held(command.ticks);
    // A ring must not overwrite anything until it is saved, so it gets no grace.
    if (command.has_grace && options_.when_full != WhenFull::ring) {
      held_ = command;
      held_until_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.flush_ms);
      continue;
    }
    execute(command);
    finish_one(command.kind == Command::Kind::stop);
  }
}

void Writer::finish_one(bool is_stop) {
  const std::lock_guard lock(mutex_);
  ++finished_number_;
  is_stopped_ |= is_stop;
  finished_.notify_all();
}

void Writer::cut_held(std::uint64_t ticks) {
  Command end = *std::exchange(held_, std::nullopt);
  end.ticks = ticks;
  end.dropped = pool_.dropped();
  execute(end);
  finish_one(false);
}

void Writer::cut_held_in_time() {
  if (std::chrono::steady_clock::now() < held_until_) return;
  std::uint64_t ticks = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!commands_.empty()) return;  // the next command cuts
    ticks = detail::now();
  }
  cut_held(ticks);
}

// Gives the file its name; if that fails, it keeps the one it has.
void Writer::finish_json(const Position& position) {
  if (!json_->has_file()) {
    cycle_.path.clear();  // a file of that name belongs to somebody else
    return;
  }
  CycleInfo final_cycle = cycle_;
  final_cycle.path = final_path_at(position);
  std::error_code ignored;  // a problem shows when the file is renamed
  std::filesystem::create_directories(std::filesystem::path(final_cycle.path).parent_path(),
                                      ignored);
  try {
    json_->end_cycle(final_cycle);
  } catch (...) {
    set_error(current_problem());
  }
  if (json_->final_path().empty()) {
    // If there is no file, the disk took nothing of it.
    if (!std::filesystem::exists(cycle_.path, ignored)) cycle_.path.clear();
    return;
  }
  cycle_.path = json_->final_path();
  if (!json_failure_.empty())
    set_error(fmt::format("{}: {} of {} events are not in it: {}", cycle_.path, cycle_lost_,
                          cycle_events_, json_failure_));
  if (options_.overwrite) own_paths_.insert(cycle_.path);
}

void Writer::save(const Position& position, std::uint64_t dropped) {
  const SavedTrace saved{position, cycle_.path, cycle_events_ - cycle_lost_, dropped};
  std::optional<std::string> complaint;
  if (json_ != nullptr && !json_->final_path().empty()) {
    const std::lock_guard lock(mutex_);
    complaint = kept_.add(saved, is_rest_ ? TracePart::rest : TracePart::cycle);
  }
  if (complaint) set_error(*complaint);
  if (options_.on_saved) {
    try {
      options_.on_saved(saved);
    } catch (...) {
      set_error(current_problem());
    }
  }
  // Old files go only after the program has used this one.
  std::vector<std::string> complaints;
  {
    const std::lock_guard lock(mutex_);
    complaints = kept_.delete_old();
  }
  for (const std::string& each : complaints) set_error(each);
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

}  // namespace traceloom::record
