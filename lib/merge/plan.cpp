#include "merge/plan.h"

#include "survey/clock_plan.h"

#include <algorithm>
#include <optional>

namespace traceloom {

MergePlan make_plan(const std::vector<Input>& inputs, const std::vector<FileSurvey>& surveys) {
  std::vector<FileEvidence> evidence;
  std::vector<std::optional<std::int64_t>> first_ns;
  bool sub_microsecond = false;
  for (const FileSurvey& survey : surveys) {
    evidence.push_back(survey.evidence);
    first_ns.push_back(survey.first_ns);
    sub_microsecond |= survey.sub_microsecond;
  }
  const std::vector<FileRank> ranks = assign_ranks(inputs, evidence);
  const ClockPlan clocks = plan_clocks(inputs, evidence, ranks, first_ns);

  MergePlan plan{{}, TrackPlan(surveys, ranks), clocks.origin_ns, sub_microsecond};
  std::uint64_t flow_base = 0;
  std::uint64_t flow_end = 0;
  for (const FileSurvey& survey : surveys) flow_end = IdMap(survey.flow_ids, flow_end).end();
  std::uint64_t bind_base = std::max(kFirstBindId, flow_end);
  std::uint64_t async_base = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const FileSurvey& survey = surveys[i];
    const bool was_merged = !survey.evidence.merged_by.empty();
    const bool keeps_async_ids = was_merged && !survey.has_other_async_ids;
    plan.files.push_back(
        {inputs[i].path, ranks[i], clocks.clocks[i], clocks.clocks[i].offset_ns - clocks.origin_ns,
         IdMap(survey.flow_ids, flow_base),
         IdMap(survey.bind_ids, was_merged ? bind_base - kFirstBindId : bind_base),
         IdMap(keeps_async_ids ? survey.merged_async_ids : survey.async_ids, async_base),
         keeps_async_ids, survey.orphan_ends});
    flow_base = plan.files.back().flow_ids.end();
    bind_base = plan.files.back().bind_ids.end();
    async_base = plan.files.back().async_ids.end();
  }
  return plan;
}

}  // namespace traceloom
