#include "analysis/step_phases.h"
#include "analysis/verdict.h"
#include "analysis/verdict_doubts.h"

#include <algorithm>
#include <array>

namespace traceloom {
namespace {

std::size_t find_world_size(const Run& run) {
  std::size_t ranks = run.ranks.size();
  for (const RunFile& file : run.files)
    if (file.world_size > 0) ranks = std::max(ranks, static_cast<std::size_t>(file.world_size));
  return ranks;
}

// Advice looks at kernels only where computing may be the verdict.
bool may_compute(const StepBasis& basis) {
  return basis.part({Role::kernel}).share() >= limit_threshold(Limit::compute);
}

// How many events each share is the time of; steps, where it is not the time of any.
ByLimit<std::size_t> count_events(const Run& run, const Findings& found) {
  ByLimit<std::size_t> events;
  for (std::size_t i = 0; i < kLimitCount; ++i)
    events[static_cast<Limit>(i)] = found.basis.steps.count();
  events[Limit::straggler] = found.waits.steps.size();
  events[Limit::data_loading] = 0;
  for (const std::size_t rank : found.basis.ranks)
    run.ranks[rank].for_each_mark([&](const MarkedSpan& span) {
      events[Limit::data_loading] += span.mark == SpanMark::loader ? 1 : 0;
    });
  if (!found.devices) return events;
  for (const Limit limit : {Limit::communication, Limit::memory, Limit::compute}) events[limit] = 0;
  for (const std::size_t rank : found.basis.ranks)
    run.ranks[rank].for_each_device([&](const DeviceSpan& span) {
      const Role role = run.labels.kind(span.label).role;
      ++events[role == Role::kernel          ? Limit::compute
               : role == Role::communication ? Limit::communication
                                             : Limit::memory];
    });
  constexpr std::array kCauses{IdleCause::launch, IdleCause::host_code, IdleCause::blocked,
                               IdleCause::queued, IdleCause::idle};
  for (std::size_t i = 0; i < kCauses.size(); ++i)
    events[kIdleLimits[i]] = found.causes[kCauses[i]].parts;
  return events;
}

}  // namespace

Findings::Findings(const Run& run)
    : roles(find_main_roles(run)),
      waits(find_waits(run, roles)),
      straggler(find_straggler(run, roles, waits)),
      loader(judge_loader(run, roles, waits, straggler)),
      basis(choose_basis(run, roles, straggler, loader)),
      devices(std::any_of(run.ranks.begin(), run.ranks.end(),
                          [](const RankEvents& rank) { return rank.has_devices(); })),
      has_frames(std::any_of(run.ranks.begin(), run.ranks.end(),
                             [](const RankEvents& rank) { return rank.has_frames(); })),
      causes(devices ? find_idle_causes(run, roles, basis.ranks) : IdleCauses()),
      stages(devices ? find_stage_waits(run, roles, basis.ranks) : StageWaits()),
      facts(devices ? find_device_facts(run, basis.ranks, may_compute(basis)) : DeviceFacts()),
      trains(is_training(run)),
      world_size(find_world_size(run)),
      events(count_events(run, *this)),
      doubts(run),
      programs_ns(find_programs_ns(run, basis)) {}

}  // namespace traceloom
