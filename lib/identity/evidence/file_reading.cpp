#include "identity/evidence/file_reading.h"

#include "base/json_walk.h"
#include "event/event_timing.h"
#include "json/json_document.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

// Returns false if args.value is no whole number. `tid` is that of the event, if it is needed.
bool add_mark(DistinctMarks& marks, const Event& event, std::string tid = {}) {
  const auto value = JsonDocument(event.text(Key::args))["value"].integer();
  if (value) marks.add({*value, canonical_id(event.text(Key::pid)), event.offset, std::move(tid)});
  return value.has_value();
}

// A document takes up to 18 times its text, and a value next to the events may have 64 MiB. No
// recorder writes more than some KB into these; what is larger is no such value.
JsonDocument small_document(std::string_view value) {
  constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
  return JsonDocument(value.size() <= kMaxBytes ? value : std::string_view());
}

// Returns the Unix nanoseconds of ts 0, under whichever key the producer writes them.
std::optional<std::int64_t> base_time(const TopLevelParser& top_level, ProblemCounts& problems) {
  const std::string_view kineto = top_level.value("baseTimeNanoseconds");
  const JsonDocument metadata = small_document(top_level.value("viztracer_metadata"));
  const std::string_view viztracer = metadata["baseTimeNanoseconds"].text();
  for (const std::string_view text : {kineto, viztracer})
    if (const auto base = json_integer(text)) return base;
  const std::string_view clang = top_level.value("beginningOfTime");
  if (const auto base = parse_time(clang)) return base->rounded_ns();
  for (const std::string_view text : {kineto, viztracer, clang})
    if (!text.empty() && text != "null") problems.add(Problem::bad_base, 0);
  return std::nullopt;
}

bool has_torch_key(const TopLevelParser& top_level) {
  static constexpr std::array<std::string_view, 3> kKeys{"schemaVersion", "deviceProperties",
                                                         "distributedInfo"};
  return std::ranges::any_of(kKeys,
                             [&](std::string_view key) { return !top_level.value(key).empty(); });
}

void add_devices(JsonValue properties, std::set<std::string>& devices) {
  for (const JsonValue device : properties.elements())
    if (std::string name = device["name"].string(); !name.empty()) devices.insert(std::move(name));
}

// torch lists no ranks for a group of all of them.
void add_groups(JsonValue distributed, std::set<NotedGroup>& groups) {
  const std::int64_t world = distributed["world_size"].integer().value_or(0);
  for (const JsonValue one : distributed["pg_config"].elements()) {
    NotedGroup group{one["pg_name"].string(), one["pg_desc"].string(), {}};
    for (const JsonValue rank : one["ranks"].elements())
      if (const auto number = rank.integer()) group.ranks.push_back(*number);
    std::ranges::sort(group.ranks);
    if (std::cmp_equal(group.ranks.size(), world)) group.ranks.clear();
    groups.insert(std::move(group));
  }
}

// Adds what a merge kept of its ranks (otherData.ranks).
void add_merged_ranks(JsonValue ranks, FileEvidence& evidence) {
  for (const JsonValue rank : ranks.members()) {
    add_devices(rank["deviceProperties"], evidence.devices);
    add_groups(rank["distributedInfo"], evidence.groups);
    const std::optional<std::int64_t> number = json_integer(rank.key());
    if (std::string host = rank["host_name"].string(); number && !host.empty())
      evidence.hosts[*number] = std::move(host);
  }
}

// Returns the largest world size that a merge kept of its ranks (otherData.ranks).
std::int64_t find_merged_world_size(JsonValue ranks) {
  std::int64_t size = 0;
  for (const JsonValue rank : ranks.members())
    size = std::max(size, rank["distributedInfo"]["world_size"].integer().value_or(0));
  return size;
}

// Finds our two members in place, since other producers may write anything, of any size, next to
// them.
void add_other_data(std::string_view other, FileEvidence& evidence) {
  const JsonDocument ranks(find_member(other, "ranks"));
  evidence.merged_world_size = find_merged_world_size(ranks.root());
  add_merged_ranks(ranks.root(), evidence);
  const JsonDocument note(find_member(other, "traceloom"));
  const JsonValue ours = note.root();
  if (!ours.is_there()) return;
  evidence.merged_by = ours["version"].string();
  evidence.inputs = read_merged_inputs(ours);
  evidence.filter = read_noted_filter(ours);
  add_noted_problems(ours, evidence.problems);
  if (auto said = read_cycles(ours))
    evidence.cycles = *std::move(said);
  else
    evidence.problems.add(Problem::bad_cycles, 0);
}

}  // namespace

