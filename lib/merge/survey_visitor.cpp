#include "merge/survey_visitor.h"

#include "survey/json_member.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace traceloom {
namespace {

constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::max();

void keep_least(std::optional<std::int64_t>& least, std::int64_t ns) {
  if (ns != kNoTime) least = std::min(least.value_or(ns), ns);
}

// Categories that Kineto writes on GPU rows only, today's and old ones; as JSON text.
bool is_gpu_category(std::string_view category) {
  // The other frequent ones (cpu_op, python_function, user_annotation, ac2g) begin otherwise.
  const char first = category.size() > 2 ? category[1] : '\0';
  if (first != 'k' && first != 'g' && first != 'K' && first != 'M' && first != 'c') return false;
  static constexpr std::array<std::string_view, 8> kCategories{
      R"("kernel")", R"("gpu_memcpy")", R"("gpu_memset")", R"("gpu_user_annotation")",
      R"("Kernel")", R"("Memcpy")",     R"("Memset")",     R"("cuda_sync")"};
  return std::find(kCategories.begin(), kCategories.end(), category) != kCategories.end();
}

// Metadata that the merge writes itself, once a rank or track.
bool is_rewritten_metadata(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kNames{
      "process_name",      "process_labels", "process_sort_index",      "thread_name",
      "thread_sort_index", "global_rank",    "clock_sync_timestamp_us", "clock_sync_error_bound"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// A name that a metadata event gives to a track or process.
struct NameFact {
  std::string pid;
  std::string tid;
  std::string key;    // "thread_name", ...
  std::string value;  // decoded
};

}  // namespace

// The survey of one chunk.
struct SurveyVisitor::Chunk : ChunkResult {
  FileEvidence evidence;
  StringTable track_texts;  // pid, '\0', tid
  std::vector<TrackFacts> tracks;
  std::vector<NameFact> names;
  StringTable metadata_texts;
  std::vector<KeptMetadata> metadata;
  BeginEndBatch begin_ends;
  IdSet flow_ids;
  IdSet bind_ids;
  IdSet async_ids;
  IdSet merged_async_ids;
  bool has_other_async_ids = false;
  std::uint64_t events = 0;
  std::uint64_t ends = 0;
  std::int64_t first_ns = kNoTime;
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  bool sub_microsecond = false;
  ProblemCounts timing_problems;  // counted where events are written, not here

  TrackFacts& track(const Event& event);
  void add_metadata(const Event& event);
  void add_ids(const Event& event);

 private:
  void add_async_id(const Event& event, std::string_view key);

  std::string scratch_;
  std::size_t last_track_ = 0;
};

TrackFacts& SurveyVisitor::Chunk::track(const Event& event) {
  const std::string_view pid = event.text(Key::pid);
  const std::string_view tid = event.text(Key::tid);
  if (!tracks.empty() && tracks[last_track_].pid == pid && tracks[last_track_].tid == tid)
    return tracks[last_track_];
  scratch_.assign(pid);
  scratch_.push_back('\0');
  scratch_.append(tid);
  last_track_ = track_texts.intern(scratch_);
  if (last_track_ == tracks.size()) {
    tracks.emplace_back();
    tracks.back().pid = pid;
    tracks.back().tid = tid;
  }
  return tracks[last_track_];
}

void SurveyVisitor::Chunk::add_metadata(const Event& event) {
  evidence.add(event);
  const std::string_view key = unquoted(event.text(Key::name));
  if (!is_rewritten_metadata(key)) {
    if (metadata_texts.intern(event.raw) == metadata.size())
      metadata.push_back({std::string(event.raw), event.offset});
    return;
  }
  std::string_view member;
  if (key == "process_name" || key == "thread_name") member = "name";
  if (key == "process_labels") member = "labels";
  if (key == "thread_sort_index") member = "sort_index";
  if (member.empty()) return;
  const std::string value = json_member(event.text(Key::args), member);
  if (value.empty()) return;
  names.push_back({std::string(event.text(Key::pid)), std::string(event.text(Key::tid)),
                   std::string(key), decoded(value)});
}

void SurveyVisitor::Chunk::add_async_id(const Event& event, std::string_view key) {
  async_ids.add(key);
  const std::string_view merged = merged_async_key(event, scratch_);
  if (merged.empty())
    has_other_async_ids = true;
  else
    merged_async_ids.add(merged);
}

void SurveyVisitor::Chunk::add_ids(const Event& event) {
  if (is_flow_phase(event.phase)) {
    if (event.has(Key::id)) flow_ids.add(id_key(event.text(Key::id), scratch_));
  } else if (is_async_phase(event.phase)) {
    const std::string_view key = async_id_key(event, scratch_);
    if (!key.empty()) add_async_id(event, key);
  }
  if (event.has(Key::bind_id)) bind_ids.add(id_key(event.text(Key::bind_id), scratch_));
}

SurveyVisitor::SurveyVisitor(std::size_t files, const FailureHandler& on_failure, bool pairs)
    : surveys_(files),
      track_ids_(files),
      metadata_texts_(files),
      pairers_(files),
      on_failure_(on_failure),
      pairs_(pairs) {}

std::unique_ptr<ChunkResult> SurveyVisitor::make_result() {
  return std::make_unique<Chunk>();
}

void SurveyVisitor::visit(ChunkResult& result, std::size_t, const Event& event) {
  Chunk& chunk = static_cast<Chunk&>(result);
  // Until a time below the microsecond is met, durations are of interest too.
  add(result, event,
      chunk.sub_microsecond ? time_start(event, chunk.timing_problems)
                            : time_event(event, chunk.timing_problems));
}

void SurveyVisitor::add(ChunkResult& result, const Event& event, const EventTiming& timing) const {
  if (!timing.usable) return;
  Chunk& chunk = static_cast<Chunk&>(result);
  TrackFacts& track = chunk.track(event);
  if (event.phase == 'M') return chunk.add_metadata(event);
  ++chunk.events;
  // A counter without a tid belongs to the process and makes no track; nor does an E, which
  // without a B there is not written.
  if (event.phase != 'E' && (event.phase != 'C' || event.has(Key::tid))) {
    ++track.events;
    if (!track.is_gpu) track.is_gpu = is_gpu_category(event.text(Key::cat));
  }
  // A paired E is never before its B, and a stray one is not written: neither can be the first.
  if (event.phase != 'E')
    chunk.first_ns = std::min(chunk.first_ns, timing.start_ns);
  else
    ++chunk.ends;
  chunk.last_ns = std::max(chunk.last_ns, timing.start_ns);
  chunk.sub_microsecond |= timing.sub_microsecond;
  if (pairs_ && (event.phase == 'B' || event.phase == 'E'))
    chunk.begin_ends.add(event, timing.start_ns);
  if (event.phase != 'X' || event.has(Key::bind_id)) chunk.add_ids(event);
}

void SurveyVisitor::take(ChunkResult& result, std::size_t file) {
  Chunk& chunk = static_cast<Chunk&>(result);
  FileSurvey& survey = surveys_[file];
  survey.evidence.append(chunk.evidence);
  survey.flow_ids.add(chunk.flow_ids);
  survey.bind_ids.add(chunk.bind_ids);
  survey.async_ids.add(chunk.async_ids);
  survey.merged_async_ids.add(chunk.merged_async_ids);
  survey.has_other_async_ids |= chunk.has_other_async_ids;
  add_tracks(chunk, file);
  add_names(chunk, file);
  for (KeptMetadata& event : chunk.metadata)
    if (metadata_texts_[file].intern(event.text) == survey.metadata.size())
      survey.metadata.push_back(std::move(event));
  if (!chunk.begin_ends.empty()) {
    if (!pairers_[file]) pairers_[file] = std::make_unique<BeginEndPairer>();
    pairers_[file]->take(chunk.begin_ends);
  }
  survey.events += chunk.events;
  survey.ends += chunk.ends;
  survey.sub_microsecond |= chunk.sub_microsecond;
  keep_least(survey.first_ns, chunk.first_ns);
  survey.last_ns = std::max(survey.last_ns, chunk.last_ns);
}

void SurveyVisitor::end_file(std::size_t file, const FileEnd& end) {
  FileSurvey& survey = surveys_[file];
  survey.evidence.add_top_level(end.top_level);
  survey.problems.add(survey.evidence.problems);
  survey.problems.add(end.problems);
  survey.top_level = end.top_level.entries();
  survey.text_bytes = end.text_bytes;
  track_ids_[file] = {};
  metadata_texts_[file] = {};
  if (!pairers_[file]) return;
  pairers_[file]->finish();
  survey.orphan_ends = pairers_[file]->orphan_ends();
  survey.problems.add(pairers_[file]->problems());
  pairers_[file].reset();
}

void SurveyVisitor::fail_file(std::size_t file, const Error& error) {
  on_failure_(file, error);
  surveys_[file] = {};
}

void SurveyVisitor::add_tracks(const Chunk& chunk, std::size_t file) {
  std::vector<TrackFacts>& known = surveys_[file].tracks;
  for (std::uint32_t i = 0; i < chunk.tracks.size(); ++i) {
    const std::uint32_t id = track_ids_[file].intern(chunk.track_texts[i]);
    if (id == known.size()) {
      known.push_back(chunk.tracks[i]);
      continue;
    }
    known[id].is_gpu |= chunk.tracks[i].is_gpu;
    known[id].events += chunk.tracks[i].events;
  }
}

// The last name in the file stands, as in the viewers.
void SurveyVisitor::add_names(const Chunk& chunk, std::size_t file) {
  FileSurvey& survey = surveys_[file];
  for (const NameFact& fact : chunk.names) {
    if (fact.key == "process_name") survey.processes[canonical_id(fact.pid)].name = fact.value;
    if (fact.key == "process_labels") survey.processes[canonical_id(fact.pid)].labels = fact.value;
    const std::optional<std::uint32_t> track =
        track_ids_[file].find(fact.pid + std::string(1, '\0') + fact.tid);
    if (!track) continue;
    if (fact.key == "thread_name") survey.tracks[*track].name = fact.value;
    if (fact.key == "thread_sort_index")
      survey.tracks[*track].sort_index = json_integer(fact.value);
  }
}

}  // namespace traceloom
