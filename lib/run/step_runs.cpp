#include "run/step_runs.h"

#include "run/run.h"

#include <algorithm>
#include <map>
#include <utility>

namespace traceloom {
namespace {

// A run (key: its number) lasts from the begin of its first step to the end of its last one.
using RunTimes = std::map<std::uint32_t, Interval>;

RunTimes times_of_runs(const StepList& steps) {
  RunTimes times;
  for (const Step& step : steps.list) {
    const auto [time, is_new] = times.try_emplace(step.run, step.time);
    if (!is_new) time->second.to_ns = std::max(time->second.to_ns, step.time.to_ns);
  }
  return times;
}

bool have_the_same(const std::vector<RunTimes>& ranks) {
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  return std::all_of(ranks.begin(), ranks.end(), [&](const RunTimes& times) {
    return std::equal(times.begin(), times.end(), ranks.front().begin(), ranks.front().end(), same);
  });
}

}  // namespace

std::uint32_t RunCounter::run_of(const Step& step) {
  StepKey key = key_of(step);
  key.run = before_.run;
  const bool known =
      key.number >= 0 && before_.number >= 0 && (key.epoch == kNoId) == (before_.epoch == kNoId);
  if (known && !(before_ < key)) ++key.run;
  before_ = key;
  return key.run;
}

void align_runs(std::vector<RankEvents>& ranks, bool common_clock) {
  std::vector<RunTimes> times;
  for (const RankEvents& rank : ranks)
    if (!rank.steps.list.empty()) times.push_back(times_of_runs(rank.steps));
  if (times.empty() || !common_clock || have_the_same(times)) return;
  Intervals all;
  for (const RunTimes& runs : times)
    for (const auto& [run, time] : runs) all.push_back(time);
  all = unite(std::move(all));
  const auto place_of = [&](const Interval& time) {
    const auto behind =
        std::upper_bound(all.begin(), all.end(), time.from_ns,
                         [](std::int64_t ns, const Interval& one) { return ns < one.from_ns; });
    return static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(behind - all.begin() - 1, 0));
  };
  for (RankEvents& rank : ranks) {
    std::map<std::uint32_t, std::uint32_t> places;
    for (const auto& [run, time] : times_of_runs(rank.steps)) places[run] = place_of(time);
    rank.steps.list.rewrite([&](Step& step) {
      step.run = places[step.run];
      return true;
    });
  }
}

}  // namespace traceloom
