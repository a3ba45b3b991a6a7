#include "analysis/replay/repair.h"

#include "base/ascii.h"
#include "base/problems.h"
#include "base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace traceloom {
namespace {

using Kind = Repair::Kind;

std::string_view kind_word(Kind kind) {
  constexpr std::array<std::string_view, 11> kWords{
      "rank",        "stage",    "link", "group",  "loader", "communication",
      "collectives", "messages", "axis", "launch", "kernel"};
  return kWords[static_cast<std::size_t>(kind)];
}

constexpr std::size_t kMostRanks = 100'000;  // of a group that is typed

std::string list_of(const std::vector<std::int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw UsageError(fmt::format(
      "--set '{}': {}; for example 'rank 5 = median', 'stage 3 = median', 'link 2-4 = median', "
      "'group 6,7 = median', 'kernel flash.* = -20%', 'loader = 0', 'tp = 0'",
      text, why));
}

// Reads what a kernel's time becomes: "-20%", or "0".
double parse_change(std::string_view text, std::string_view value) {
  if (value == "0") return -1;
  if (value.size() > 2 && value.front() == '-' && value.back() == '%')
    if (const auto percent = whole_number<double>(value.substr(1, value.size() - 2));
        percent && *percent >= 0 && *percent <= 100)
      return -*percent / 100;
  refuse(text, "a kernel's time becomes less by -0% to -100%");
}

std::vector<std::int64_t> parse_ranks(std::string_view text, std::string_view list, Kind kind) {
  std::vector<std::int64_t> ranks;
  const auto ranges = parse_number_ranges(list);
  if (!ranges) refuse(text, "no ranks");
  for (const NumberRange& range : *ranges) {
    // The ends of a link are no range.
    if (kind == Kind::link && range.first != range.last) ranks.push_back(range.first);
    for (std::int64_t rank = kind == Kind::link ? range.last : range.first;
         rank <= range.last && ranks.size() <= kMostRanks; ++rank)
      ranks.push_back(rank);
  }
  if (ranks.size() > kMostRanks) refuse(text, "no job has so many ranks");
  std::ranges::sort(ranks);
  if (ranks.empty() || (kind <= Kind::stage && ranks.size() != 1)) refuse(text, "one number");
  if (kind == Kind::link && ranks.size() != 2) refuse(text, "a link has two ranks");
  return ranks;
}

}  // namespace

Repair Repair::parse(std::string_view text) {
  const std::size_t sign = text.rfind('=');
  if (sign == std::string_view::npos) refuse(text, "no '='");
  const std::string_view what = trimmed(text.substr(0, sign));
  const std::string_view value = trimmed(text.substr(sign + 1));
  const std::size_t space = what.find(' ');
  const std::string_view word = what.substr(0, space);
  const std::string_view of = space == std::string_view::npos ? "" : trimmed(what.substr(space));
  Repair repair;
  if (word == "kernel" && !of.empty()) {
    repair.kind = Kind::kernel;
    repair.names.emplace(std::string(of));
    repair.change = parse_change(text, value);
    return repair;
  }
  for (const Kind kind : {Kind::rank, Kind::stage, Kind::link, Kind::group})
    if (word == kind_word(kind)) {
      if (value != "median") refuse(text, "it can be as the median of those like it alone");
      repair.kind = kind;
      repair.ranks = parse_ranks(text, of, kind);
      return repair;
    }
  if (value != "0" || !of.empty()) refuse(text, "it can be 0 alone");
  for (const Kind kind :
       {Kind::loader, Kind::communication, Kind::collectives, Kind::messages, Kind::launch})
    if (word == kind_word(kind)) {
      repair.kind = kind;
      return repair;
    }
  for (unsigned i = 0; i <= static_cast<unsigned>(Axis::other); ++i)
    if (word == to_string(static_cast<Axis>(i))) {
      repair.kind = Kind::axis;
      repair.axis = static_cast<Axis>(i);
      return repair;
    }
  refuse(text, fmt::format("'{}' is nothing that a job has", word));
}

std::string Repair::text() const {
  switch (kind) {
    case Kind::link:
      return fmt::format("link {}-{} = median", ranks[0], ranks[1]);
    case Kind::rank:
    case Kind::stage:
    case Kind::group:
      return fmt::format("{} {} = median", kind_word(kind), list_of(ranks));
    case Kind::kernel:
      return fmt::format("kernel {} = {:g}%", names->expression(), 100 * change);
    case Kind::axis:
      return fmt::format("{} = 0", to_string(axis));
    default:
      return fmt::format("{} = 0", kind_word(kind));
  }
}

std::string Repair::whom() const {
  std::string those = ranks_words(ranks, RankStyle::named);
  switch (kind) {
    case Kind::rank:
      return those;
    case Kind::stage:
      return fmt::format("stage {}", ranks.front());
    case Kind::link:
      return "the link of " + those;
    case Kind::group:
      return "the group of " + those;
    default:
      return "";
  }
}

std::string Repair::words() const {
  switch (kind) {
    case Kind::rank:
      return whom() + " like the others of its stage";
    case Kind::stage:
      return whom() + " like the other stages";
    case Kind::link:
      return whom() + " like the other links";
    case Kind::group:
      return whom() + " like the others of its kind";
    case Kind::loader:
      return "no waiting for data";
    case Kind::communication:
      return "all communication in no time";
    case Kind::axis:
      return fmt::format("{} of {} in no time",
                         axis == Axis::pipeline ? "communication" : "collectives", to_string(axis));
    case Kind::launch:
      return "the host's work between launches in no time";
    case Kind::kernel:
      return fmt::format("{} {:g} % faster", one_line(name()), -100 * change);
    default:
      return fmt::format("{} in no time", kind_word(kind));
  }
}

}  // namespace traceloom
