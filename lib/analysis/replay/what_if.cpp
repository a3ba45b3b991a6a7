#include "analysis/replay/what_if.h"

#include "analysis/numbers.h"
#include "analysis/replay/likes.h"
#include "base/problems.h"
#include "base/units.h"
#include "table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace traceloom {
namespace {

using Kind = Repair::Kind;

// So many of each kind are looked at: those whose own work is longest beyond that of the others.
constexpr std::size_t kMostOfKind = 8;
constexpr std::size_t kMostInPairs = 5;
constexpr std::size_t kMostKernels = 5;
constexpr double kKernelChange = -0.2;
constexpr double kMuch = 0.10;  // of a step
// A candidate's work is longer than that of the others by this part of the step.
constexpr double kLeastExcess = 0.002;

// What the times of the others are replaced with.
enum class Variant : std::uint8_t { median, low, high };

std::int64_t value_of(const LikeTimes& times, Variant variant) {
  return variant == Variant::low    ? times.low_ns
         : variant == Variant::high ? times.high_ns
                                    : times.median_ns;
}

struct Scenario {
  std::vector<Repair> repairs = {};
  Variant variant = Variant::median;
};

// What is the same for all steps.
struct JobFacts {
  const Run& run;
  const JobWork& job;
  std::vector<std::int64_t> stages;  // of each rank of the run
  std::map<std::int64_t, std::uint32_t> rank_numbers;
};

JobFacts find_facts(const Run& run, const JobWork& job) {
  JobFacts facts{run, job, {}, {}};
  const Mesh& mesh = find_mesh(run);
  for (const RankEvents& rank : run.ranks) {
    facts.stages.push_back(mesh.stage_of(rank.rank));
    facts.rank_numbers.emplace(rank.rank, static_cast<std::uint32_t>(facts.rank_numbers.size()));
  }
  return facts;
}

// Sets the durations of one step that repairs leave.
class StepRepair {
 public:
  StepRepair(const JobFacts& facts, const StepNetwork& network, const StepLikes& likes)
      : facts_(facts), network_(network), likes_(likes) {}

  NodeDurations durations(const Scenario& scenario) {
    changed_.clear();
    for (const Repair& repair : scenario.repairs) apply(repair, scenario.variant);
    NodeDurations found;
    for (const auto& [node, duration_ns] : changed_)
      if (duration_ns != network_.nodes[node].duration_ns) found.push_back({node, duration_ns});
    return found;
  }

