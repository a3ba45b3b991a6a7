#include "analysis/verdict/verdict.h"
#include "analysis/verdict/verdict_doubts.h"
#include "analysis/waits/step_phases.h"
#include "per_rank/per_rank.h"

#include <algorithm>
#include <array>

namespace traceloom {
namespace {

// The ranks of the job as far as the files say, 0 if none does.
std::size_t find_stated_ranks(const Run& run) {
  std::size_t ranks = 0;
  for (const RunFile& file : run.files)
    if (file.world_size > 0) ranks = std::max(ranks, static_cast<std::size_t>(file.world_size));
  return ranks;
}

bool is_one_of_some(const Run& run, const StepBasis& basis) {
  return run.ranks.size() == 1 && find_stated_ranks(run) == 0 &&
         basis.part({Role::communication}).ns > 0;
}

// True if computing may be the verdict; only then does advice look at kernels.
bool may_compute(const StepBasis& basis) {
  return basis.part({Role::kernel}).share() >= limit_threshold(Limit::compute);
}

// True if communication may be the verdict; only then does advice ask whether there are gradients.
bool may_communicate(const StepBasis& basis) {
  return basis.part({Role::communication}).share() >= limit_threshold(Limit::communication);
}

// The numbers of events of a rank.
struct EventCounts {
  std::size_t loader = 0;
  std::size_t kernels = 0;
  std::size_t communication = 0;
  std::size_t copies = 0;
};

EventCounts count_events(const Run& run, const RankEvents& rank) {
  EventCounts counts;
  rank.for_each_mark(
      [&](const MarkedSpan& span) { counts.loader += span.mark == SpanMark::loader ? 1 : 0; });
  rank.for_each_device([&](const DeviceSpan& span) {
    const Role role = run.labels.kind(span.label).role;
    ++(role == Role::kernel          ? counts.kernels
       : role == Role::communication ? counts.communication
                                     : counts.copies);
  });
  return counts;
}

// Counts the events of which each share is the time; steps, if it is not the time of events.
ByLimit<std::size_t> count_events(const Run& run, const Findings& found) {
  ByLimit<std::size_t> events;
  for (std::size_t i = 0; i < kLimitCount; ++i)
    events[static_cast<Limit>(i)] = found.basis.steps.count();
  events[Limit::straggler] = found.waits.steps.size();
  events[Limit::data_loading] = 0;
  if (found.devices)
    for (const Limit limit : {Limit::communication, Limit::memory, Limit::compute})
      events[limit] = 0;
  const auto count = [&](std::size_t rank) { return count_events(run, run.ranks[rank]); };
  for (const EventCounts& counts : per_rank<EventCounts>(run, found.basis.ranks, count)) {
    events[Limit::data_loading] += counts.loader;
    if (!found.devices) continue;
    events[Limit::compute] += counts.kernels;
    events[Limit::communication] += counts.communication;
    events[Limit::memory] += counts.copies;
  }
  if (!found.devices) return events;
  constexpr std::array kCauses{IdleCause::launch, IdleCause::host_code, IdleCause::blocked,
                               IdleCause::queued, IdleCause::idle};
  for (std::size_t i = 0; i < kCauses.size(); ++i)
    events[kIdleLimits[i]] = found.causes[kCauses[i]].parts;
  return events;
}

}  // namespace

Findings::Findings(const Run& run)
    : roles(find_main_roles(run)),
      collectives(run),
      waits(find_waits(run, roles, collectives)),
      straggler(find_straggler(run, roles, waits)),
      loader(judge_loader(run, roles, waits, straggler)),
      basis(choose_basis(run, roles, straggler, loader)),
      devices(std::any_of(run.ranks.begin(), run.ranks.end(),
                          [](const RankEvents& rank) { return rank.has_devices(); })),
      has_frames(std::any_of(run.ranks.begin(), run.ranks.end(),
                             [](const RankEvents& rank) { return rank.has_frames(); })),
      trains(may_communicate(basis) && is_training(run)),
      world_size(std::max(run.ranks.size(), find_stated_ranks(run))),
      is_alone(is_one_of_some(run, basis)),
      causes(devices ? find_idle_causes(run, roles, basis.ranks) : IdleCauses()),
      stages(devices || lacks_ranks()
                 ? find_stage_waits(run, collectives, roles, basis.ranks, lacks_ranks())
                 : StageWaits()),
      facts(devices ? find_device_facts(run, basis.ranks, may_compute(basis)) : DeviceFacts()),
      events(count_events(run, *this)),
      doubts(run),
      programs_ns(find_programs_ns(run, basis)) {}

}  // namespace traceloom
