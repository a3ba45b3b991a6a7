#include "analysis/coarse/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>

namespace traceloom {
namespace {

using enum OperationKind;
using List = std::vector<std::uint32_t>;

// Finds what waits for what, and which operations begin together.
class NetworkBuilder {
 public:
  NetworkBuilder(const TimeLine& line, const std::string& path)
      : line_(line), path_(path), waits_for_(line.operations.size()), unit_of_(waits_for_.size()) {
    for (std::uint32_t i = 0; i < waits_for_.size(); ++i)
      lists_[{line.operations[i].stage, line.operations[i].kind}].push_back(i);
    std::iota(unit_of_.begin(), unit_of_.end(), 0U);
    for (std::size_t stage = 0; stage < line.stages; ++stage) {
      add_computes(stage);
      add_messages(stage, forward_compute, forward_send, forward_receive);
      add_messages(stage, backward_compute, backward_send, backward_receive);
      add_end(stage);
    }
    add_groups();
  }

  std::vector<List>& waits_for() { return waits_for_; }

  // Returns the groups of operations that begin together, each after those that it waits for.
  std::vector<List> ordered_units() const {
    std::vector<List> members(unit_of_.size());
    std::vector<List> later(unit_of_.size());
    std::vector<std::size_t> open(unit_of_.size());
    for (std::uint32_t one = 0; one < unit_of_.size(); ++one) {
      members[unit_of_[one]].push_back(one);
      for (const std::uint32_t other : waits_for_[one]) {
        later[unit_of_[other]].push_back(unit_of_[one]);
        ++open[unit_of_[one]];
      }
    }
    List order;
    for (std::uint32_t unit = 0; unit < members.size(); ++unit)
      if (!members[unit].empty() && open[unit] == 0) order.push_back(unit);
    std::vector<List> units;
    for (std::size_t next = 0; next < order.size(); ++next) {
      units.push_back(members[order[next]]);
      for (const std::uint32_t other : later[order[next]])
        if (--open[other] == 0) order.push_back(other);
    }
    if (std::ranges::any_of(open, [](std::size_t left) { return left > 0; }))
      throw Error(path_, "the operations of a step wait for each other in a circle");
    return units;
  }

 private:
  // Returns the operations of a kind in a stage by their numbers.
  const List& list_of(std::size_t stage, OperationKind kind) const {
    static const List none;
    const auto found = lists_.find({stage, kind});
    return found == lists_.end() ? none : found->second;
  }
  // Returns the operations of both kinds in the order in which they began.
  List by_time(std::size_t stage, OperationKind a, OperationKind b) const {
    List all;
    for (const OperationKind kind : {a, b})
      std::ranges::copy(list_of(stage, kind), back_inserter(all));
    std::ranges::sort(all, {}, [&](std::uint32_t i) {
      const Operation& one = line_.operations[i];
      return std::tuple(one.time.from_ns, one.number, to_string(one.kind));
    });
    return all;
  }
  std::uint32_t last_to_end(const List& list) const {
    return *std::ranges::max_element(
        list, {}, [&](std::uint32_t i) { return line_.operations[i].time.to_ns; });
  }
  void add(std::uint32_t before, std::uint32_t after) { waits_for_[after].push_back(before); }
  void add_chain(const List& list) {
    for (std::size_t i = 1; i < list.size(); ++i) add(list[i - 1], list[i]);
  }
  bool has_replicas() const { return line_.replicas > 1; }

  void add_computes(std::size_t stage) {
    const List computes = by_time(stage, forward_compute, backward_compute);
    add_chain(computes);
    const auto backward = std::ranges::find(
        computes, backward_compute, [&](std::uint32_t i) { return line_.operations[i].kind; });
    if (backward != computes.end() && backward - computes.begin() >= 2)
      for (const OperationKind kind : {backward_receive, backward_send})
        if (const List& list = list_of(stage, kind); !list.empty()) add(*(backward - 2), list[0]);
    if (!has_replicas()) return;
    add_chain(by_time(stage, gather_parameters, scatter_gradients));
    const List& gathers = list_of(stage, gather_parameters);
    const List& forward = list_of(stage, forward_compute);
    if (!gathers.empty() && !forward.empty()) add(gathers.back(), forward.front());
  }