 private:
  void apply(const Repair& repair, Variant variant) {
    switch (repair.kind) {
      case Kind::rank:
        return apply_rank(repair, variant);
      case Kind::stage:
        return apply_stage(repair, variant);
      case Kind::link:
      case Kind::group:
        return apply_meeting(repair, variant);
      case Kind::loader:
        return free_if([](const NetworkNode& node) { return node.kind == MomentKind::loader; });
      case Kind::launch:
        return free_if([](const NetworkNode& node) { return node.kind == MomentKind::host; });
      case Kind::kernel:
        return apply_kernel(repair);
      default:
        return free_communication(repair);
    }
  }
  template <typename Is>
  void free_if(Is is) {
    for (std::uint32_t i = 0; i < network_.nodes.size(); ++i)
      if (is(network_.nodes[i])) changed_[i] = 0;
  }
  // Two repairs of one piece: both by their part.
  void replace(std::uint32_t node, std::int64_t duration_ns) {
    const std::int64_t whole_ns = network_.nodes[node].duration_ns;
    const auto [found, is_new] = changed_.try_emplace(node, duration_ns);
    if (!is_new && whole_ns > 0)
      found->second = static_cast<std::int64_t>(static_cast<double>(found->second) *
                                                static_cast<double>(duration_ns) /
                                                static_cast<double>(whole_ns));
  }
  void apply_rank(const Repair& repair, Variant variant) {
    const auto rank = facts_.rank_numbers.find(repair.ranks.front());
    if (rank == facts_.rank_numbers.end()) return;
    for (std::uint32_t i = network_.first_of_rank[rank->second];
         i < network_.first_of_rank[rank->second + 1]; ++i)
      if (const LikeTimes* const like = likes_.of_mates(i)) replace(i, value_of(*like, variant));
    const StepLikes::HostTime& host = likes_.host_of(rank->second);
    if (host.own_ns == 0 || host.mates.median_ns == kNotGiven) return;
    const double part =
        static_cast<double>(value_of(host.mates, variant)) / static_cast<double>(host.own_ns);
    for (std::uint32_t i = network_.first_of_rank[rank->second];
         i < network_.first_of_rank[rank->second + 1]; ++i)
      if (const NetworkNode& node = network_.nodes[i]; node.kind == MomentKind::host)
        replace(i, static_cast<std::int64_t>(static_cast<double>(node.duration_ns) * part));
  }
  // What a rank has beyond its mates stays its own.
  void apply_stage(const Repair& repair, Variant variant) {
    for (std::uint32_t i = 0; i < network_.first_of_rank.back(); ++i) {
      const LikeTimes* const like = likes_.of_stages(i);
      if (like == nullptr || facts_.stages[network_.nodes[i].rank] != repair.ranks.front())
        continue;
      const LikeTimes* const mates = likes_.of_mates(i);
      const double own = mates == nullptr || mates->median_ns <= 0
                             ? 1
                             : static_cast<double>(network_.nodes[i].duration_ns) /
                                   static_cast<double>(mates->median_ns);
      replace(i, static_cast<std::int64_t>(static_cast<double>(value_of(*like, variant)) * own));
    }
  }
  bool is_of(const Repair& repair, const Meeting& meeting) const {
    if (meeting.is_message != (repair.kind == Kind::link)) return false;
    if (!meeting.is_message) return facts_.job.groups[meeting.group].ranks == repair.ranks;
    const JobLink& link = facts_.job.links[meeting.group];
    return link.from == repair.ranks[0] && link.to == repair.ranks[1];
  }
  void apply_meeting(const Repair& repair, Variant variant) {
    std::unordered_map<std::uint32_t, double> parts;  // of a meeting's time that is left
    for (std::uint32_t i = network_.first_of_rank.back(); i < network_.nodes.size(); ++i)
      if (is_of(repair, facts_.job.meetings[network_.nodes[i].place]))
        if (const LikeTimes* const like = likes_.of_meetings(i)) {
          replace(i, value_of(*like, variant));
          parts[network_.nodes[i].place] =
              ratio(value_of(*like, variant), network_.nodes[i].duration_ns);
        }
    if (repair.kind != Kind::link) return;
    // Copies of eager messages become shorter by the same part.
    for (std::uint32_t i = 0; i < network_.first_of_rank.back(); ++i) {
      const NetworkNode& node = network_.nodes[i];
      if (node.kind != MomentKind::leaving || node.duration_ns == 0) continue;
      if (const auto part = parts.find(node.place); part != parts.end())
        replace(i, static_cast<std::int64_t>(static_cast<double>(node.duration_ns) * part->second));
    }
  }
  void apply_kernel(const Repair& repair) {
    std::unordered_map<std::uint32_t, bool> matches;
    for (std::uint32_t i = 0; i < network_.nodes.size(); ++i) {
      const NetworkNode& node = network_.nodes[i];
      if (node.kind != MomentKind::compute) continue;
      const auto [found, is_new] = matches.try_emplace(node.label);
      if (is_new) found->second = repair.names->found_in(facts_.run.labels.name(node.label));
      if (found->second)
        replace(i, static_cast<std::int64_t>(static_cast<double>(node.duration_ns) *
                                             (1 + repair.change)));
    }
  }
  void free_communication(const Repair& repair) {
    const bool messages = repair.kind == Kind::messages || repair.kind == Kind::communication ||
                          repair.axis == Axis::pipeline;
    free_if([&](const NetworkNode& node) {
      // The sender of an eager message copies it.
      if (node.kind == MomentKind::leaving) return messages && node.duration_ns > 0;
      if (node.kind != MomentKind::meeting) return false;
      const Meeting& meeting = facts_.job.meetings[node.place];
      if (meeting.is_message) return messages;
      return repair.kind == Kind::axis ? meeting.axis == repair.axis
                                       : repair.kind != Kind::messages;
    });
  }

  const JobFacts& facts_;
  const StepNetwork& network_;
  const StepLikes& likes_;
  std::map<std::uint32_t, std::int64_t> changed_;
};

// The time of candidates beyond that of those like them, over all steps.
struct Survey {
  std::map<std::uint32_t, std::int64_t> ranks;   // index
  std::map<std::uint32_t, std::int64_t> least;   // of a step, by rank
  std::map<std::uint32_t, std::int64_t> apart;   // differences of its pieces, of either sign
  std::map<std::uint32_t, std::int64_t> across;  // beyond the other stages, by rank
  std::map<std::uint32_t, std::int64_t> links;   // number in JobWork
  std::map<std::uint32_t, std::int64_t> groups;  // likewise
  std::vector<std::int64_t> kernels;             // by label: their time
  std::set<Axis> axes;
  std::int64_t steps = 0;
  bool has_loader = false;
  bool has_collectives = false;
  bool has_messages = false;

