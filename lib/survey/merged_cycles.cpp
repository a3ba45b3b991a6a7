#include "survey/merged_cycles.h"

#include "base/json_walk.h"
#include "base/saturating.h"
#include "event/event.h"
#include "survey/json_member.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace traceloom {
namespace {

std::optional<MergedCycle> read_cycle(std::string_view cycle) {
  const std::string_view name = find_member(cycle, "cycle");
  const auto sync_us = json_integer(find_member(cycle, "sync_us"));
  const auto first_ns = json_integer(find_member(cycle, "first_ns"));
  if (!is_json_string(name) || !sync_us || !first_ns) return std::nullopt;
  return MergedCycle{decoded(name), *sync_us, *first_ns,
                     json_integer(find_member(cycle, "error_bound_us"))};
}

// A cycle by what one file says.
struct Found {
  std::int64_t rank;
  MergedCycle cycle;
};

// The lowest rank says when it was and what it is called: the reference is not shifted.
void join(Found& known, const Found& other) {
  const std::int64_t first_ns = std::min(known.cycle.first_ns, other.cycle.first_ns);
  std::optional<std::int64_t> bound_us = known.cycle.error_bound_us;
  if (other.cycle.error_bound_us)
    bound_us =
        std::min(*other.cycle.error_bound_us, bound_us.value_or(*other.cycle.error_bound_us));
  if (other.rank < known.rank) known = other;
  known.cycle.first_ns = first_ns;
  known.cycle.error_bound_us = bound_us;
}

// On the common clock.
std::int64_t moment_us(const ClockFacts& file, const FileClock& clock) {
  const std::int64_t shift_ns = saturating_subtract(clock.offset_ns, file.base_ns.value_or(0));
  return saturating_add(*file.sync_us, shift_ns / 1000);
}

}  // namespace

std::vector<MergedCycle> read_cycles(std::string_view traceloom) {
  std::vector<MergedCycle> cycles;
  bool is_whole = true;
  for_each_element(find_member(traceloom, "cycles"), [&](std::string_view element) {
    if (std::optional<MergedCycle> cycle = read_cycle(element))
      cycles.push_back(*std::move(cycle));
    else
      is_whole = false;
  });
  const auto not_before = [](const MergedCycle& a, const MergedCycle& b) {
    return a.first_ns >= b.first_ns;
  };
  const bool ascend = std::ranges::adjacent_find(cycles, not_before) == cycles.end();
  return is_whole && ascend ? cycles : std::vector<MergedCycle>{};
}

std::vector<MergedCycle> find_cycles(const std::vector<ClockFacts>& files,
                                     const std::vector<FileClock>& clocks,
                                     const std::vector<StartTimes>& starts) {
  std::map<std::size_t, Found> found;  // by FileClock::cycle
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!clocks[i].cycle || starts[i].empty()) continue;
    const Found one{files[i].rank,
                    {files[i].cycle, moment_us(files[i], clocks[i]),
                     common_times(starts[i], clocks[i].times).first_ns, files[i].error_bound_us}};
    const auto [known, is_new] = found.emplace(*clocks[i].cycle, one);
    if (!is_new) join(known->second, one);
  }
  std::vector<MergedCycle> cycles;
  cycles.reserve(found.size());
  for (auto& [number, one] : found) cycles.push_back(std::move(one.cycle));
  std::ranges::sort(cycles, {}, &MergedCycle::first_ns);
  return cycles;
}

std::vector<ClockFacts> parts_of(const ClockFacts& file, const std::vector<MergedCycle>& cycles) {
  if (cycles.size() < 2 || !file.is_merged) return {file};
  std::vector<ClockFacts> parts;
  for (const MergedCycle& cycle : cycles) {
    ClockFacts& part = parts.emplace_back(file);
    part.cycle = cycle.name;
    part.sync_us = cycle.sync_us;
    part.error_bound_us = cycle.error_bound_us;
    part.first_ns = saturating_subtract(cycle.first_ns, file.base_ns.value_or(0));
  }
  return parts;
}

FileClock join_parts(const ClockFacts& file, const std::vector<MergedCycle>& cycles,
                     std::vector<FileClock> parts) {
  FileClock clock = parts.front();
  if (parts.size() == 1) return clock;
  std::vector<TimeMap::Piece> pieces;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    pieces.push_back({cycles[i].first_ns, parts[i].times});
    if (i == 0) continue;
    clock.problems.add(parts[i].problems);
    if (!parts[i].error_ns)
      clock.error_ns.reset();
    else if (clock.error_ns)
      clock.error_ns = std::max(*clock.error_ns, *parts[i].error_ns);
  }
  clock.times = TimeMap::joined(file.base_ns.value_or(0), std::move(pieces));
  return clock;
}

}  // namespace traceloom
