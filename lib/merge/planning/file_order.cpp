#include "merge/planning/file_order.h"

#include "identity/evidence/start_times.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>

namespace traceloom {

std::vector<std::size_t> file_order(const std::vector<FileSurvey>& surveys, const MergePlan& plan) {
  std::map<std::int64_t, std::vector<std::size_t>> cycles;
  for (std::size_t file = 0; file < plan.files.size(); ++file) {
    const FileRank& rank = plan.files[file].rank;
    if (!rank.is_merged() && !surveys[file].starts.empty()) cycles[rank.rank].push_back(file);
  }
  const auto first_ns = [&](std::size_t file) {
    return common_times(surveys[file].starts, plan.files[file].clock.times).first_ns;
  };
  std::vector<std::size_t> order(plan.files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const auto& [rank, places] : cycles) {
    std::vector<std::size_t> by_time = places;
    std::stable_sort(by_time.begin(), by_time.end(),
                     [&](std::size_t a, std::size_t b) { return first_ns(a) < first_ns(b); });
    for (std::size_t i = 0; i < places.size(); ++i) order[places[i]] = by_time[i];
  }
  return order;
}

}  // namespace traceloom
