#include "analysis/mesh/slow_parts.h"

#include "base/units.h"
#include "output/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

constexpr double kLeastMore = 0.03;    // share of a mean step
constexpr double kMuchMore = 0.10;     // share of a mean step, for what happens now and then
constexpr double kSteady = 0.80;       // share of the steps
constexpr double kSlowStage = 1.05;    // times the others
constexpr double kLeastStage = 0.02;   // share of a mean step
constexpr double kSlowMoving = 1.5;    // times the others
constexpr double kLeastMoving = 0.01;  // share of a mean step
constexpr double kLeastHeld = 0.25;    // share of the time that a rank has more

std::int64_t median(std::vector<std::int64_t> values) {
  return percentile(std::move(values), 50);
}

// The median of some values without one of them, in little more time than that of all.
class MedianOfOthers {
 public:
  void add(std::int64_t value) {
    values_.push_back(value);
    is_sorted_ = false;
  }
  // Returns nullopt if there are no others. `value` is one of the values.
  std::optional<std::int64_t> without(std::int64_t value) {
    if (values_.size() < 2) return std::nullopt;
    if (!std::exchange(is_sorted_, true)) std::ranges::sort(values_);
    const std::size_t middle = percentile_place(values_.size() - 1, 50);
    const auto place = std::ranges::lower_bound(values_, value) - values_.begin();
    return values_[middle + (std::cmp_less_equal(place, middle) ? 1 : 0)];
  }

 private:
  std::vector<std::int64_t> values_;
  bool is_sorted_ = true;
};

// The time of each rank's own work of one role, by place in RankWaits::ranks and step.
using Work = std::vector<std::vector<std::int64_t>>;

class SlowFinder {
 public:
  SlowFinder(const Run& run, const Mesh& mesh, const std::vector<RankRoles>& roles,
             const RankWaits& waits)
      : run_(run), mesh_(mesh), roles_(roles), waits_(waits) {
    for (std::size_t i = 0; i < waits.ranks.size(); ++i) {
      const MeshPlace* const place = mesh.place_of(run.ranks[waits.ranks[i]].rank);
      if (place == nullptr) continue;
      stages_[place->stage].push_back(i);
      replicas_[{place->data, place->context}].push_back(i);
    }
  }

  SlowParts find() {
    SlowParts slow;
    if (waits_.steps.empty() || waits_.mean_step_ns <= 0) return slow;
    find_ranks(slow.ranks);
    find_stages(slow.stages);
    find_links(slow.links);
    find_groups(slow.groups);
    return slow;
  }

 private:
  bool is_share(std::int64_t ns, double share) const {
    return static_cast<double>(ns) >= share * static_cast<double>(waits_.mean_step_ns);
  }
  std::int64_t a_step(Int128 ns) const { return rounded_mean(ns, waits_.steps.size()); }

  Work work_in(std::initializer_list<Role> roles) const {
    Work work;
    for (std::size_t i = 0; i < waits_.ranks.size(); ++i) {
      std::vector<std::int64_t>& own = work.emplace_back(waits_.steps.size());
      for_each_shared(roles_[waits_.ranks[i]].steps, waits_.step_index[i],
                      [&](std::size_t step, const StepRoles& found) {
                        for (const Role role : roles) add_to(own[step], found.exclusive[role]);
                      });
    }
    return work;
  }

  // Returns what each rank has more than its like; with `own` without what its replica has more.
  Work excess(const Work& work, bool own) const {
    Work more(work.size(), std::vector<std::int64_t>(waits_.steps.size(), 0));
    const auto compare = [&](const auto& groups, const Work& values, std::size_t step, auto use) {
      for (const auto& [key, ranks] : groups) {
        MedianOfOthers median;
        for (const std::size_t rank : ranks) median.add(values[rank][step]);
        for (const std::size_t rank : ranks) use(rank, median.without(values[rank][step]));
      }
    };
    for (std::size_t step = 0; step < waits_.steps.size(); ++step)
      compare(stages_, work, step, [&](std::size_t rank, std::optional<std::int64_t> others) {
        more[rank][step] = others ? work[rank][step] - *others : 0;
      });
    if (!own) return more;
    const Work plain = more;
    for (std::size_t step = 0; step < waits_.steps.size(); ++step)
      compare(replicas_, plain, step, [&](std::size_t rank, std::optional<std::int64_t> mates) {
        more[rank][step] -= std::max<std::int64_t>(mates.value_or(0), 0);
      });
    return more;
  }

  void find_ranks(std::vector<SlowRank>& slow) const {
    const Work computing = excess(work_in({Role::kernel}), true);
    add_steady(computing, Role::kernel, slow);
    if (slow.empty()) add_sporadic(computing, slow);
    std::vector<SlowRank> others;
    add_steady(excess(work_in({Role::dataloader}), false), Role::dataloader, others);
    add_steady(excess(work_in({Role::memcpy, Role::memset}), false), Role::memcpy, others);
    add_steady(excess(work_in({Role::cpu, Role::runtime, Role::host_code}), false), Role::cpu,
               others);
    for (const SlowRank& one : others)
      if (holds_up(one)) slow.push_back(one);
    std::ranges::stable_sort(slow, {}, &SlowRank::rank);
  }

