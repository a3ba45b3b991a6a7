#include "record/engine/cycle_writer.h"

#include "record/files/recorder_json.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

namespace traceloom::record {
namespace {

// A problem shows when the file is made or renamed.
void make_folder_of(const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
}

}  // namespace

CycleWriter::CycleWriter(const WriterParts& parts, CycleMetadata& metadata, EventDrain& drain)
    : parts_(parts),
      metadata_(metadata),
      drain_(drain),
      names_(parts.options, parts.status),
      file_ticks_(parts.first_ticks) {
  cycle_.rank = parts.options.rank;
}

void CycleWriter::announce_next_file(const Position& position) {
  if (parts_.journal != nullptr && parts_.handlers.json() != nullptr)
    commit_file(unfinished_path(names_.path_at(position)), {});
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
  metadata_.begin_cycle();
  drain_.begin_cycle();
  parts_.handlers.begin_cycle();
  cycle_.path.clear();
  if (parts_.handlers.json() != nullptr) {
    path_at_begin_ = names_.path_at(position);
    make_folder_of(path_at_begin_);
    cycle_.path = new_unfinished_path(path_at_begin_);
  }
  parts_.handlers.call([&](TraceHandler& handler) { handler.begin_cycle(cycle_); });
  if (parts_.handlers.has_file()) commit_file(cycle_.path, parts_.handlers.json()->state());
  metadata_.write_opening();
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
  metadata_.write_rounds(command.rounds, "end", false);
  drain_.flush();
  write_closing(dropped);
  is_open_ = false;
  if (parts_.handlers.json() != nullptr) finish_json(command.position);
  parts_.handlers.call_others([&](TraceHandler& handler) { handler.end_cycle(cycle_); });
  file_ticks_ = command.ticks;
  announce_next_file(command.position);
  save(command.position, dropped);
  names_.end_cycle(command.position);
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
  final_cycle.path = names_.final_path_at(position, is_rest_);
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
  names_.add_own(cycle_.path);
}

void CycleWriter::save(const Position& position, std::uint64_t dropped) {
  const JsonSink* const json = parts_.handlers.json();
  std::optional<TracePart> part;
  if (json != nullptr && !json->final_path().empty())
    part = is_rest_ ? TracePart::rest : TracePart::cycle;
  parts_.status.save({position, cycle_.path, drain_.in_file(), dropped}, part);
}

}  // namespace traceloom::record
