#include "merge/plan.h"

#include "base/error.h"
#include "base/units.h"
#include "merge/plan_checks.h"
#include "survey/clock_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace traceloom {
namespace {

// Ids that a merge has written stay as they are when its output is merged again.
bool keeps_async_ids(const FileSurvey& survey) {
  return survey.evidence.was_merged_by_us() && !survey.has_other_async_ids;
}

const IdSet& async_ids(const FileSurvey& survey) {
  return keeps_async_ids(survey) ? survey.merged_async_ids : survey.async_ids;
}

// The ranges of numbers that each file has to itself, of flows, binds and async events.
struct IdRanges {
  std::uint64_t merged_limit = kMergedIdLimit;  // of files that were merged before
  std::uint64_t flow = 0;  // of a file that was merged before: of its binds, too, which an earlier
                           // merge has kept apart from its flows
  std::uint64_t bind = 0;
  std::uint64_t async = 0;
};

IdRanges id_ranges(const std::vector<FileSurvey>& surveys, std::uint64_t merged_limit) {
  std::vector<std::uint64_t> flow;
  std::vector<std::uint64_t> bind;
  std::vector<std::uint64_t> async;
  for (const FileSurvey& survey : surveys) {
    const bool merged = survey.evidence.was_merged_by_us();
    const std::uint64_t limit = merged ? merged_limit : kPlainIdLimit;
    const std::uint64_t bind_range = survey.bind_ids.range(limit);
    flow.push_back(std::max(survey.flow_ids.range(limit), merged ? bind_range : 0));
    bind.push_back(merged ? 0 : bind_range);
    async.push_back(async_ids(survey).range(limit));
  }
  return {merged_limit, common_id_range(flow), common_id_range(bind), common_id_range(async)};
}

// Where the binds of files that were not merged before begin.
std::uint64_t first_bind_id(const IdRanges& ranges, std::size_t files) {
  return std::max(kFirstBindId, ranges.flow * files);
}

// Numbers of earlier merges stay plain unless all of them together are more than a JavaScript
// number holds.
IdRanges id_ranges(const std::vector<FileSurvey>& surveys) {
  const IdRanges ranges = id_ranges(surveys, kMergedIdLimit);
  const std::uint64_t files = surveys.size();
  const bool fit = ranges.flow < kMergedIdLimit / files &&
                   ranges.bind < (kMergedIdLimit - first_bind_id(ranges, files)) / files &&
                   ranges.async < kMergedIdLimit / files;
  return fit ? ranges : id_ranges(surveys, kPlainIdLimit);
}

std::int64_t choose_origin(const ClockPlan& clocks, const std::vector<FileSurvey>& surveys,
                           const PlanOptions& options) {
  if (options.origin == OriginKind::first_event) return clocks.origin_ns;
  const std::int64_t origin_ns = options.origin == OriginKind::keep ? 0 : options.origin_ns;
  const bool has_events = std::any_of(surveys.begin(), surveys.end(),
                                      [](const FileSurvey& survey) { return survey.first_ns; });
  if (has_events && clocks.origin_ns < origin_ns)
    throw UsageError(
        fmt::format("--origin: the first event is {} before it; name {} or earlier, or min",
                    format_duration(origin_ns - clocks.origin_ns), clocks.origin_ns));
  return origin_ns;
}

}  // namespace

MergePlan make_plan(const std::vector<Input>& inputs, const std::vector<FileSurvey>& surveys,
                    const PlanOptions& options) {
  std::vector<FileEvidence> evidence;
  std::vector<std::optional<std::int64_t>> first_ns;
  bool sub_microsecond = false;
  for (const FileSurvey& survey : surveys) {
    evidence.push_back(survey.evidence);
    first_ns.push_back(survey.first_ns);
    sub_microsecond |= survey.sub_microsecond;
  }
  const std::vector<FileRank> ranks = assign_ranks(inputs, evidence);
  const ClockPlan clocks = plan_clocks(inputs, evidence, ranks, first_ns, options.clock);
  if (options.clock.align_by != AlignBy::none)
    refuse_unknown_clocks(inputs, surveys, ranks, clocks);
  refuse_duplicates(inputs, surveys, ranks, clocks);
  const std::int64_t origin_ns = choose_origin(clocks, surveys, options);

  MergePlan plan{{},
                 TrackPlan(surveys, ranks),
                 origin_ns,
                 sub_microsecond,
                 options.keep_begin_end,
                 clocks.origin_ns};
  const IdRanges ranges_of_ids = id_ranges(surveys);
  std::uint64_t flow_begin = 0;
  std::uint64_t bind_begin = first_bind_id(ranges_of_ids, surveys.size());
  std::uint64_t async_begin = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const FileSurvey& survey = surveys[i];
    const bool merged = survey.evidence.was_merged_by_us();
    const std::uint64_t limit = merged ? ranges_of_ids.merged_limit : kPlainIdLimit;
    plan.files.push_back({inputs[i].path, ranks[i], clocks.clocks[i],
                          clocks.clocks[i].offset_ns - origin_ns,
                          IdMap(survey.flow_ids, flow_begin, ranges_of_ids.flow, limit),
                          merged ? IdMap(survey.bind_ids, flow_begin, ranges_of_ids.flow, limit)
                                 : IdMap(survey.bind_ids, bind_begin, ranges_of_ids.bind),
                          IdMap(async_ids(survey), async_begin, ranges_of_ids.async, limit),
                          keeps_async_ids(survey), survey.orphan_ends});
    flow_begin += ranges_of_ids.flow;
    bind_begin += ranges_of_ids.bind;
    async_begin += ranges_of_ids.async;
  }
  return plan;
}

}  // namespace traceloom