  // Returns the sum of what is at least that share of a mean step, and the number of such steps.
  std::pair<Int128, std::size_t> sum_above(const std::vector<std::int64_t>& more,
                                           double share) const {
    Int128 sum = 0;
    std::size_t steps = 0;
    for (const std::int64_t ns : more)
      if (is_share(ns, share)) {
        sum += ns;
        ++steps;
      }
    return {sum, steps};
  }

  SlowRank slow_rank(std::size_t rank, Role role, Int128 sum, std::size_t steps) const {
    return {
        run_.ranks[waits_.ranks[rank]].rank, role, a_step(sum),
        ratio(static_cast<std::int64_t>(steps), static_cast<std::int64_t>(waits_.steps.size()))};
  }

  void add_steady(const Work& more, Role role, std::vector<SlowRank>& slow) const {
    for (std::size_t rank = 0; rank < more.size(); ++rank) {
      const auto [sum, steps] = sum_above(more[rank], kLeastMore);
      const SlowRank found = slow_rank(rank, role, sum, steps);
      if (steps > 0 && found.steps_share >= kSteady) slow.push_back(found);
    }
  }

  void add_sporadic(const Work& more, std::vector<SlowRank>& slow) const {
    std::vector<SlowRank> found;
    for (std::size_t rank = 0; rank < more.size(); ++rank)
      if (const auto [sum, steps] = sum_above(more[rank], kMuchMore); steps > 0)
        found.push_back(slow_rank(rank, Role::kernel, sum, steps));
    if (found.size() != 1 || found[0].steps_share * static_cast<double>(waits_.steps.size()) < 1.5)
      return;
    found[0].is_sporadic = true;
    slow.push_back(found[0]);
  }

  // True if ranks of its stage wait for it in collectives, for some of what it has more.
  bool holds_up(const SlowRank& slow) const {
    const MeshPlace& place = *mesh_.place_of(slow.rank);
    Int128 held_ns = 0;
    for (const Collective& what : match_collectives(run_).matched) {
      if (!what.complete || !what.all_wait_for_all()) continue;
      if (run_.ranks[what.last(false).rank].rank != slow.rank) continue;
      std::optional<std::int64_t> least;
      for (const CollectivePart& part : what.parts) {
        const std::int64_t rank = run_.ranks[part.rank].rank;
        const MeshPlace* const other = mesh_.place_of(rank);
        if (rank == slow.rank || other == nullptr || other->stage != place.stage) continue;
        least = std::min(least.value_or(what.wait_ns(part)), what.wait_ns(part));
      }
      held_ns += least.value_or(0);
    }
    return static_cast<double>(a_step(held_ns)) >= kLeastHeld * static_cast<double>(slow.more_ns);
  }

  void find_stages(std::vector<SlowStage>& slow) const {
    std::map<std::int64_t, std::vector<std::int64_t>> computing;
    for (const auto& [stage, ranks] : stages_)
      for (const std::size_t rank : ranks)
        computing[stage].push_back(waits_.own_ns[rank][Role::kernel]);
    for (const auto& [stage, own] : computing) {
      std::vector<std::int64_t> others;
      for (const auto& [other, ns] : computing)
        if (other != stage) others.push_back(median(ns));
      if (others.empty()) continue;
      const SlowStage found{stage, *std::ranges::min_element(own), median(std::move(others))};
      const std::int64_t more_ns = found.compute_ns - found.others_ns;
      const bool is_longer = static_cast<double>(found.compute_ns) >=
                             kSlowStage * static_cast<double>(found.others_ns);
      if (is_longer && is_share(more_ns, kLeastStage)) slow.push_back(found);
    }
  }

  // The transfers of one link or group, of one kind.
  struct Transfers {
    Int128 sum = 0;
    std::size_t count = 0;
    std::int64_t mean_ns() const { return rounded_mean(sum, count); }
  };
  // Keyed by the kind, then by who has them.
  template <typename Kind>
  using ByKind = std::map<Kind, std::map<std::vector<std::int64_t>, Transfers>>;

  // Adds those that are slower than the others, over all of their kinds.
  template <typename Kind>
  void add_slow(const ByKind<Kind>& kinds, Axis axis, std::vector<SlowTransfers>& slow) const {
    struct Sum {
      Int128 own = 0;
      Int128 others = 0;
      std::size_t count = 0;
    };
    std::map<std::vector<std::int64_t>, Sum> sums;
    for (const auto& [kind, all] : kinds) {
      MedianOfOthers means;
      for (const auto& [ranks, own] : all) means.add(own.mean_ns());
      for (const auto& [ranks, own] : all) {
        const std::optional<std::int64_t> others = means.without(own.mean_ns());
        if (!others) continue;
        Sum& sum = sums[ranks];
        sum.own += own.sum;
        sum.others += static_cast<Int128>(*others) * own.count;
        sum.count += own.count;
      }
    }
    for (const auto& [ranks, sum] : sums) {
      const SlowTransfers found{axis, ranks, rounded_mean(sum.own, sum.count),
                                rounded_mean(sum.others, sum.count), a_step(sum.own - sum.others)};
      const bool is_longer = static_cast<double>(found.transfer_ns) >=
                             kSlowMoving * static_cast<double>(found.others_ns);
      if (is_longer && is_share(found.more_ns, kLeastMoving)) slow.push_back(found);
    }
  }

