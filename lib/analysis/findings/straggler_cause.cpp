#include "analysis/findings/straggler.h"
#include "analysis/numbers.h"
#include "analysis/waits/rank_waits.h"
#include "analysis/waits/step_roles.h"
#include "base/units.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>

namespace traceloom {
namespace {

constexpr double kCauseShare = 0.50;   // share of the delay that a cause has to explain
constexpr double kAsOften = 0.02;      // counts of launches differ by less than this share
constexpr double kMostKernels = 0.80;  // share of the kernels' time

std::int64_t median_of_others(const RankWaits& waits, std::size_t rank, Role role) {
  std::vector<std::int64_t> values;
  for (std::size_t other = 0; other < waits.ranks.size(); ++other)
    if (other != rank) values.push_back(waits.own_ns[other][role]);
  return percentile(std::move(values), 50);
}

struct KernelTime {
  std::uint64_t count = 0;
  double ns = 0;
};
using KernelTimes = std::map<std::uint32_t, KernelTime>;  // keyed by label

// Uses the steps that all ranks have.
KernelTimes kernel_times(const Run& run, const RankRoles& roles, const RankEvents& rank,
                         const std::vector<std::uint32_t>& step_index) {
  const StepFinder steps(roles, step_index);
  KernelTimes times;
  rank.for_each_device([&](const DeviceSpan& span) {
    if (run.labels.kind(span.label).role != Role::kernel || !steps.step_at(span.start_ns)) return;
    KernelTime& time = times[span.label];
    ++time.count;
    time.ns += static_cast<double>(span.end_ns - span.start_ns);
  });
  return times;
}

// True if the rank runs the same kernels as the others, equally often, and most of them take
// longer: its work is slower, and neither more nor different work.
bool has_slower_kernels(const Run& run, const std::vector<RankRoles>& roles, const RankWaits& waits,
                        std::size_t rank) {
  KernelTimes own;
  KernelTimes others;
  const std::map<std::size_t, std::size_t> numbers = waits.numbers();
  const auto times_of = [&](std::size_t place) {
    return kernel_times(run, roles[place], run.ranks[place], waits.step_index[numbers.at(place)]);
  };
  for_each_rank<KernelTimes>(
      run, waits.ranks, times_of, [&](std::size_t place, const KernelTimes& times) {
        for (const auto& [label, time] : times) {
          KernelTime& sum = (place == waits.ranks[rank] ? own : others)[label];
          sum.count += time.count;
          sum.ns += time.ns;
        }
      });
  const auto ranks = static_cast<double>(waits.ranks.size() - 1);
  double own_ns = 0;
  double others_ns = 0;
  for (const auto& [label, time] : own) own_ns += time.ns;
  for (const auto& [label, time] : others) others_ns += time.ns / ranks;
  if (others_ns <= 0 || own_ns <= others_ns) return false;
  const double least_factor = 1 + (own_ns / others_ns - 1) / 2;
  double slower_ns = 0;
  for (const auto& [label, time] : own) {
    const auto count = static_cast<double>(time.count);
    const KernelTime& other = others[label];
    if (std::abs(static_cast<double>(other.count) / ranks - count) > kAsOften * count) continue;
    if (time.ns >= least_factor * other.ns / ranks) slower_ns += other.ns / ranks;
  }
  return slower_ns >= kMostKernels * others_ns;
}

StragglerCause cause_of_role(const Run& run, const std::vector<RankRoles>& roles,
                             const RankWaits& waits, std::size_t rank, Role role) {
  const bool devices = run.ranks[waits.ranks[rank]].has_devices();
  switch (role) {
    case Role::dataloader:
      return StragglerCause::dataloader;
    case Role::kernel:
      return has_slower_kernels(run, roles, waits, rank) ? StragglerCause::slower_device
                                                         : StragglerCause::compute;
    case Role::cpu:
      return devices ? StragglerCause::launch : StragglerCause::compute;
    case Role::runtime:
    case Role::host_code:
      return StragglerCause::launch;
    case Role::memcpy:
    case Role::memset:
      return StragglerCause::memcpy;
    case Role::other:
      return StragglerCause::idle;
    case Role::communication:
    case Role::count_:
      break;
  }
  return StragglerCause::inconclusive;
}

}  // namespace

// Finds the role in which the rank spends the greatest excess over the others, if that is a large
// part of the delay.
void explain(const Run& run, const std::vector<RankRoles>& roles, const RankWaits& waits,
             std::size_t rank, Straggler& found) {
  Role most = Role::count_;
  std::int64_t excess_ns = 0;
  for (const Role role : kRoles) {
    const std::int64_t excess = waits.own_ns[rank][role] - median_of_others(waits, rank, role);
    if (excess <= excess_ns) continue;
    excess_ns = excess;
    most = role;
  }
  found.cause = StragglerCause::inconclusive;
  if (static_cast<double>(excess_ns) < kCauseShare * static_cast<double>(found.delay_ns)) {
    found.why = "no role of its steps explains half of that";
    return;
  }
  found.cause = cause_of_role(run, roles, waits, rank, most);
  found.why = fmt::format("{} takes {} a step longer than on the median of the others",
                          role_name(most), format_duration(excess_ns));
}

namespace {

constexpr double kExactBelow = 0.10;  // values just below the limit must not look like the limit
constexpr double kLeastOfFew = 0.01;  // share of the mean step from which a rank is reported in few
                                      // steps
constexpr double kToldMore = 1.10;
constexpr std::size_t kMostListed = 4;

double part_of_step(std::int64_t ns, const Straggler& found) {
  return ratio(ns, found.step_ns);
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
    text +=
        fmt::format("; most often {}, in {} of {}{}", ranks_words(last.ranks, RankStyle::each),
                    last.times, count_of(last.steps, "step"), last.ranks.size() > 1 ? " each" : "");
  return text + ".";
}

// Ranks that cannot be separated have no delay of their own.
std::string named_text(const Straggler& found) {
  std::string who =
      found.is_gain ? ranks_words(found.candidates, RankStyle::named) : rank_list(found);
  const bool several = found.candidates.size() > 1;
  if (found.is_gain)
    return fmt::format("{} {} up the job{}: {}", capital(who), several ? "hold" : "holds",
                       found.pattern == DelayPattern::sporadic ? " in some steps" : "",
                       found.gain_words);
  std::string text = fmt::format("{} {} up the others", capital(who),
                                 plural(found.candidates.size(), "holds", "hold"));
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
  if (found.cause == StragglerCause::inconclusive)
    return fmt::format("Cannot tell which rank holds up the others: {}.", found.why);
  if (found.measured_ns <= 0) return "No rank holds up the others.";
  return is_one_mostly_last(found) ? mostly_last_text(found) : whichever_text(found);
}

}  // namespace traceloom
