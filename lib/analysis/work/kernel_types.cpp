#include "analysis/work/kernel_types.h"

#include "base/saturating.h"
#include "per_rank/per_rank.h"

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace traceloom {
namespace {

constexpr std::array<std::string_view, 3> kTypes{"computation", "communication", "memory"};
using TypeSets = std::array<Intervals, kTypes.size()>;

std::size_t type_of(Role role) {
  if (role == Role::kernel) return 0;
  return role == Role::communication ? 1 : 2;
}

// Returns the instants at which exactly the types of `mask` run.
Intervals only(const TypeSets& sets, std::size_t mask) {
  Intervals instants;
  bool any = false;
  for (std::size_t type = 0; type < sets.size(); ++type) {
    if ((mask >> type & 1U) == 0) continue;
    instants = any ? intersect(instants, sets[type]) : sets[type];
    any = true;
  }
  for (std::size_t type = 0; type < sets.size(); ++type)
    if ((mask >> type & 1U) == 0) instants = subtract(instants, sets[type]);
  return instants;
}

std::string name_of(std::size_t mask) {
  std::string name;
  for (std::size_t type = 0; type < kTypes.size(); ++type)
    if ((mask >> type & 1U) != 0) {
      if (!name.empty()) name += " overlapping ";
      name += kTypes[type];
    }
  return name;
}

// The time of each mask of types.
using MaskTimes = std::array<std::int64_t, std::size_t{1} << kTypes.size()>;

MaskTimes find_mask_times(const Run& run, const RankEvents& rank) {
  std::map<std::int32_t, TypeSets> devices;
  rank.for_each_device([&](const DeviceSpan& span) {
    devices[span.device][type_of(run.labels.kind(span.label).role)].push_back(span.interval());
  });
  MaskTimes times{};
  for (auto& [device, sets] : devices) {
    for (Intervals& set : sets) set = unite(std::move(set));
    for (std::size_t mask = 1; mask < times.size(); ++mask)
      add_to(times[mask], total_ns(only(sets, mask)));
  }
  return times;
}

}  // namespace

Table kernel_types_table(const Run& run) {
  MaskTimes sums{};
  std::int64_t all_ns = 0;
  const auto find = [&](std::size_t rank) { return find_mask_times(run, run.ranks[rank]); };
  for (const MaskTimes& times : per_rank<MaskTimes>(run, find))
    for (std::size_t mask = 1; mask < sums.size(); ++mask) {
      add_to(sums[mask], times[mask]);
      add_to(all_ns, times[mask]);
    }
  Table table({{"type", "Type", ColumnKind::text},
               {"total_ns", "Total", ColumnKind::duration},
               {"share", "Share", ColumnKind::share}});
  for (std::size_t mask = 1; mask < sums.size(); ++mask)
    if (sums[mask] > 0)
      table.add_row({name_of(mask), sums[mask],
                     static_cast<double>(sums[mask]) / static_cast<double>(all_ns)});
  table.sort_by("total_ns");
  return table;
}

}  // namespace traceloom
