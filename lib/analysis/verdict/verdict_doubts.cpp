#include "analysis/verdict/verdict_words.h"
#include "base/arithmetic.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

constexpr std::string_view kOfPrograms =
    "the traces do not show how much of a program is computing";

// The limits about which nothing is known if the device is not understood.
constexpr Limit kOfDevice[] = {Limit::memory,    Limit::launch_bound, Limit::host_operator,
                               Limit::host_call, Limit::host_code,    Limit::blocked,
                               Limit::queued,    Limit::turn_around,  Limit::profiler,
                               Limit::idle,      Limit::compute};

bool is_compute_known(const Verdict& verdict) {
  const LimitShare& compute = verdict.shares[Limit::compute];
  constexpr std::int64_t kHalf = 2;
  return compute.least_ns >= compute.of_ns / kHalf;
}

bool may_be(const Verdict& verdict, Limit limit) {
  return verdict.kind == limit ||
         std::ranges::find(verdict.possible, limit) != verdict.possible.end();
}

bool is_of_programs(const Verdict& verdict, const Findings& found) {
  return may_be(verdict, Limit::compute) && !found.doubts.programs.empty() &&
         !is_compute_known(verdict);
}

// What the host does of computing and communication is no more than launching it.
bool is_of_launches(const Verdict& verdict, const Findings& found) {
  return !found.doubts.not_recorded.empty() &&
         (may_be(verdict, Limit::compute) || may_be(verdict, Limit::communication) ||
          may_be(verdict, Limit::host_call));
}

}  // namespace

std::int64_t find_programs_ns(const Run& run, const StepBasis& basis) {
  const auto find = [&](std::size_t rank) {
    const Intervals programs = find_programs(run, run.ranks[rank]);
    if (programs.empty()) return std::int64_t{0};
    Intervals steps;
    for (const Step& step : run.ranks[rank].steps.list)
      if (step.counted) steps.push_back(step.time);
    return total_ns(intersect(unite(std::move(steps)), programs));
  };
  std::int64_t sum = 0;
  for (const std::int64_t ns : per_rank<std::int64_t>(run, basis.ranks, find)) add_to(sum, ns);
  return sum;
}

void doubt_shares(Verdict& verdict, const Findings& found) {
  if (LimitShare& compute = verdict.shares[Limit::compute];
      !found.doubts.programs.empty() && found.devices) {
    compute.least_ns = std::max<std::int64_t>(compute.least_ns - found.programs_ns, 0);
    compute.unknown_since = kOfPrograms;
  }
  if (!found.doubts.not_recorded.empty())
    for (const Limit limit : {Limit::compute, Limit::communication})
      if (LimitShare& share = verdict.shares[limit]; share.unknown_since.empty())
        share.forget(found.doubts.not_recorded);
  if (found.doubts.not_understood.empty()) return;
  for (const Limit limit : kOfDevice) verdict.shares[limit] = {found.basis.share(0), 0, 0, {}};
  for (const Limit limit : kAllOf<Limit>)
    if (limit != Limit::straggler && limit != Limit::inconclusive)
      verdict.shares[limit].forget(found.doubts.not_understood);
  verdict.waiting = found.basis.share(0);
}

void take_out_programs(Verdict& verdict, const Findings& found) {
  LimitShare& compute = verdict.shares[Limit::compute];
  if (found.doubts.programs.empty() || compute.unknown_since != kOfPrograms) return;
  verdict.programs = found.basis.share(compute.ns - compute.least_ns);
  compute.ns = compute.least_ns;
  StepShare& gain = verdict.gains[Limit::compute];
  gain.ns = std::min(gain.ns, compute.ns);
}

void doubt_kind(Verdict& verdict, const Findings& found) {
  const DeviceDoubts& doubts = found.doubts;
  if (!doubts.not_understood.empty() || !doubts.cut.empty()) {
    verdict.kind = Limit::inconclusive;
    verdict.possible.clear();
    verdict.why = doubts.not_understood.empty() ? doubts.cut : doubts.not_understood;
  } else if (is_of_launches(verdict, found)) {
    verdict.kind = Limit::inconclusive;
    verdict.possible = {Limit::compute, Limit::communication};
    verdict.why = found.doubts.not_recorded;
  } else if (is_of_programs(verdict, found)) {
    if (verdict.kind == Limit::compute) verdict.possible = {Limit::compute};
    verdict.kind = Limit::inconclusive;
    verdict.why = fmt::format("whole programs ({}) run on the device, and {}",
                              found.doubts.programs, kOfPrograms);
  }
}

std::optional<std::string> record_for_doubts(const Verdict& verdict, const Findings& found) {
  if (!found.doubts.cut.empty() && found.doubts.not_understood.empty())
    return "record or copy the whole file; see trace-stats check";
  if (!found.doubts.not_understood.empty())
    return "record the device with torch.profiler, JAX or Ascend's profiler; see trace-stats info";
  if (is_of_launches(verdict, found))
    return "record the device, too (CUDA activities); see trace-stats launch";
  if (is_of_programs(verdict, found))
    return "record the kernels or ops within the programs of the device; see trace-stats kernels";
  return std::nullopt;
}

}  // namespace traceloom
