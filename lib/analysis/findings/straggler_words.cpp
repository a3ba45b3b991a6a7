#include "analysis/findings/straggler_words.h"

#include "analysis/report.h"
#include "base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace traceloom {
namespace {

constexpr double kExactBelow = 0.10;  // values just below the limit must not look like the limit
constexpr double kLeastOfFew = 0.01;  // share of the mean step from which a rank is reported in few
                                      // steps
constexpr double kToldMore = 1.10;
constexpr std::size_t kMostListed = 4;

double part_of_step(std::int64_t ns, const Straggler& found) {
  return found.step_ns > 0 ? static_cast<double>(ns) / static_cast<double>(found.step_ns) : 0;
}

std::string part_text(double share) {
  return fmt::format("{:.{}f} %", share * 100, share < kExactBelow ? 2 : 1);
}

std::string delay_text(std::int64_t ns, const Straggler& found) {
  return fmt::format("{} a step ({} of the mean step", format_duration(ns),
                     part_text(part_of_step(ns, found)));
}

std::string_view capital(std::string& text) {
  if (text[0] == 'r') text[0] = 'R';
  return text;
}

// True if one rank came last in most of the steps, and not by chance.
bool is_one_mostly_last(const Straggler& found) {
  const LastRanks& last = found.last;
  if (last.ranks.size() != 1 || 2 * last.times <= last.steps) return false;
  return last.steps < kFewSteps ? part_of_step(last.delay_ns, found) >= kLeastOfFew
                                : !last.is_by_chance;
}

std::string_view why_not_named(const LastRanks& last) {
  if (last.steps < kFewSteps) return "too few steps to call it steady";
  const bool is_steady =
      static_cast<double>(last.times) >= kSteadyShare * static_cast<double>(last.steps);
  return is_steady ? "steady, but small" : "not in enough steps to call it steady";
}

std::string mostly_last_text(const Straggler& found) {
  const LastRanks& last = found.last;
  std::string text =
      fmt::format("Rank {} came last in {} of {} and held up the others by {}", last.ranks.front(),
                  last.times, count_of(last.steps, "step"), delay_text(last.delay_ns, found));
  if (static_cast<double>(found.measured_ns) > kToldMore * static_cast<double>(last.delay_ns))
    text += fmt::format("; whichever came last: {}, {}", format_duration(found.measured_ns),
                        part_text(part_of_step(found.measured_ns, found)));
  return fmt::format("{}); {}.", text, why_not_named(last));
}

std::string whichever_text(const Straggler& found) {
  const LastRanks& last = found.last;
  std::string text =
      fmt::format("No rank stands out: whichever came last held up the others by {})",
                  delay_text(found.measured_ns, found));
  if (!last.ranks.empty() && last.ranks.size() <= kMostListed)
    text += fmt::format("; most often rank{} {}, in {} of {}{}", last.ranks.size() > 1 ? "s" : "",
                        fmt::join(last.ranks, ", "), last.times, count_of(last.steps, "step"),
                        last.ranks.size() > 1 ? " each" : "");
  return text + ".";
}

// Ranks that cannot be separated have no delay of their own.
std::string named_text(const Straggler& found) {
  std::string who = rank_list(found);
  const bool several = found.candidates.size() > 1;
  std::string text = fmt::format("{} {} up the others", capital(who), several ? "hold" : "holds");
  if (found.delay_is_gap)
    text += fmt::format(", which wait at least {} longer than {} ({} of the mean step)",
                        format_duration(found.delay_ns) + " a step", several ? "these" : "it",
                        part_text(found.delay_share));
  else
    text += fmt::format(" by {}{})", several ? "up to " : "", delay_text(found.delay_ns, found));
  const bool apart = !several || found.each_of_them;
  return fmt::format("{}, {} in {:.0f} % of {}", text, apart ? "last" : "clearly so",
                     found.waited_for_share * 100, count_of(found.last.steps, "step"));
}

}  // namespace

std::string straggler_headline(const Straggler& found) {
  if (!found.candidates.empty())
    return fmt::format("{}; cause: {} ({}; confidence: {}).", named_text(found),
                       to_string(found.cause), found.why, found.confidence);
  if (found.measured_ns <= 0) return "No rank holds up the others.";
  return is_one_mostly_last(found) ? mostly_last_text(found) : whichever_text(found);
}

}  // namespace traceloom