  void add_messages(std::size_t stage, OperationKind compute, OperationKind send,
                    OperationKind receive) {
    const List& computes = list_of(stage, compute);
    for (const OperationKind kind : {send, receive}) {
      const List& list = list_of(stage, kind);
      add_chain(list);
      if (list.size() > computes.size())
        throw Error(path_, fmt::format("{} has no {} of its number",
                                       words_of(line_.operations[list[computes.size()]]),
                                       to_string(compute)));
      for (std::size_t i = 0; i < list.size(); ++i)
        if (kind == send) {
          add(computes[i], list[i]);
        } else {
          add(list[i], computes[i]);
          if (i > 0) add(computes[i - 1], list[i]);
        }
    }
  }

  // Adds the operations that come after the last micro-batch.
  void add_end(std::size_t stage) {
    List chain;
    const auto append = [&](OperationKind kind) {
      std::ranges::copy(list_of(stage, kind), back_inserter(chain));
    };
    const List& separate = list_of(stage, reduce_separate);
    const List& scatters = list_of(stage, scatter_gradients);
    const List computes = by_time(stage, forward_compute, backward_compute);
    if (separate.empty()) {
      if (!computes.empty()) chain.push_back(last_to_end(computes));
      append(garbage_collection);
    } else if (!scatters.empty()) {
      const List& backward = list_of(stage, backward_compute);
      if (!backward.empty()) add(last_to_end(backward), scatters.front());
      chain.push_back(scatters.back());
    }
    append(reduce_layernorm);
    append(reduce_embedding);
    if (separate.empty() && has_replicas()) append(scatter_gradients);
    append(reduce_separate);
    append(clip_gradients);
    append(optimizer);
    add_chain(chain);
    const List& collections = list_of(stage, garbage_collection);
    if (!separate.empty() && !collections.empty())
      for (const std::uint32_t one : chain)
        if (line_.operations[one].kind != scatter_gradients) {
          add(collections.back(), one);
          break;
        }
  }

  // Makes the operations of two lists units by their place in them.
  void join(const List& list, const List& other) {
    if (list.size() != other.size()) {
      const List& longer = list.size() > other.size() ? list : other;
      throw Error(
          path_,
          fmt::format("{} has no partner in its step",
                      words_of(line_.operations[longer[std::min(list.size(), other.size())]])));
    }
    for (std::size_t i = 0; i < list.size(); ++i) unit_of_[other[i]] = unit_of_[list[i]];
  }

  void add_groups() {
    const std::size_t last = line_.stages - 1;
    for (std::size_t stage = 0; stage < last; ++stage) {
      join(list_of(stage, forward_send), list_of(stage + 1, forward_receive));
      join(list_of(stage + 1, backward_send), list_of(stage, backward_receive));
    }
    if (last > 0) join(list_of(0, reduce_embedding), list_of(last, reduce_embedding));
    for (std::size_t stage = 1; stage <= last; ++stage)
      join(list_of(0, clip_gradients), list_of(stage, clip_gradients));
  }

