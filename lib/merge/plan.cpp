#include "merge/plan.h"

#include "survey/clock_plan.h"

#include <algorithm>
#include <optional>

namespace traceloom {
namespace {

// Ids that a merge has written stay as they are when its output is merged again.
bool keeps_async_ids(const FileSurvey& survey) {
  return !survey.evidence.merged_by.empty() && !survey.has_other_async_ids;
}

const IdSet& async_ids(const FileSurvey& survey) {
  return keeps_async_ids(survey) ? survey.merged_async_ids : survey.async_ids;
}

// The size of the range that the ids of each file have to themselves.
template <typename IdsOf>
std::uint64_t id_range(const std::vector<FileSurvey>& surveys, IdsOf ids_of) {
  std::vector<const IdSet*> sets;
  for (const FileSurvey& survey : surveys) sets.push_back(&ids_of(survey));
  return common_id_range(sets);
}

}  // namespace

MergePlan make_plan(const std::vector<Input>& inputs, const std::vector<FileSurvey>& surveys,
                    bool keeps_begin_end) {
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

  MergePlan plan{{}, TrackPlan(surveys, ranks), clocks.origin_ns, sub_microsecond, keeps_begin_end};
  const std::uint64_t flow_range =
      id_range(surveys, [](const FileSurvey& s) -> const IdSet& { return s.flow_ids; });
  const std::uint64_t bind_range =
      id_range(surveys, [](const FileSurvey& s) -> const IdSet& { return s.bind_ids; });
  const std::uint64_t async_range = id_range(surveys, async_ids);
  std::uint64_t flow_begin = 0;
  std::uint64_t bind_begin = std::max(kFirstBindId, flow_range * surveys.size());
  std::uint64_t async_begin = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const FileSurvey& survey = surveys[i];
    const bool was_merged = !survey.evidence.merged_by.empty();
    const std::uint64_t bind_shift = was_merged ? kFirstBindId : 0;
    plan.files.push_back({inputs[i].path, ranks[i], clocks.clocks[i],
                          clocks.clocks[i].offset_ns - clocks.origin_ns,
                          IdMap(survey.flow_ids, flow_begin, flow_range),
                          IdMap(survey.bind_ids, bind_begin - bind_shift, bind_range),
                          IdMap(async_ids(survey), async_begin, async_range),
                          keeps_async_ids(survey), survey.orphan_ends});
    flow_begin += flow_range;
    bind_begin += bind_range;
    async_begin += async_range;
  }
  return plan;
}

}  // namespace traceloom
