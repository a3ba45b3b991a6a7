#include "analysis/mesh/bubbles.h"

#include "analysis/waits/exchanges.h"

#include <algorithm>
#include <map>
#include <utility>

namespace traceloom {
namespace {

Intervals joined(const Intervals& a, const Intervals& b) {
  Intervals all = a;
  all.insert(all.end(), b.begin(), b.end());
  return unite(std::move(all));
}

Intervals computing(const RoleSets& sets) {
  Intervals all;
  for (const Role role : {Role::kernel, Role::memcpy, Role::memset})
    all = joined(all, unpacked(sets[role]));
  return all;
}

// Communication by its events that is in no piece of find_exchanges() counts as unknown.
PartTimes parts_of(const RankRoles& roles, const RankExchanges& exchanges, bool has_devices) {
  PartTimes times;
  for (const StepRoles& step : roles.steps) {
    if (!step.step.counted) continue;
    ++times.steps;
    add_to(times.total_ns, step.total_ns);
  }
  Intervals left = roles.counted();
  const auto take = [&](StepPart part, const Intervals& set) {
    add_to(times.ns[part], total_ns(intersect(left, set)));
    left = subtract(left, set);
  };
  take(StepPart::compute, computing(roles.sets));
  take(StepPart::collective_moving, exchanges.collectives.moves);
  take(StepPart::collective_waiting, exchanges.collectives.waits);
  take(StepPart::collective_unknown, joined(exchanges.collectives.unknown, exchanges.alone));
  take(StepPart::message_moving, exchanges.messages.moves);
  take(StepPart::message_waiting, exchanges.messages.waits);
  take(StepPart::message_unknown,
       joined(exchanges.messages.unknown, unpacked(roles.sets[Role::communication])));
  take(StepPart::loader, unpacked(roles.sets[Role::dataloader]));
  if (!has_devices) take(StepPart::compute, unpacked(roles.sets[Role::cpu]));
  times.ns[StepPart::idle] = total_ns(left);
  return times;
}

}  // namespace

void PartTimes::add(const PartTimes& more) {
  steps += more.steps;
  add_to(total_ns, more.total_ns);
  for (const StepPart part : kAllOf<StepPart>) add_to(ns[part], more.ns[part]);
}

bool PartTimes::has_communication() const {
  return std::ranges::any_of(kAllOf<StepPart>, [&](StepPart part) {
    return part != StepPart::compute && part != StepPart::loader && part != StepPart::idle &&
           ns[part] > 0;
  });
}

double PartTimes::bubble_share() const {
  return share(StepPart::message_moving) + share(StepPart::message_waiting) +
         share(StepPart::message_unknown) + share(StepPart::idle);
}

std::optional<double> PartTimes::waiting_share() const {
  constexpr double kMostUnknown = 0.001;
  if (!has_communication()) return std::nullopt;
  if (share(StepPart::collective_unknown) + share(StepPart::message_unknown) > kMostUnknown)
    return std::nullopt;
  return share(StepPart::collective_waiting) + share(StepPart::message_waiting) +
         share(StepPart::idle);
}

double PartTimes::unknown_share() const {
  const std::int64_t unknown_ns =
      saturating_add(ns[StepPart::collective_unknown], ns[StepPart::message_unknown]);
  std::int64_t all_ns = unknown_ns;
  for (const StepPart part : {StepPart::collective_moving, StepPart::collective_waiting,
                              StepPart::message_moving, StepPart::message_waiting})
    add_to(all_ns, ns[part]);
  return ratio(unknown_ns, all_ns);
}

Bubbles find_bubbles(const Run& run, const Mesh& mesh, const std::vector<RankRoles>& roles) {
  const bool lacks_ranks = std::cmp_less(run.ranks.size(), mesh.world);
  const std::vector<RankExchanges> exchanges = find_exchanges(run, lacks_ranks);
  const bool any_devices = std::ranges::any_of(run.ranks, &RankEvents::has_devices);
  Bubbles found;
  std::map<std::int64_t, StageParts> stages;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (any_devices && !run.ranks[i].has_devices()) {
      found.without_devices.push_back(run.ranks[i].rank);
      continue;
    }
    RankParts rank{parts_of(roles[i], exchanges[i], any_devices), run.ranks[i].rank};
    if (rank.steps == 0) continue;
    found.all.add(rank);
    if (const MeshPlace* const place = mesh.place_of(rank.rank)) {
      StageParts& stage = stages[place->stage];
      stage.stage = place->stage;
      ++stage.ranks;
      stage.add(rank);
    }
    found.ranks.push_back(rank);
  }
  for (const auto& [number, stage] : stages) found.stages.push_back(stage);
  return found;
}

}  // namespace traceloom