  const TimeLine& line_;
  const std::string& path_;
  std::map<std::pair<std::size_t, OperationKind>, List> lists_;
  std::vector<List> waits_for_;
  List unit_of_;  // the number of one operation for all that begin together
};

bool is_of_all_replicas(OperationKind kind) {
  return kind == gather_parameters || kind == scatter_gradients || kind == reduce_separate ||
         kind == clip_gradients;
}

// Returns the value in the middle, or the mean of the two that are.
std::int64_t median(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return rounded_mean(Int128{*std::max_element(values.begin(), middle)} + *middle, 2);
}

}  // namespace

CoarseReplay::CoarseReplay(const TimeLine& line, const std::string& path) : line_(line) {
  NetworkBuilder builder(line, path);
  for (List& members : builder.ordered_units()) {
    const bool spans = is_of_all_replicas(line.operations[members.front()].kind);
    units_.push_back({std::move(members), spans});
  }
  waits_for_ = std::move(builder.waits_for());
  ByEnum<OperationKind, std::vector<std::int64_t>> durations;
  for (std::size_t i = 0; i < line.ns.size(); ++i)
    durations[line.operations[i % line.operations.size()].kind].push_back(line.ns[i]);
  for (const OperationKind kind : kAllOf<OperationKind>)
    if (!durations[kind].empty())
      ideal_ns_[kind] = is_compute(kind) ? mean(durations[kind]) : median(durations[kind]);
}

std::vector<std::int64_t> CoarseReplay::run(const std::vector<char>& is_recorded) const {
  const std::size_t count = line_.operations.size();
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> ends(line_.replicas * count);
  const auto ready = [&](const Unit& unit, std::size_t replica) {
    std::int64_t ns = 0;
    for (const std::uint32_t one : unit.members)
      for (const std::uint32_t other : waits_for_[one])
        ns = std::max(ns, ends[replica * count + other]);
    return ns;
  };
  for (std::size_t step = 0; step < line_.steps.size(); ++step) {
    for (const Unit& unit : units_) {
      std::int64_t begin_ns = 0;
      if (unit.is_of_all_replicas)
        for (std::size_t replica = 0; replica < line_.replicas; ++replica)
          begin_ns = std::max(begin_ns, ready(unit, replica));
      for (std::size_t replica = 0; replica < line_.replicas; ++replica) {
        if (!unit.is_of_all_replicas) begin_ns = ready(unit, replica);
        for (const std::uint32_t one : unit.members) {
          const std::size_t place = replica * count + one;
          ends[place] = saturating_add(begin_ns, is_recorded[place] != 0
                                                     ? line_.ns_at(step, replica, one)
                                                     : ideal_ns_[line_.operations[one].kind]);
        }
      }
    }
    times.push_back(std::ranges::max(ends));
  }
  return times;
}

namespace {

// Messages of a direction are one kind: both ends last equally long.
std::string part_name(OperationKind kind) {
  if (kind == forward_send || kind == forward_receive) return "forward-pp-comm";
  if (kind == backward_send || kind == backward_receive) return "backward-pp-comm";
  return std::string(to_string(kind));
}

// Runs the replays that the figures are made of.
class Slowdowns {
 public:
  Slowdowns(const TimeLine& line, const std::string& path, unsigned threads)
      : line_(line), replay_(line, path), threads_(threads) {}

  SlowdownFigures measure() {
    const std::size_t flags = line_.replicas * line_.operations.size();
    const std::vector<std::int64_t> recorded = replay_.run(std::vector<char>(flags, 1));
    const std::vector<std::int64_t> ideal = replay_.run(std::vector<char>(flags, 0));
    figures_.step_ns = mean(recorded);
    figures_.ideal_ns = std::max<std::int64_t>(mean(ideal), 1);
    for (std::size_t i = 0; i < recorded.size(); ++i)
      figures_.steps.emplace_back(recorded[i], ideal[i]);
    add_kinds();
    figures_.stages =
        measure_parts(line_.stages, [&](std::size_t part, std::size_t, std::size_t one) {
          return line_.operations[one].stage == part;
        });
    figures_.replicas = measure_parts(line_.replicas, [](std::size_t part, std::size_t replica,
                                                         std::size_t) { return replica == part; });
    add_ranks();
    return std::move(figures_);
  }

 private:
  using IsIn = std::function<bool(std::size_t part, std::size_t replica, std::size_t operation)>;

