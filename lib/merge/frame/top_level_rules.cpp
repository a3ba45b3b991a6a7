#include "merge/frame/top_level_rules.h"

#include "base/json_check.h"
#include "base/json_string.h"
#include "base/json_walk.h"
#include "event/trace_time.h"
#include "merge/frame/sampled_tracks.h"
#include "merge/ids/stack_frames.h"
#include "scan/event_repair.h"

#include <algorithm>
#include <array>
#include <utility>

namespace traceloom {
namespace {

template <std::size_t Size>
bool contains(const std::array<std::string_view, Size>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// True for settings of a torch.profiler run and facts of its host.
bool is_run_key(std::string_view key) {
  static constexpr std::array<std::string_view, 13> kKeys{
      "schemaVersion", "traceName",    "trace_id",        "record_shapes", "with_stack",
      "with_flops",    "with_modules", "profile_memory",  "host_name",     "username",
      "INFO",          "ERROR",        "deviceProperties"};
  static constexpr std::array<std::string_view, 6> kPrefixes{"cuda_",      "cupti_", "hip_",
                                                             "roctracer_", "tw_",    "mast_"};
  return contains(kKeys, key) ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return key.starts_with(prefix); });
}

bool is_empty_value(std::string_view value) {
  return value == "\"\"" || value == "null" || value == "{}" || value == "[]";
}

void add_group(FileSurvey& survey, std::string_view json_id) {
  if (const std::optional<std::uint32_t> group = frame_group(json_id))
    survey.frame_groups = std::max(survey.frame_groups, *group + 1);
}

void add_samples(FileSurvey& survey, const TopLevelEntry& entry) {
  for_each_element(entry.value, [&](std::string_view sample) {
    const std::optional<std::int64_t> time = time_sample(sample);
    if (!time) return survey.problems.add(Problem::bad_timestamp, entry.offset);
    survey.starts.add(*time);
    survey.sub_microsecond |= *time % 1000 != 0;
    if (survey.evidence.was_merged_by_us()) add_group(survey, find_member(sample, "sf"));
  });
}

void make_strict(TopLevelEntry& entry, ProblemCounts& problems) {
  if (is_strict_json(entry.value)) return;
  if (std::optional<std::string> repaired = repair_value(entry.value, entry.offset, problems)) {
    entry.value = std::move(*repaired);
    return;
  }
  entry.value = json_string(entry.value);
  problems.add(Problem::not_json_value, entry.offset);
}

}  // namespace

TopLevelRule rule_of(std::string_view key) {
  static constexpr std::array<std::string_view, 5> kOwn{"traceEvents", "displayTimeUnit",
                                                        "baseTimeNanoseconds", "beginningOfTime",
                                                        "controllerTraceDataKey"};
  static constexpr std::array<std::string_view, 5> kSubtraces{
      "systemTraceEvents", "powerTraceAsString", "androidProcessDump", "cgroupDump",
      "traceAnnotations"};
  if (contains(kOwn, key)) return TopLevelRule::own;
  if (key == "stackFrames") return TopLevelRule::frames;
  if (key == "samples") return TopLevelRule::samples;
  if (key == "viztracer_metadata" || key == "file_info") return TopLevelRule::dictionary;
  if (key == "metadata") return TopLevelRule::metadata;
  if (contains(kSubtraces, key)) return TopLevelRule::subtrace;
  if (key == "otherData") return TopLevelRule::other_data;
  return is_run_key(key) ? TopLevelRule::run : TopLevelRule::rank;
}

bool is_kept_metadata(std::string_view key) {
  return key == "clock-domain" || key == "highres-ticks";
}

bool is_kept_subtrace(const TopLevelEntry& entry) {
  return entry.key != "systemTraceEvents" || entry.value.starts_with('"');
}

std::optional<std::int64_t> time_sample(std::string_view sample) {
  if (!is_json_object(sample)) return std::nullopt;
  const std::optional<ParsedTime> time = parse_time(find_member(sample, "ts"));
  if (!time) return std::nullopt;
  return time->rounded_ns();
}

void survey_top_level(FileSurvey& survey) {
  for (TopLevelEntry& entry : survey.top_level) {
    make_strict(entry, survey.problems);
    if (entry.key == "displayTimeUnit" && entry.value != "\"ms\"" && entry.value != "\"ns\"")
      survey.problems.add(Problem::bad_time_unit, entry.offset);
    if (entry.key == "samples") {
      add_samples(survey, entry);
      mark_sampled_tracks(entry.value, survey.tracks);
    }
    if (entry.key == "stackFrames" && survey.evidence.was_merged_by_us())
      for_each_member(entry.value, [&](std::string_view id, std::string_view) {
        add_group(survey, std::string("\"").append(id) + '"');
      });
  }
}

void plan_subtraces(const std::vector<FileSurvey>& surveys, MergePlan& plan) {
  std::vector<std::size_t> owners;
  for (std::size_t file = 0; file < surveys.size(); ++file)
    for (const TopLevelEntry& entry : surveys[file].top_level)
      if (rule_of(entry.key) == TopLevelRule::subtrace && !is_empty_value(entry.value))
        owners.push_back(file);
  const bool has_one_owner = std::all_of(owners.begin(), owners.end(),
                                         [&](std::size_t file) { return file == owners[0]; });
  for (const std::size_t file : owners)
    plan.files[file].keeps_subtraces = has_one_owner && plan.files[file].times.moves_nothing();
  for (std::size_t file = 0; file < surveys.size(); ++file)
    for (const TopLevelEntry& entry : surveys[file].top_level)
      if (rule_of(entry.key) == TopLevelRule::subtrace && !is_empty_value(entry.value) &&
          !(plan.files[file].keeps_subtraces && is_kept_subtrace(entry)))
        plan.files[file].problems.add(Problem::subtrace_dropped, entry.offset);
}

}  // namespace traceloom