  void add(const JobFacts& facts, const StepNetwork& network, const StepLikes& likes) {
    std::map<std::uint32_t, std::int64_t> before = ranks;
    for (std::uint32_t rank = 0; rank < facts.stages.size(); ++rank)
      if (const StepLikes::HostTime& host = likes.host_of(rank); host.mates.median_ns != kNotGiven)
        add_own(rank, host.own_ns - host.mates.median_ns);
    for (std::uint32_t i = 0; i < network.nodes.size(); ++i) {
      const NetworkNode& node = network.nodes[i];
      const auto excess = [&](const LikeTimes& like) { return node.duration_ns - like.median_ns; };
      if (const LikeTimes* const like = likes.of_mates(i)) add_own(node.rank, excess(*like));
      if (const LikeTimes* const like = likes.of_stages(i)) across[node.rank] += excess(*like);
      if (node.kind == MomentKind::compute) {
        if (kernels.size() <= node.label) kernels.resize(node.label + 1);
        kernels[node.label] += node.duration_ns;
      }
      has_loader |= node.kind == MomentKind::loader;
      if (node.kind != MomentKind::meeting) continue;
      const Meeting& meeting = facts.job.meetings[node.place];
      (meeting.is_message ? has_messages : has_collectives) = true;
      if (!meeting.is_message) axes.insert(meeting.axis);
      if (const LikeTimes* const like = likes.of_meetings(i))
        (meeting.is_message ? links : groups)[meeting.group] += excess(*like);
    }
    for (const auto& [rank, ns] : ranks) {
      const std::int64_t own_ns = ns - before[rank];
      const auto [found, is_new] = least.try_emplace(rank, own_ns);
      found->second = std::min(found->second, own_ns);
    }
    ++steps;
  }
  void add_own(std::uint32_t rank, std::int64_t excess_ns) {
    ranks[rank] += excess_ns;
    apart[rank] += std::abs(excess_ns);
  }
  // The fewer steps, the more often chance leaves much of the differences in the sum.
  bool varies(std::uint32_t rank) const {
    const auto found = ranks.find(rank);
    return found != ranks.end() &&
           ratio(found->second, apart.at(rank)) < (std::cmp_less(steps, kFewSteps) ? 0.8 : 0.5);
  }
  // True if a rank has at least half of its mean excess in each step: chance makes no such ranks.
  bool is_steady(std::uint32_t rank) const { return 2 * least.at(rank) >= ranks.at(rank) / steps; }
};

// A stage is slow if most of its ranks are: the lower median of what they have beyond the others.
std::map<std::int64_t, std::int64_t> stage_excess(const JobFacts& facts, const Survey& survey) {
  std::map<std::int64_t, std::vector<std::int64_t>> of_ranks;
  for (const auto& [rank, ns] : survey.across) of_ranks[facts.stages[rank]].push_back(ns);
  std::map<std::int64_t, std::int64_t> found;
  for (auto& [stage, all] : of_ranks) {
    std::ranges::sort(all);
    found[stage] = all[(all.size() - 1) / 2];
  }
  return found;
}

// Appends those whose excess is large, the largest first.
template <typename Number, typename Make>
void append_largest(const std::map<Number, std::int64_t>& of, std::int64_t least_ns,
                    std::size_t most, std::vector<std::pair<std::int64_t, Repair>>& found,
                    Make make) {
  std::vector<std::pair<std::int64_t, Number>> sorted;
  for (const auto& [number, ns] : of)
    if (ns > least_ns) sorted.emplace_back(-ns, number);
  std::ranges::sort(sorted);
  if (sorted.size() > most) sorted.resize(most);
  for (const auto& [ns, number] : sorted) found.emplace_back(-ns, make(number));
}

std::vector<Repair> without_times(const std::vector<std::pair<std::int64_t, Repair>>& found) {
  std::vector<Repair> repairs;
  for (const auto& [ns, repair] : found) repairs.push_back(repair);
  return repairs;
}

// Returns what could be like others, those with the largest excess first.
std::vector<Repair> odd_ones(const JobFacts& facts, const Survey& survey, std::int64_t steps_ns) {
  std::vector<std::pair<std::int64_t, Repair>> found;
  const auto least_ns = static_cast<std::int64_t>(kLeastExcess * static_cast<double>(steps_ns));
  append_largest(survey.ranks, least_ns, kMostOfKind, found, [&](std::uint32_t rank) {
    return Repair{Kind::rank, {facts.run.ranks[rank].rank}};
  });
  append_largest(stage_excess(facts, survey), least_ns, kMostOfKind, found, [](std::int64_t stage) {
    return Repair{Kind::stage, {stage}};
  });
  append_largest(survey.links, least_ns, kMostOfKind, found, [&](std::uint32_t link) {
    return Repair{Kind::link, {facts.job.links[link].from, facts.job.links[link].to}};
  });
  append_largest(survey.groups, least_ns, kMostOfKind, found, [&](std::uint32_t group) {
    return Repair{Kind::group, facts.job.groups[group].ranks};
  });
  std::ranges::stable_sort(found, std::greater(), [](const auto& one) { return one.first; });
  return without_times(found);
}

// Returns the kernels that take longest, with a change of their time.
std::vector<Repair> top_kernels(const JobFacts& facts, const Survey& survey, std::size_t most,
                                double change) {
  std::map<std::string, std::int64_t> names;
  for (std::uint32_t label = 0; label < survey.kernels.size(); ++label)
    if (survey.kernels[label] > 0)
      names[std::string(facts.run.labels.name(label))] += survey.kernels[label];
  std::vector<std::pair<std::int64_t, Repair>> found;
  append_largest(names, 0, most, found, [&](const std::string& name) {
    Repair repair{Kind::kernel};
    repair.names = NamePattern::exactly(name);
    repair.exact = name;
    repair.change = change;
    return repair;
  });
  return without_times(found);
}

// Returns what could be left away.
std::vector<Repair> removals(const JobFacts& facts, const Survey& survey) {
  std::vector<Repair> found;
  if (survey.has_loader) found.push_back({Kind::loader});
  if (survey.has_collectives && survey.has_messages) found.push_back({Kind::communication});
  if (survey.has_collectives) found.push_back({Kind::collectives});
  if (survey.has_messages) found.push_back({Kind::messages});
  if (survey.axes.size() > 1)
    for (const Axis axis : survey.axes) found.push_back({Kind::axis, {}, axis});
  found.push_back({Kind::launch});
  for (Repair& repair : top_kernels(facts, survey, kMostKernels, kKernelChange))
    found.push_back(std::move(repair));
  return found;
}

// The steps of a job, replayed as often as needed.
class JobReplay {
 public:
  JobReplay(const Run& run, const JobWork& job) : facts_(find_facts(run, job)), maker_(job) {}

