#include "identity/clocks/shift_lines.h"

#include "base/saturating.h"
#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

constexpr std::size_t kMostLines = 8;
constexpr std::size_t kMostRanges = 8;

struct Group {
  std::size_t file = 0;
  std::size_t files = 0;
  std::set<std::int64_t> ranks = {};
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
  std::int64_t least_bound_ns = 0;
  std::int64_t most_bound_ns = 0;
  bool contradicts = true;
};

std::vector<Group> group_alike(std::vector<RankShift> shifts) {
  std::ranges::stable_sort(
      shifts, {}, [](const RankShift& one) { return std::pair(one.contradicts, one.shift_ns); });
  std::vector<Group> groups;
  for (const RankShift& shift : shifts) {
    const bool is_alike = !groups.empty() && groups.back().contradicts == shift.contradicts &&
                          saturating_subtract(shift.shift_ns, groups.back().least_ns) <=
                              std::min(shift.bound_ns, groups.back().least_bound_ns);
    if (!is_alike)
      groups.push_back({.file = shift.file,
                        .least_ns = shift.shift_ns,
                        .least_bound_ns = shift.bound_ns,
                        .most_bound_ns = shift.bound_ns,
                        .contradicts = shift.contradicts});
    Group& group = groups.back();
    if (!group.ranks.empty() && shift.ranks.front() < *group.ranks.begin()) group.file = shift.file;
    ++group.files;
    group.ranks.insert(shift.ranks.begin(), shift.ranks.end());
    group.most_ns = shift.shift_ns;
    group.least_bound_ns = std::min(group.least_bound_ns, shift.bound_ns);
    group.most_bound_ns = std::max(group.most_bound_ns, shift.bound_ns);
  }
  std::ranges::stable_sort(groups, {}, [](const Group& group) { return *group.ranks.begin(); });
  return groups;
}

std::string signed_duration(std::int64_t ns) {
  return fmt::format("{}{}", ns > 0 ? "+" : "", format_duration(ns));
}

std::string range_words(std::int64_t least_ns, std::int64_t most_ns) {
  const std::string least = signed_duration(least_ns);
  const std::string most = signed_duration(most_ns);
  return least == most ? least : least + " to " + most;
}

std::string words_of(const Group& group, const EndSpread& ends) {
  const std::string_view whose = group.ranks.size() == 1 ? "its" : "their";
  std::string why = fmt::format("{} collectives end with the others'", whose);
  if (!group.contradicts)
    why = ends.then_ns < ends.now_ns
              ? fmt::format("the ends of the collectives come from {} to {} apart",
                            format_duration(ends.now_ns), format_duration(ends.then_ns))
              : fmt::format("{} collectives and messages are possible then", whose);
  return fmt::format("{} shifted by {}: {} (±{})", ranks_words(group.ranks),
                     range_words(group.least_ns, group.most_ns), why,
                     format_duration(group.most_bound_ns));
}

// Adds the ranks whose shifts are small to the last line.
void add_small(const std::vector<RankShift>& small, ShiftLine& line) {
  std::set<std::int64_t> ranks;
  std::int64_t least_ns = small.front().shift_ns;
  std::int64_t most_ns = small.front().shift_ns;
  for (const RankShift& shift : small) {
    ranks.insert(shift.ranks.begin(), shift.ranks.end());
    least_ns = std::min(least_ns, shift.shift_ns);
    most_ns = std::max(most_ns, shift.shift_ns);
  }
  line.files += small.size();
  line.words += fmt::format("; {} by {}, less than the ends are still apart", ranks_words(ranks),
                            range_words(least_ns, most_ns));
}

ShiftLine line_of_rest(const std::vector<Group>& groups) {
  ShiftLine line{groups[kMostLines - 1].file, 0, {}};
  std::set<std::int64_t> ranks;
  std::int64_t least_ns = groups.back().least_ns;
  std::int64_t most_ns = groups.back().most_ns;
  for (std::size_t i = kMostLines - 1; i < groups.size(); ++i) {
    line.files += groups[i].files;
    ranks.insert(groups[i].ranks.begin(), groups[i].ranks.end());
    least_ns = std::min(least_ns, groups[i].least_ns);
    most_ns = std::max(most_ns, groups[i].most_ns);
  }
  line.words = fmt::format("and {} more ranks, by {} to {} (see --report)", ranks.size(),
                           signed_duration(least_ns), signed_duration(most_ns));
  return line;
}

}  // namespace

std::vector<ShiftLine> shift_lines(std::vector<RankShift> shifts, const EndSpread& ends) {
  const auto large_end = std::stable_partition(shifts.begin(), shifts.end(),
                                               [](const RankShift& one) { return !one.is_small; });
  std::vector<RankShift> small(large_end, shifts.end());
  if (small.size() == shifts.size()) small.clear();
  shifts.resize(shifts.size() - small.size());
  const std::vector<Group> groups = group_alike(std::move(shifts));
  std::vector<ShiftLine> lines;
  for (const Group& group : groups) {
    if (groups.size() > kMostLines && lines.size() + 1 == kMostLines) {
      lines.push_back(line_of_rest(groups));
      break;
    }
    lines.push_back({group.file, group.files, words_of(group, ends)});
  }
  if (!small.empty()) add_small(small, lines.back());
  return lines;
}

std::string offset_option(const ClockFacts& facts, const FileClock& clock, std::int64_t ahead_ns) {
  const std::int64_t now_ns = saturating_subtract(clock.offset_ns, facts.base_ns.value_or(0));
  return fmt::format("--offset {}={}ns", facts.rank, saturating_subtract(now_ns, ahead_ns));
}

std::string ranks_words(const std::set<std::int64_t>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s",
                     rank_ranges({ranks.begin(), ranks.end()}));
}

std::string rank_ranges(const std::vector<std::int64_t>& ranks) {
  std::string words;
  std::size_t named = 0;
  for (std::size_t i = 0; i < ranks.size();) {
    if (named++ == kMostRanges) return words + fmt::format(" and {} more", ranks.size() - i);
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!words.empty()) words += ", ";
    words += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return words;
}

}  // namespace traceloom