  // Returns the mean step with the recorded durations in a part and ideal ones elsewhere, or the
  // reverse.
  std::int64_t mean_with(const IsIn& is_in, std::size_t part, bool is_recorded_in_it) const {
    std::vector<char> flags;
    flags.reserve(line_.replicas * line_.operations.size());
    for (std::size_t replica = 0; replica < line_.replicas; ++replica)
      for (std::size_t one = 0; one < line_.operations.size(); ++one)
        flags.push_back(is_in(part, replica, one) == is_recorded_in_it ? 1 : 0);
    return mean(replay_.run(flags));
  }

  std::vector<SlowdownPart> measure_parts(std::size_t count, const IsIn& is_in) const {
    std::vector<SlowdownPart> parts(count);
    for_each_parallel(2 * count, threads_, [&](std::size_t i) {
      if (i % 2 == 0)
        parts[i / 2].slowdown = ratio(mean_with(is_in, i / 2, true), figures_.ideal_ns);
      else
        parts[i / 2].gain_ns = figures_.step_ns - mean_with(is_in, i / 2, false);
    });
    return parts;
  }

  void add_kinds() {
    std::vector<std::string> names;
    std::vector<std::size_t> name_of;
    for (const Operation& one : line_.operations) {
      const std::string name = part_name(one.kind);
      const auto known = std::ranges::find(names, name);
      name_of.push_back(static_cast<std::size_t>(known - names.begin()));
      if (known == names.end()) names.push_back(name);
    }
    const std::vector<SlowdownPart> parts = measure_parts(
        names.size(),
        [&](std::size_t part, std::size_t, std::size_t one) { return name_of[one] == part; });
    for (std::size_t i = 0; i < names.size(); ++i) figures_.kinds.emplace_back(names[i], parts[i]);
    std::ranges::stable_sort(figures_.kinds, std::greater(),
                             [](const auto& kind) { return kind.second.slowdown; });
  }

  void add_ranks() {
    std::vector<CoarseRank>& ranks = figures_.ranks;
    for (std::size_t stage = 0; stage < line_.stages; ++stage)
      for (std::size_t replica = 0; replica < line_.replicas; ++replica)
        ranks.push_back(
            {{},
             line_.rank_of(stage, replica),
             stage,
             replica,
             std::min(figures_.stages[stage].slowdown, figures_.replicas[replica].slowdown)});
    std::ranges::sort(ranks, {}, [](const auto& of) { return std::pair(-of.score, of.rank); });
    const std::size_t slowest = (3 * ranks.size() + 99) / 100;
    ranks.resize(std::min(ranks.size(), std::max<std::size_t>(slowest, 10)));
    const auto is_of = [&](std::size_t i, std::size_t replica, std::size_t one) {
      return ranks[i].replica == replica && ranks[i].stage == line_.operations[one].stage;
    };
    const std::vector<SlowdownPart> parts = measure_parts(ranks.size(), is_of);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      static_cast<SlowdownPart&>(ranks[i]) = parts[i];
      ranks[i].is_slowest = i < slowest;
    }
    const auto is_slowest = [&](std::size_t, std::size_t replica, std::size_t one) {
      bool found = false;
      for (std::size_t i = 0; i < slowest; ++i) found |= is_of(i, replica, one);
      return found;
    };
    figures_.slowest_gain_ns = figures_.step_ns - mean_with(is_slowest, 0, false);
  }

  const TimeLine& line_;
  CoarseReplay replay_;
  unsigned threads_;
  SlowdownFigures figures_;
};

}  // namespace

std::optional<double> SlowdownFigures::recovered(std::int64_t gain_ns) const {
  if (step_ns <= ideal_ns) return std::nullopt;
  return ratio(gain_ns, step_ns - ideal_ns);
}

SlowdownFigures measure_slowdowns(const TimeLine& line, const std::string& path, unsigned threads) {
  return Slowdowns(line, path, threads).measure();
}

}  // namespace traceloom