  const JobFacts& facts() const { return facts_; }

  // Replays all scenarios, and calls use(step, network, likes, replay) after each step. Returns
  // [scenario][step]: the sum over ranks. Without `compares` nothing is like anything, which saves
  // a third of the time.
  template <typename Use>
  std::vector<std::vector<std::int64_t>> replay(const std::vector<Scenario>& scenarios,
                                                bool compares, Use use) {
    Replay replay(maker_.slots(), scenarios.size());
    std::vector<NodeDurations> changes(scenarios.size());
    bool is_first = true;
    for (JobStep step : facts_.job.steps) {
      step.is_first |= is_first;
      const StepNetwork network = maker_.make(step);
      is_first = network.is_cyclic;
      if (is_first) continue;
      const StepLikes likes =
          compares ? StepLikes(network, facts_.job, facts_.stages) : StepLikes();
      StepRepair repair(facts_, network, likes);
      for (std::size_t i = 0; i < scenarios.size(); ++i)
        changes[i] = repair.durations(scenarios[i]);
      replay.run(step, network, changes);
      use(step, network, likes, replay);
    }
    return replay.steps_ns();
  }

 private:
  JobFacts facts_;
  NetworkMaker maker_;
};

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

// Makes the gains of scenarios from the times of their steps; `parts` is the number of ranks. They
// are parts of the recorded step, as all other figures of it are.
class GainMaker {
 public:
  GainMaker(std::vector<std::int64_t> base, std::int64_t recorded_ns, std::size_t parts)
      : base_(std::move(base)),
        recorded_ns_(recorded_ns),
        scale_(ratio(recorded_ns, sum(base_))),
        parts_(static_cast<std::int64_t>(std::max<std::size_t>(parts, 1))) {}

