#include "survey/clock_plan.h"

#include "survey/lost_base.h"
#include "survey/trace_name.h"

#include <set>

namespace traceloom {
namespace {

std::optional<std::int64_t> first_value(const DistinctMarks& marks) {
  return marks.empty() ? std::nullopt : std::optional(marks.front().value);
}

// Each value that is not the one that was chosen, once.
void count_sync_conflicts(const FileEvidence& evidence, ProblemCounts& problems) {
  std::set<std::optional<std::int64_t>> met{evidence.sync_us()};
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

std::vector<std::optional<LostBase>> lost_bases(const std::vector<FileEvidence>& evidence,
                                                const std::vector<StartTimes>& starts) {
  std::vector<FileTimes> files;
  for (std::size_t i = 0; i < evidence.size(); ++i) files.push_back({evidence[i], starts[i]});
  return find_lost_bases(files);
}

void place_relative_times(ClockFacts& file, const LostBase& base, const StartTimes& starts) {
  if (!starts.is_mixed()) {
    file.base_ns = base.base_ns;
    return;
  }
  file.first_ns = starts.unix_time().first;
  file.first_relative_ns = starts.relative().first;
  file.relative_base_ns = base.base_ns;
}

// Of a mixed file all on the clock of its Unix times.
std::vector<SyncEvent> sync_events_of(const FileEvidence& evidence, const ClockFacts& file) {
  std::vector<SyncEvent> events = evidence.sync_marks.events();
  if (file.relative_base_ns)
    for (SyncEvent& event : events)
      event.moment_ns = TimeMap(*file.relative_base_ns, 0).mapped_or_same(event.moment_ns);
  return events;
}

void count_lost_base(const LostBase& base, ProblemCounts& problems) {
  const Problem problem =
      base.by == LostBase::By::guess ? Problem::base_guessed : Problem::base_restored;
  problems.add(problem, 0);
  problems.explain(problem, to_string(base));
}

}  // namespace

ClockPlan plan_clocks(const std::vector<Input>& inputs, const std::vector<FileEvidence>& evidence,
                      const std::vector<FileRank>& ranks, const std::vector<StartTimes>& starts,
                      const ClockOptions& options) {
  const std::vector<std::optional<LostBase>> bases = lost_bases(evidence, starts);
  ClockPlan plan;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ClockFacts file;
    file.rank = ranks[i].rank;
    file.base_ns = evidence[i].base_ns;
    file.first_ns = starts[i].first_ns();
    if (bases[i]) place_relative_times(file, *bases[i], starts[i]);
    file.cycle = cycle_of_name(inputs[i].path);
    file.is_merged = evidence[i].was_merged();  // also when RANK=path makes one rank of it
    if (!file.is_merged) {
      file.sync_us = evidence[i].sync_us();
      file.error_bound_us = first_value(evidence[i].error_bounds);
      file.sync_events = sync_events_of(evidence[i], file);
    }
    plan.facts.push_back(std::move(file));
  }
  plan.clocks = align(plan.facts, options);
  if (options.align_by != AlignBy::none)
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (bases[i]) count_lost_base(*bases[i], plan.clocks[i].problems);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!plan.facts[i].is_merged) count_sync_conflicts(evidence[i], plan.clocks[i].problems);
  count_world_sizes(evidence, plan.clocks);
  plan.origin_ns = common_origin_ns(plan.facts, plan.clocks);
  return plan;
}

}  // namespace traceloom
