#include "merge/rows/metadata_names.h"

#include "merge/rows/track_key.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace traceloom {
namespace {

bool is_composer_name(std::string_view process) {
  return process.starts_with("Rank ") && process.ends_with(" training loop process");
}

// True for Kineto's names for the rows of a GPU.
bool is_gpu_row_name(std::string_view thread) {
  return thread.starts_with("stream ") || thread.starts_with("Device ");
}

// Returns the key for the index that a merge has noted next to its own.
std::string source_index_key(std::string_view key) {
  return std::string("source ").append(key);
}

void note_process(std::string_view key, const std::string& value, ProcessFacts& process) {
  if (key == "process_name") {
    process.name = value;
    // Composer's merger may have put other ranks under the pid, after the rank that the pid belongs
    // to.
    if (process.composer_name.empty() && is_composer_name(value)) process.composer_name = value;
  }
  if (key == "process_labels") process.labels = value;
  if (key == "process_sort_index") process.sort_index = json_integer(value);
  if (key == "source process_sort_index") process.source_sort_index = json_integer(value);
  if (key == "process" || key == "source_pid") {
    std::optional<BesideMain>& beside = process.beside_main;
    if (!beside) beside.emplace();
    (key == "process" ? beside->title : beside->source_pid) = value;
  }
}

void note_track(std::string_view key, const std::string& value, TrackFacts& track) {
  if (key == "thread_name") {
    track.name = value;
    (is_gpu_row_name(value) ? track.gpu_name : track.host_name) = value;
  }
  if (key == "thread_sort_index") track.sort_index = json_integer(value);
  if (key == "source thread_sort_index") track.source_sort_index = json_integer(value);
  if (key == kProcessSortIndex) track.process_sort_index = json_integer(value);
}

bool is_of_process(std::string_view key) {
  return key.starts_with("process") || key == "source_pid" || key == "source process_sort_index";
}

}  // namespace

void MetadataNames::add(const Event& event) {
  const std::string_view key = unquoted(event.text(Key::name));
  if (key == "global_rank") {
    const JsonDocument args(event.text(Key::args));
    if (const JsonValue title = args["process"]; title.is_there()) {
      add_fact(event, "process", title.string());
      add_fact(event, "source_pid", canonical_id(args["source_pid"].text()));
    }
    return;
  }
  std::string_view member;
  if (key == "process_name" || key == "thread_name") member = "name";
  if (key == "process_labels") member = "labels";
  if (key == "thread_sort_index" || key == "process_sort_index") member = "sort_index";
  if (member.empty()) return;
  const JsonDocument args(event.text(Key::args));
  if (const JsonValue value = args[member]; value.is_there()) add_fact(event, key, value.string());
  if (member == "sort_index") add_source_indexes(event, key, args.root());
  if (key == "thread_name") add_row_source(event, args.root());
}

void MetadataNames::add_source_indexes(const Event& event, std::string_view key, JsonValue args) {
  if (const std::string_view index = args[kSourceSortIndex].text(); !index.empty())
    add_fact(event, source_index_key(key), std::string(index));
  if (const std::string_view index = args[kProcessSortIndex].text(); !index.empty())
    add_fact(event, kProcessSortIndex, std::string(index));
}

void MetadataNames::add_row_source(const Event& event, JsonValue args) {
  const std::string_view tid = args["source_tid"].text();
  if (tid.empty()) return;
  RowSource source{canonical_id(tid)};
  const std::string_view pid = args["source_pid"].text();
  if (!pid.empty()) {
    source.process = BesideMain{args["process"].string(), canonical_id(pid)};
    source.is_gpu = args["is_gpu"].text() == "true";
  }
  rows_.push_back(
      {std::string(event.text(Key::pid)), std::string(event.text(Key::tid)), std::move(source)});
}

void MetadataNames::add_fact(const Event& event, std::string_view key, std::string value) {
  facts_.push_back({std::string(event.text(Key::pid)), std::string(event.text(Key::tid)),
                    std::string(key), std::move(value)});
}

void MetadataNames::give_to(FileSurvey& survey, const StringTable& tracks) const {
  std::string scratch;
  const auto track_of = [&](const auto& fact) -> TrackFacts* {
    const std::optional<std::uint32_t> track = tracks.find(track_key(fact.pid, fact.tid, scratch));
    return track ? &survey.tracks[*track] : nullptr;
  };
  for (const Fact& fact : facts_) {
    if (is_of_process(fact.key))
      note_process(fact.key, fact.value, survey.processes[canonical_id(fact.pid)]);
    else if (TrackFacts* const track = track_of(fact))
      note_track(fact.key, fact.value, *track);
  }
  for (const RowFact& row : rows_)
    if (TrackFacts* const track = track_of(row)) track->source = row.source;
}

}  // namespace traceloom
