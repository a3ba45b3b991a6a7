#include "analysis/work/kernel_types.h"

#include "base/saturating.h"

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

}  // namespace

Table kernel_types_table(const Run& run) {
  std::array<std::int64_t, std::size_t{1} << kTypes.size()> sums{};
  std::int64_t all_ns = 0;
  for (const RankEvents& rank : run.ranks) {
    std::map<std::int32_t, TypeSets> devices;
    rank.for_each_device([&](const DeviceSpan& span) {
      devices[span.device][type_of(run.labels.kind(span.label).role)].push_back(span.interval());
    });
    for (auto& [device, sets] : devices) {
      for (Intervals& set : sets) set = unite(std::move(set));
      for (std::size_t mask = 1; mask < sums.size(); ++mask) {
        const std::int64_t ns = total_ns(only(sets, mask));
        add_to(sums[mask], ns);
        add_to(all_ns, ns);
      }
    }
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
