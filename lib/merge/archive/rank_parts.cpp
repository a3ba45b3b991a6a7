#include "merge/archive/rank_parts.h"

#include "identity/clocks/clock_plan.h"

#include <algorithm>
#include <map>
#include <set>

namespace traceloom {
namespace {

// Returns the ranks to write: with a filter, only those with events left.
std::set<std::int64_t> written_ranks(const MergePlan& plan) {
  std::set<std::int64_t> ranks;
  for (const OutputProcess& process : plan.filter ? plan.filter->rows() : plan.tracks.processes())
    ranks.insert(process.rank);
  return ranks;
}

// Returns the time of the first event, floored to a whole microsecond.
std::int64_t first_event_of(const MergePlan& plan, const std::vector<FileSurvey>& surveys,
                            const std::vector<std::size_t>& files) {
  std::vector<StartTimes> starts;
  std::vector<FileClock> clocks;
  for (const std::size_t file : files) {
    if (surveys[file].starts.empty()) continue;
    starts.push_back(surveys[file].starts);
    clocks.push_back(plan.files[file].clock);
  }
  return starts.empty() ? plan.origin_ns : common_origin_ns(starts, clocks);
}

void move_origin(MergePlan& plan, std::int64_t origin_ns) {
  for (FilePlan& file : plan.files) file.times = file.clock.times.since(origin_ns);
  if (plan.filter) plan.filter->move_origin(plan.origin_ns - origin_ns);
  plan.origin_ns = origin_ns;
}

}  // namespace

std::vector<RankPart> parts_of(const MergePlan& plan, const std::vector<FileSurvey>& surveys) {
  std::map<std::int64_t, RankPart> parts;
  for (const std::int64_t rank : written_ranks(plan)) parts[rank].rank = rank;
  for (const std::size_t file : plan.order) {
    if (plan.filter && !plan.filter->reads(file)) continue;
    for (const std::int64_t rank : plan.tracks.ranks_of(file))
      if (parts.contains(rank)) parts[rank].files.push_back(file);
  }
  std::vector<RankPart> result;
  for (auto& [rank, part] : parts) {
    part.origin_ns = result.empty()
                         ? plan.origin_ns
                         : std::max(plan.origin_ns, first_event_of(plan, surveys, part.files));
    result.push_back(std::move(part));
  }
  return result;
}

void narrow(MergePlan& plan, const RankPart& part) {
  move_origin(plan, part.origin_ns);
  plan.only_rank = part.rank;
}

void widen(MergePlan& plan, std::int64_t origin_ns) {
  move_origin(plan, origin_ns);
  plan.only_rank.reset();
}

}  // namespace traceloom