  void find_links(std::vector<SlowTransfers>& slow) const {
    const std::map<std::int64_t, std::string> nodes = find_nodes(run_);
    const auto node_of = [&](std::int64_t rank) {
      const auto found = nodes.find(rank);
      return found == nodes.end() ? std::string_view() : std::string_view(found->second);
    };
    ByKind<std::pair<std::int64_t, bool>> links;
    for (const Message& message : match_collectives(run_).messages) {
      const auto [low, high] = std::minmax(message.from, message.to);
      Transfers& link =
          links[{message.bytes, node_of(message.from) == node_of(message.to)}][{low, high}];
      link.sum += message.transfer_ns;
      ++link.count;
    }
    add_slow(links, Axis::pipeline, slow);
  }

  void find_groups(std::vector<SlowTransfers>& slow) const {
    std::map<Axis, ByKind<std::pair<std::string, std::int64_t>>> axes;
    for (const Collective& what : match_collectives(run_).matched) {
      const JobGroup* const group = mesh_.group_of(what.group);
      if (group == nullptr || group->axis == Axis::other || group->axis == Axis::world) continue;
      if (!what.complete || !what.all_wait_for_all()) continue;
      Transfers& transfers = axes[group->axis][{what.name, what.bytes}][group->ranks];
      transfers.sum += what.latency_ns();
      ++transfers.count;
    }
    for (const auto& [axis, kinds] : axes) add_slow(kinds, axis, slow);
  }

  const Run& run_;
  const Mesh& mesh_;
  const std::vector<RankRoles>& roles_;
  const RankWaits& waits_;
  std::map<std::int64_t, std::vector<std::size_t>> stages_;  // places in RankWaits::ranks
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> replicas_;
};

}  // namespace

SlowParts find_slow_parts(const Run& run, const Mesh& mesh, const std::vector<RankRoles>& roles,
                          const RankWaits& waits) {
  return SlowFinder(run, mesh, roles, waits).find();
}

std::vector<std::string> slow_words(const SlowParts& slow, std::int64_t step_ns) {
  const auto cost = [&](std::int64_t ns) {
    return fmt::format("{} a step ({:.1f} % of the mean step)", format_duration(ns),
                       100 * ratio(ns, step_ns));
  };
  std::vector<std::string> words;
  for (const SlowRank& one : slow.ranks)
    words.push_back(
        fmt::format("Rank {}: {} takes {} longer than on the other ranks of its stage, in {:.0f} % "
                    "of the steps.",
                    one.rank, role_name(one.role), cost(one.more_ns), 100 * one.steps_share));
  for (const SlowStage& one : slow.stages)
    words.push_back(fmt::format("Stage {} computes {} longer than the other stages.", one.stage,
                                cost(one.compute_ns - one.others_ns)));
  for (const SlowTransfers& one : slow.links)
    words.push_back(
        fmt::format("The link of ranks {} and {} is slow: a message moves in {}, on other links in "
                    "{}, {} more.",
                    one.ranks.front(), one.ranks.back(), format_duration(one.transfer_ns),
                    format_duration(one.others_ns), cost(one.more_ns)));
  for (const SlowTransfers& one : slow.groups)
    words.push_back(fmt::format(
        "The {} group of {} is slow: a collective moves in {}, in like groups in {}, {} more.",
        to_string(one.axis), ranks_words(one.ranks, RankStyle::sentence),
        format_duration(one.transfer_ns), format_duration(one.others_ns), cost(one.more_ns)));
  return words;
}

std::string slow_json(const SlowParts& slow) {
  return json_object([&](JsonWriter& json) {
    const auto list = [&](std::string_view key, const auto& parts, auto write) {
      json.begin_array(key);
      for (const auto& part : parts)
        json.raw(json_object([&](JsonWriter& of) { write(of, part); }));
      json.end_array();
    };
    list("ranks", slow.ranks, [](JsonWriter& of, const SlowRank& one) {
      of.member("rank", one.rank);
      of.member("role", role_name(one.role));
      of.member("more_ns_per_step", one.more_ns);
      of.member("steps_share", one.steps_share);
      of.member("is_sporadic", one.is_sporadic);
    });
    list("stages", slow.stages, [](JsonWriter& of, const SlowStage& one) {
      of.member("stage", one.stage);
      of.member("compute_ns", one.compute_ns);
      of.member("others_ns", one.others_ns);
    });
    const auto transfers = [](JsonWriter& of, const SlowTransfers& one) {
      of.member("axis", to_string(one.axis));
      write_list(of, "ranks", one.ranks);
      of.member("transfer_ns", one.transfer_ns);
      of.member("others_ns", one.others_ns);
      of.member("more_ns_per_step", one.more_ns);
    };
    list("links", slow.links, transfers);
    list("groups", slow.groups, transfers);
  });
}

}  // namespace traceloom
