#include "identity/clocks/shift_lines.h"

#include "base/saturating.h"
#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
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
};

std::vector<Group> group_alike(std::vector<RankShift> shifts) {
  std::ranges::stable_sort(shifts, {}, &RankShift::shift_ns);
  std::vector<Group> groups;
  for (const RankShift& shift : shifts) {
    const bool is_alike =
        !groups.empty() && saturating_subtract(shift.shift_ns, groups.back().least_ns) <=
                               std::min(shift.bound_ns, groups.back().least_bound_ns);
    if (!is_alike)
      groups.push_back({.file = shift.file,
                        .least_ns = shift.shift_ns,
                        .least_bound_ns = shift.bound_ns,
                        .most_bound_ns = shift.bound_ns});
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

std::string words_of(const Group& group) {
  const std::string least = signed_duration(group.least_ns);
  const std::string most = signed_duration(group.most_ns);
  const bool is_one = group.ranks.size() == 1;
  return fmt::format("rank{} {} shifted by {}{}: {} collectives end with the others' (±{})",
                     is_one ? "" : "s", rank_ranges({group.ranks.begin(), group.ranks.end()}),
                     least, least == most ? "" : " to " + most, is_one ? "its" : "their",
                     format_duration(group.most_bound_ns));
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

std::vector<ShiftLine> shift_lines(std::vector<RankShift> shifts) {
  const std::vector<Group> groups = group_alike(std::move(shifts));
  std::vector<ShiftLine> lines;
  for (const Group& group : groups) {
    if (groups.size() > kMostLines && lines.size() + 1 == kMostLines) {
      lines.push_back(line_of_rest(groups));
      break;
    }
    lines.push_back({group.file, group.files, words_of(group)});
  }
  return lines;
}

std::string offset_option(const ClockFacts& facts, const FileClock& clock, std::int64_t ahead_ns) {
  const std::int64_t now_ns = saturating_subtract(clock.offset_ns, facts.base_ns.value_or(0));
  return fmt::format("--offset {}={}ns", facts.rank, saturating_subtract(now_ns, ahead_ns));
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
