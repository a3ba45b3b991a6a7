#include "merge/file_survey.h"

#include "base/string_table.h"
#include "event/event_timing.h"
#include "scan/begin_end.h"
#include "survey/json_member.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace traceloom {
namespace {

constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::max();

void keep_least(std::optional<std::int64_t>& least, std::int64_t ns) {
  if (ns != kNoTime) least = std::min(least.value_or(ns), ns);
}

// Categories that Kineto writes on GPU rows only, today's and old ones.
bool is_gpu_category(std::string_view category) {
  static constexpr std::array<std::string_view, 8> kCategories{
      "kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation",
      "Kernel", "Memcpy",     "Memset",     "cuda_sync"};
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

// The survey of one chunk; reused for the next one.
struct SurveyChunk : ChunkResult {
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
  std::int64_t first_ns = kNoTime;
  bool sub_microsecond = false;
  std::string scratch;
  ProblemCounts timing_problems;  // counted where events are written, not here

  TrackFacts& track(const Event& event) {
    const std::string_view pid = event.text(Key::pid);
    const std::string_view tid = event.text(Key::tid);
    if (!tracks.empty() && tracks[last_track_].pid == pid && tracks[last_track_].tid == tid)
      return tracks[last_track_];
    scratch.assign(pid);
    scratch.push_back('\0');
    scratch.append(tid);
    last_track_ = track_texts.intern(scratch);
    if (last_track_ == tracks.size()) {
      tracks.emplace_back();
      tracks.back().pid = pid;
      tracks.back().tid = tid;
    }
    return tracks[last_track_];
  }

 private:
  std::size_t last_track_ = 0;
};

void survey_metadata(SurveyChunk& chunk, const Event& event) {
  chunk.evidence.add(event);
  const std::string_view key = unquoted(event.text(Key::name));
  if (!is_rewritten_metadata(key)) {
    if (chunk.metadata_texts.intern(event.raw) == chunk.metadata.size())
      chunk.metadata.push_back({std::string(event.raw), event.offset});
    return;
  }
  std::string_view member;
  if (key == "process_name" || key == "thread_name") member = "name";
  if (key == "process_labels") member = "labels";
  if (key == "thread_sort_index") member = "sort_index";
  if (member.empty()) return;
  const std::string value = json_member(event.text(Key::args), member);
  if (value.empty()) return;
  chunk.names.push_back({std::string(event.text(Key::pid)), std::string(event.text(Key::tid)),
                         std::string(key), decoded(value)});
}

void survey_async_id(SurveyChunk& chunk, const Event& event, std::string_view key) {
  chunk.async_ids.add(key);
  const std::string_view merged = merged_async_key(event, chunk.scratch);
  if (merged.empty())
    chunk.has_other_async_ids = true;
  else
    chunk.merged_async_ids.add(merged);
}

void survey_ids(SurveyChunk& chunk, const Event& event) {
  if (is_flow_phase(event.phase)) {
    if (event.has(Key::id)) chunk.flow_ids.add(id_key(event.text(Key::id), chunk.scratch));
  } else if (is_async_phase(event.phase)) {
    const std::string_view key = async_id_key(event, chunk.scratch);
    if (!key.empty()) survey_async_id(chunk, event, key);
  }
  if (event.has(Key::bind_id)) chunk.bind_ids.add(id_key(event.text(Key::bind_id), chunk.scratch));
}

class SurveyVisitor : public FileVisitor {
 public:
  SurveyVisitor(std::size_t files, const FailureHandler& on_failure)
      : surveys_(files),
        track_ids_(files),
        metadata_texts_(files),
        pairers_(files),
        on_failure_(on_failure) {}

  std::vector<FileSurvey> take_surveys() { return std::move(surveys_); }

  std::unique_ptr<ChunkResult> make_result() override { return std::make_unique<SurveyChunk>(); }

  void visit(ChunkResult& result, std::size_t, const Event& event) override {
    SurveyChunk& chunk = static_cast<SurveyChunk&>(result);
    // Until a time below the microsecond is met, durations are of interest too.
    const EventTiming timing = chunk.sub_microsecond ? time_start(event, chunk.timing_problems)
                                                     : time_event(event, chunk.timing_problems);
    if (!timing.usable) return;
    TrackFacts& track = chunk.track(event);
    if (event.phase == 'M') return survey_metadata(chunk, event);
    ++chunk.events;
    // A counter without a tid belongs to the process and makes no track; nor does an E, which
    // without a B there is not written.
    if (event.phase != 'E' && (event.phase != 'C' || event.has(Key::tid))) {
      if (track.events++ == 0) track.is_gpu = is_gpu_category(unquoted(event.text(Key::cat)));
    }
    // A paired E is never before its B, and a stray one is not written: neither can be the first.
    if (event.phase != 'E') chunk.first_ns = std::min(chunk.first_ns, timing.start_ns);
    chunk.sub_microsecond |= timing.sub_microsecond;
    if (event.phase == 'B' || event.phase == 'E')
      chunk.begin_ends.add(event, timing.start_ns);
    else if (event.phase != 'X' || event.has(Key::bind_id))
      survey_ids(chunk, event);
  }

  void take(ChunkResult& result, std::size_t file) override {
    SurveyChunk& chunk = static_cast<SurveyChunk&>(result);
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
    survey.sub_microsecond |= chunk.sub_microsecond;
    keep_least(survey.first_ns, chunk.first_ns);
  }

  void end_file(std::size_t file, const FileEnd& end) override {
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

  void fail_file(std::size_t file, const Error& error) override {
    on_failure_(file, error);
    surveys_[file] = {};
  }

 private:
  void add_tracks(const SurveyChunk& chunk, std::size_t file) {
    std::vector<TrackFacts>& known = surveys_[file].tracks;
    for (std::uint32_t i = 0; i < chunk.tracks.size(); ++i) {
      const std::uint32_t id = track_ids_[file].intern(chunk.track_texts[i]);
      if (id == known.size()) {
        known.push_back(chunk.tracks[i]);
        continue;
      }
      if (known[id].events == 0) known[id].is_gpu = chunk.tracks[i].is_gpu;
      known[id].events += chunk.tracks[i].events;
    }
  }

  // The last name in the file stands, as in the viewers.
  void add_names(const SurveyChunk& chunk, std::size_t file) {
    FileSurvey& survey = surveys_[file];
    for (const NameFact& fact : chunk.names) {
      if (fact.key == "process_name") survey.processes[canonical_id(fact.pid)].name = fact.value;
      if (fact.key == "process_labels")
        survey.processes[canonical_id(fact.pid)].labels = fact.value;
      const std::optional<std::uint32_t> track =
          track_ids_[file].find(fact.pid + std::string(1, '\0') + fact.tid);
      if (!track) continue;
      if (fact.key == "thread_name") survey.tracks[*track].name = fact.value;
      if (fact.key == "thread_sort_index")
        survey.tracks[*track].sort_index = json_integer(fact.value);
    }
  }

  std::vector<FileSurvey> surveys_;
  std::vector<StringTable> track_ids_;       // of surveys_[file].tracks
  std::vector<StringTable> metadata_texts_;  // of surveys_[file].metadata
  std::vector<std::unique_ptr<BeginEndPairer>> pairers_;
  const FailureHandler& on_failure_;
};

}  // namespace

std::vector<FileSurvey> survey_files(const std::vector<std::string>& paths,
                                     const ScanOptions& options, const FailureHandler& on_failure) {
  SurveyVisitor visitor(paths.size(), on_failure);
  scan_files(paths, visitor, options);
  return visitor.take_surveys();
}

std::string_view async_id_key(const Event& event, std::string& scratch) {
  if (event.has(Key::id)) return id_key(event.text(Key::id), scratch);
  if (!event.has(Key::id2)) return {};
  const std::string_view id2 = event.text(Key::id2);
  if (const std::string local = json_member(id2, "local"); !local.empty()) {
    scratch = "local " + canonical_id(event.text(Key::pid)) + " " + local;
    return scratch;
  }
  const std::string global = json_member(id2, "global");
  if (global.empty()) return {};
  scratch = "global " + global;
  return scratch;
}

std::string_view merged_async_key(const Event& event, std::string& scratch) {
  constexpr std::string_view kBefore = "{\"local\": \"0x";
  constexpr std::string_view kAfter = "\"}";
  const std::string_view id2 = event.text(Key::id2);
  if (event.has(Key::id) || !id2.starts_with(kBefore) || !id2.ends_with(kAfter)) return {};
  std::uint64_t number = 0;
  const char* const end = id2.data() + id2.size() - kAfter.size();
  const auto [stop, error] = std::from_chars(id2.data() + kBefore.size(), end, number, 16);
  if (error != std::errc{} || stop != end) return {};
  scratch = std::to_string(number);
  return scratch;
}

}  // namespace traceloom
