#include "comparison/side_means.h"

#include "base/saturating.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>

namespace traceloom {
namespace {

const CaptureRank* find_rank(const Capture& capture, std::int64_t rank) {
  for (const CaptureRank& one : capture.ranks)
    if (one.rank == rank && one.steps > 0) return &one;
  return nullptr;
}

}  // namespace

std::vector<std::int64_t> divide_parts(const std::vector<std::int64_t>& parts, std::int64_t by) {
  std::vector<std::int64_t> quotients;
  quotients.reserve(parts.size());
  std::int64_t remainders = 0;
  for (const std::int64_t part : parts) {
    quotients.push_back(part / by);
    remainders += part % by;
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a] % by > parts[b] % by; });
  for (std::size_t i = 0; i < static_cast<std::size_t>(remainders / by); ++i) ++quotients[order[i]];
  return quotients;
}

std::int64_t SideRank::role_ns(Role role) const {
  std::int64_t sum = 0;
  for (const SideRow& row : rows)
    if (row.key.role == role) add_to(sum, row.exclusive_ns);
  return sum;
}

SideRank side_rank(const std::vector<Capture>& captures, std::int64_t rank) {
  std::map<RowKey, SideRow> rows;
  std::map<RowKey, double> totals;
  const CaptureRank* first = nullptr;
  std::int64_t used = 0;
  for (const Capture& capture : captures) {
    const CaptureRank* const one = find_rank(capture, rank);
    if (one == nullptr) continue;
    if (first == nullptr) first = one;
    ++used;
    std::vector<std::int64_t> parts;
    parts.reserve(one->rows.size());
    for (const CaptureRow& row : one->rows) parts.push_back(row.exclusive_ns);
    const auto steps = static_cast<std::int64_t>(one->steps);
    const std::vector<std::int64_t> means = divide_parts(parts, steps);
    for (std::size_t i = 0; i < means.size(); ++i) {
      const CaptureRow& row = one->rows[i];
      SideRow& sum = rows.try_emplace(row.key, SideRow{row.key}).first->second;
      add_to(sum.exclusive_ns, means[i]);
      sum.count += static_cast<double>(row.count) / static_cast<double>(steps);
      totals[row.key] += static_cast<double>(row.total_ns) / static_cast<double>(steps);
    }
  }
  SideRank side;
  side.rank = rank;
  if (used == 0) return side;
  std::vector<std::int64_t> sums;
  for (auto& [key, row] : rows) {
    sums.push_back(row.exclusive_ns);
    side.rows.push_back(std::move(row));
  }
  const std::vector<std::int64_t> means = divide_parts(sums, used);
  for (std::size_t i = 0; i < means.size(); ++i) {
    SideRow& row = side.rows[i];
    row.exclusive_ns = means[i];
    add_to(side.step_ns, means[i]);
    row.count /= static_cast<double>(used);
    row.total_ns = std::llround(totals[row.key] / static_cast<double>(used));
  }
  for (const std::uint32_t row : first->sequence) {
    const auto place = std::lower_bound(
        side.rows.begin(), side.rows.end(), first->rows[row].key,
        [](const SideRow& some, const RowKey& wanted) { return some.key < wanted; });
    side.sequence.push_back(static_cast<std::uint32_t>(place - side.rows.begin()));
  }
  return side;
}

std::vector<std::int64_t> ranks_with_steps(const std::vector<Capture>& captures) {
  std::set<std::int64_t> ranks;
  for (const Capture& capture : captures)
    for (const CaptureRank& rank : capture.ranks)
      if (rank.steps > 0) ranks.insert(rank.rank);
  return {ranks.begin(), ranks.end()};
}

}  // namespace traceloom