void FileEvidence::add(const Event& event) {
  if (SyncMarks::is_mark(event)) sync_marks.add(event);
  if (event.phase != 'M') return;
  const std::string_view name = unquoted(event.text(Key::name));
  bool is_usable = true;
  if (name == "global_rank")
    add_mark(rank_marks, event, canonical_id(event.text(Key::tid)));
  else if (name == "thread_name")
    operation_rows.add(event);
  else if (name == "clock_sync_timestamp_us")
    is_usable = add_mark(syncs, event, canonical_id(event.text(Key::tid)));
  else if (name == "clock_sync_error_bound")
    is_usable = add_mark(error_bounds, event);
  else if (name == "beside_rank")
    is_beside_rank = true;
  else
    recorder.add(name, event, problems);
  if (name == "recorder") add_recorder_losses(event, problems);
  if (!is_usable) problems.add(Problem::bad_sync, event.offset);
}

void FileEvidence::add_top_level(const TopLevelParser& top_level) {
  streams = {};
  const JsonDocument distributed = small_document(top_level.value("distributedInfo"));
  if (distributed.root().is_there()) {
    distributed_rank = distributed["rank"].integer();
    world_size = distributed["world_size"].integer();
    add_groups(distributed.root(), groups);
  }
  if (std::string host = JsonDocument(top_level.value("host_name")).root().string(); !host.empty())
    hosts[-1] = std::move(host);
  top_level_rank = json_integer(top_level.value("global_rank"));
  const std::string_view sync = top_level.value("clock_sync_timestamp_us");
  top_level_sync_us = json_integer(sync);
  if (!sync.empty() && !top_level_sync_us) problems.add(Problem::bad_sync, 0);
  base_ns = base_time(top_level, problems);
  is_torch = has_torch_key(top_level);
  const JsonDocument properties = small_document(top_level.value("deviceProperties"));
  add_devices(properties.root(), devices);
  add_other_data(top_level.value("otherData"), *this);
}

void FileEvidence::append(const FileEvidence& later) {
  rank_marks.add(later.rank_marks);
  syncs.add(later.syncs);
  error_bounds.add(later.error_bounds);
  operation_rows.append(later.operation_rows);
  sync_marks.add(later.sync_marks);
  recorder.append(later.recorder);
  is_beside_rank |= later.is_beside_rank;
  collectives.append(later.collectives);
  problems.add(later.problems);
  streams.append(later.streams, problems);
}

std::optional<std::int64_t> FileEvidence::sync_us() const {
  if (syncs.empty()) return top_level_sync_us;
  if (!has_several_ranks()) return syncs.front().value;
  std::map<std::string_view, std::int64_t> rank_of_pid;
  for (const Mark& mark : rank_marks) rank_of_pid.emplace(mark.pid, mark.value);
  std::optional<std::pair<std::int64_t, std::int64_t>> lowest;  // rank and its sync
  for (const Mark& sync : syncs)
    if (const auto rank = rank_of_pid.find(sync.pid);
        rank != rank_of_pid.end() && (!lowest || rank->second < lowest->first))
      lowest = {rank->second, sync.value};
  return lowest ? std::optional(lowest->second) : std::nullopt;
}

bool FileEvidence::has_several_ranks() const {
  return std::ranges::any_of(
      rank_marks, [&](const Mark& mark) { return mark.value != rank_marks.front().value; });
}

void ReadingPart::clear() {
  evidence = {};
  threads.clear();
  starts = {};
  ends = {};
}

void FileReading::append(const ReadingPart& part) {
  evidence.append(part.evidence);
  evidence.tally.append(part.threads.sum());
  evidence.threads.append(part.threads);
  starts.add(part.starts);
  ends.add(part.ends);
}

void FileReading::end(const FileEnd& file_end) {
  evidence.add_top_level(file_end.top_level);
  if (evidence.was_merged()) starts.trust();
  problems.add(file_end.problems);
  problems.add(evidence.problems);
  listed = file_end.events;
  text_bytes = file_end.text_bytes;
}

void stop_at(const Error& error, std::size_t files) {
  if (files > 1) throw with_advice(error, "--keep-going leaves it out");
  throw error;
}

}  // namespace traceloom
