#include "survey/clock_plan.h"

#include "survey/trace_name.h"

#include <set>

namespace traceloom {
namespace {

std::optional<std::int64_t> first_value(const DistinctMarks& marks) {
  return marks.empty() ? std::nullopt : std::optional(marks.front().value);
}

std::optional<std::int64_t> sync_of(const FileEvidence& evidence) {
  const std::optional<std::int64_t> event = first_value(evidence.syncs);
  return event ? event : evidence.top_level_sync_us;
}

// Each value that is not the one that was chosen, once.
void count_sync_conflicts(const FileEvidence& evidence, ProblemCounts& problems) {
  std::set<std::optional<std::int64_t>> met{sync_of(evidence)};
  for (const Mark& mark : evidence.syncs)
    if (met.insert(mark.value).second) problems.add(Problem::sync_conflict, mark.offset);
  if (evidence.top_level_sync_us && met.insert(evidence.top_level_sync_us).second)
    problems.add(Problem::sync_conflict, 0);
}

void count_world_sizes(const std::vector<FileEvidence>& evidence, std::vector<FileClock>& clocks) {
  std::optional<std::int64_t> world_size;
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    if (!world_size) world_size = evidence[i].world_size;
    if (evidence[i].world_size && evidence[i].world_size != world_size)
      clocks[i].problems.add(Problem::world_size_disagrees, 0);
  }
}

}  // namespace

ClockPlan plan_clocks(const std::vector<Input>& inputs, const std::vector<FileEvidence>& evidence,
                      const std::vector<FileRank>& ranks,
                      const std::vector<std::optional<std::int64_t>>& first_ns,
                      const ClockOptions& options) {
  ClockPlan plan;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ClockFacts file;
    file.rank = ranks[i].rank;
    file.base_ns = evidence[i].base_ns;
    file.first_ns = first_ns[i];
    file.cycle = cycle_of_name(inputs[i].path);
    file.is_merged = evidence[i].was_merged();  // also when RANK=path makes one rank of it
    if (!file.is_merged) {
      file.sync_us = sync_of(evidence[i]);
      file.error_bound_us = first_value(evidence[i].error_bounds);
    }
    plan.facts.push_back(std::move(file));
  }
  plan.clocks = align(plan.facts, options);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!plan.facts[i].is_merged) count_sync_conflicts(evidence[i], plan.clocks[i].problems);
  count_world_sizes(evidence, plan.clocks);
  plan.origin_ns = common_origin_ns(plan.facts, plan.clocks);
  return plan;
}

}  // namespace traceloom