  Gain make(const Scenario& scenario, const std::vector<std::int64_t>& steps) const {
    Gain gain{scenario.repairs};
    gain.gain_ns = saved_ns(steps) / count();
    gain.step_ns = (recorded_ns_ - saved_ns(steps)) / count();
    std::vector<std::int64_t> each;
    std::int64_t much = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      each.push_back(scaled(base_[i] - steps[i]) / parts_);
      much += ratio(base_[i] - steps[i], base_[i]) >= kMuch ? 1 : 0;
    }
    gain.steps_share = ratio(much, static_cast<std::int64_t>(steps.size()));
    std::ranges::sort(each);
    const std::int64_t residual_ns = std::abs(sum(base_) - recorded_ns_) / count();
    const std::size_t quarter = (each.size() - 1) / 4;
    gain.often_ns = each[quarter] - residual_ns;
    gain.least_ns = std::min(each[quarter], gain.gain_ns - residual_ns);
    gain.most_ns = std::max(each[each.size() - 1 - quarter], gain.gain_ns + residual_ns);
    return gain;
  }
  void widen(Gain& gain, const std::vector<std::int64_t>& steps) const {
    const std::int64_t other_ns = saved_ns(steps) / count();
    gain.least_ns = std::min(gain.least_ns, other_ns);
    gain.most_ns = std::max(gain.most_ns, other_ns);
  }

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(base_.size()) * parts_; }
  std::int64_t scaled(std::int64_t ns) const {
    return static_cast<std::int64_t>(scale_ * static_cast<double>(ns));
  }
  // Returns the sum over all steps and ranks.
  std::int64_t saved_ns(const std::vector<std::int64_t>& steps) const {
    return scaled(sum(base_) - sum(steps));
  }

  std::vector<std::int64_t> base_;
  std::int64_t recorded_ns_;  // of all steps and ranks
  double scale_;
  std::int64_t parts_;
};

bool is_like_others(const Scenario& scenario) {
  return std::ranges::any_of(scenario.repairs, &Repair::is_like_others);
}

// Replays a job in two rounds: as it was, which shows what could be repaired, and with repairs.
class WhatIfFinder {
 public:
  // `found` has what is known without a replay.
  WhatIfFinder(const Run& run, const WhatIfRequest& request, const JobWork& job, WhatIf found)
      : request_(request),
        job_(job),
        replays_(run, job),
        ranks_(run.ranks.size()),
        found_(std::move(found)) {}

  WhatIf find() {
    if (!replay_as_it_was() || request_.path_only) return std::move(found_);
    list_scenarios();
    measure();
    return std::move(found_);
  }

 private:
  bool replay_as_it_was() {
    has_effect_.resize(request_.set.size());
    base_ = replays_.replay({{}}, !request_.path_only,
                            [&](const JobStep& step, const StepNetwork& network,
                                const StepLikes& likes, const Replay& replay) {
                              if (step.counted) look_at(step, network, likes, replay);
                            })[0];
    found_.steps = base_.size();
    if (base_.empty()) {
      found_.refusal =
          "collectives or messages were matched that are not the same: in no step does everything "
          "begin after what it waits for";
      return false;
    }
    const auto count = static_cast<std::int64_t>(base_.size() * ranks_);
    found_.step_ns = recorded_ns_ / count;
    found_.replayed_ns = sum(base_) / count;
    found_.unexplained_ns = unexplained_ns_ / count;
    for (std::size_t i = 0; i < has_effect_.size(); ++i)
      if (!has_effect_[i])
        throw UsageError(
            fmt::format("--set '{}': nothing in these traces would change: it is not "
                        "there, or nothing is like it",
                        shorten_middle(request_.set[i].text(), 100)));
    return true;
  }
  void look_at(const JobStep& step, const StepNetwork& network, const StepLikes& likes,
               const Replay& replay) {
    if (!request_.path_only && request_.set.empty()) survey_.add(replays_.facts(), network, likes);
    for (const Step& own : step.of_rank) recorded_ns_ += length_ns(own.time);
    StepRepair repair(replays_.facts(), network, likes);
    for (std::size_t i = 0; i < has_effect_.size(); ++i)
      has_effect_[i] = has_effect_[i] || !repair.durations({{request_.set[i]}}).empty();
    for (const NetworkNode& node : network.nodes)
      if (node.kept_ns > kSoon) unexplained_ns_ += node.kept_ns;
    const std::vector<PathPiece> path = replay.path(network, job_);
    for (const PathPiece& piece : path) found_.path_ns[piece.what] += length_ns(piece.time);
    if (request_.path_only) found_.path.insert(found_.path.end(), path.rbegin(), path.rend());
  }

