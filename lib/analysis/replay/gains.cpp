#include "analysis/replay/gains.h"

#include "analysis/numbers.h"
#include "base/arithmetic.h"
#include "base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace traceloom {
namespace {

constexpr std::int64_t kMostOff = 50;  // the replay is off by at most a 50th of the step

// Returns the ranks that are to be like others, and appends the other repairs to `others`.
std::vector<std::int64_t> ranks_of(const Gain& gain, std::vector<const Repair*>& others) {
  std::vector<std::int64_t> ranks;
  for (const Repair& repair : gain.repairs)
    if (repair.kind == Repair::Kind::rank)
      ranks.push_back(repair.ranks.front());
    else
      others.push_back(&repair);
  std::ranges::sort(ranks);
  return ranks;
}

template <typename Text>
std::string joined(const Gain& gain, std::string_view of_stage, std::string_view of_stages,
                   Text text) {
  std::vector<const Repair*> others;
  const std::vector<std::int64_t> ranks = ranks_of(gain, others);
  std::string all;
  if (!ranks.empty())
    all = ranks_words(ranks, RankStyle::named) +
          std::string(ranks.size() == 1 ? of_stage : of_stages);
  for (const Repair* const repair : others) all += (all.empty() ? "" : " and ") + (repair->*text)();
  return all;
}

}  // namespace

std::string Gain::whom() const {
  return joined(*this, "", "", &Repair::whom);
}

std::string Gain::words() const {
  return joined(*this, " like the others of its stage", " like the others of their stages",
                &Repair::words);
}

std::string Gain::set() const {
  std::vector<std::string> all;
  for (const Repair& repair : repairs) all.push_back(repair.text());
  return fmt::format("{}", fmt::join(all, "; "));
}

std::string WhatIf::doubt() const {
  if (!refusal.empty()) return refusal;
  if (launches_share < kLeastCoverage)
    return fmt::format("the launches of {:.1f} % of the device work are not known",
                       100 * (1 - launches_share));
  if (unexplained_ns > step_ns / kMostOff)
    return fmt::format("{} a step in front of device work has no known reason",
                       format_duration(unexplained_ns));
  std::int64_t way_ns = 0;
  for (const PathClass what : kAllOf<PathClass>) add_to(way_ns, path_ns[what]);
  if (path_ns[PathClass::launch] > way_ns / 2)
    return fmt::format(
        "{:.0f} % of the longest way through the steps is the host's time between launches, in "
        "which it may have waited without a record of it",
        100 * ratio(path_ns[PathClass::launch], way_ns));
  const std::int64_t off_ns = std::abs(replayed_ns - step_ns);
  if (off_ns <= step_ns / kMostOff) return "";
  return fmt::format("a replay of the recorded times is off by {} a step", format_duration(off_ns));
}

std::vector<Gain> WhatIf::odd() const {
  if (!doubt().empty()) return {};
  const auto is_much = [&](std::int64_t ns) { return ratio(ns, step_ns) >= kWorthNaming; };
  std::vector<Gain> found;
  std::vector<Gain> sporadic;
  for (const Gain& single : singles) {
    if (!single.repairs.front().is_like_others() || single.varies || !is_much(single.gain_ns))
      continue;
    if (is_steady(single))
      found.push_back(single);
    else if (single.steps_share * static_cast<double>(steps) >= 1.5)
      sporadic.push_back(single);
  }
  for (const Gain& pair : pairs)
    if (!pair.varies && is_steady(pair) && is_much(pair.gain_ns - best_alone_ns(pair)))
      found.push_back(pair);
  if (found.empty() && sporadic.size() == 1) return sporadic;
  std::ranges::stable_sort(found, std::greater(), &Gain::gain_ns);
  return found;
}

std::int64_t WhatIf::best_alone_ns(const Gain& gain) const {
  std::int64_t best_ns = 0;
  for (const Gain& single : singles)
    if (std::ranges::count(gain.repairs, single.repairs.front()) > 0)
      best_ns = std::max(best_ns, single.gain_ns);
  return best_ns;
}

std::int64_t WhatIf::gain_ns(Repair::Kind kind) const {
  const auto found = std::ranges::find_if(
      singles, [&](const Gain& single) { return single.repairs.front().kind == kind; });
  return found == singles.end() ? 0 : std::max<std::int64_t>(found->gain_ns, 0);
}

std::string WhatIf::words(const Gain& gain) const {
  std::string doubt;
  if (steps > 1 || gain.least_ns < gain.most_ns)
    doubt =
        fmt::format("; {} to {}", format_duration(gain.least_ns), format_duration(gain.most_ns));
  if (steps == 1) doubt += ", by one step alone";
  return fmt::format("{} would gain {} of {} a step ({:.1f} %{})", gain.words(),
                     format_duration(gain.gain_ns), format_duration(step_ns),
                     100 * ratio(gain.gain_ns, step_ns), doubt);
}

}  // namespace traceloom