  void list_scenarios() {
    if (!request_.set.empty()) {
      scenarios_.push_back({request_.set});
    } else {
      std::vector<Repair> odd =
          odd_ones(replays_.facts(), survey_, sum(base_) / static_cast<std::int64_t>(ranks_));
      for (const Repair& repair : odd) scenarios_.push_back({{repair}});
      for (const Repair& repair : removals(replays_.facts(), survey_))
        scenarios_.push_back({{repair}});
      for (const Repair& kernel : top_kernels(replays_.facts(), survey_, 1, -1)) {
        without_kernel_ = scenarios_.size();
        scenarios_.push_back({{kernel}});
      }
      std::vector<Repair> steady;
      for (const Repair& repair : odd)
        if (repair.kind == Kind::rank &&
            survey_.is_steady(replays_.facts().rank_numbers.at(repair.ranks.front())))
          steady.push_back(repair);
      if (steady.size() > 2) scenarios_.push_back({steady});
      if (odd.size() > kMostInPairs) odd.resize(kMostInPairs);
      for (std::size_t a = 0; a < odd.size(); ++a)
        for (std::size_t b = a + 1; b < odd.size(); ++b) scenarios_.push_back({{odd[a], odd[b]}});
    }
    plain_ = scenarios_.size();
    for (std::size_t i = 0; i < plain_; ++i)
      if (is_like_others(scenarios_[i]))
        for (const Variant variant : {Variant::low, Variant::high})
          scenarios_.push_back({scenarios_[i].repairs, variant});
  }

  void measure() {
    const GainMaker gains(base_, recorded_ns_, ranks_);
    const std::vector<std::vector<std::int64_t>> times = replays_.replay(
        scenarios_, std::ranges::any_of(scenarios_, is_like_others), [](const auto&...) {});
    std::size_t variant = plain_;
    for (std::size_t i = 0; i < plain_; ++i) {
      Gain gain = gains.make(scenarios_[i], times[i]);
      if (is_like_others(scenarios_[i]))
        for (int n = 0; n < 2; ++n) gains.widen(gain, times[variant++]);
      gain.varies = std::ranges::any_of(gain.repairs, [&](const Repair& repair) {
        return repair.kind == Kind::rank &&
               survey_.varies(replays_.facts().rank_numbers.at(repair.ranks.front()));
      });
      if (i == without_kernel_) {
        found_.longest_kernel_ns = std::max<std::int64_t>(gain.gain_ns, 0);
        continue;
      }
      (!request_.set.empty()      ? found_.asked
       : gain.repairs.size() == 1 ? found_.singles
                                  : found_.pairs)
          .push_back(std::move(gain));
    }
    for (std::vector<Gain>* const list : {&found_.singles, &found_.pairs})
      std::ranges::stable_sort(*list, std::greater(), &Gain::gain_ns);
  }

  const WhatIfRequest& request_;
  const JobWork& job_;
  JobReplay replays_;
  std::size_t ranks_;
  WhatIf found_;
  Survey survey_ = {};
  std::int64_t recorded_ns_ = 0;
  std::int64_t unexplained_ns_ = 0;
  std::vector<std::int64_t> base_ = {};  // [step], as it was
  std::vector<bool> has_effect_ = {};    // of each of request_.set
  std::vector<Scenario> scenarios_ = {};
  std::size_t plain_ = 0;  // scenarios before those with the quartiles
  std::optional<std::size_t> without_kernel_ = {};
};

}  // namespace

WhatIf find_what_if(const Run& run, const WhatIfRequest& request) {
  const JobWork job(run);
  WhatIf found;
  found.coverage = job.coverage();
  found.launches_share = job.launches_share();
  found.refusal = find_refusal(run, job);
  if (!found.refusal.empty()) return found;
  return WhatIfFinder(run, request, job, std::move(found)).find();
}

const WhatIf& find_job_gains(const Run& run) {
  return run.memo.get<WhatIf>([&] { return find_what_if(run, {}); });
}

}  // namespace traceloom
