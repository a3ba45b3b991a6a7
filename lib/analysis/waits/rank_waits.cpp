#include "analysis/waits/rank_waits.h"

#include "analysis/waits/exchanges.h"
#include "analysis/work/work_names.h"
#include "base/arithmetic.h"
#include "per_rank/per_rank.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace traceloom {
namespace {

// The places of the steps that count, ascending by key; of equal keys the first one.
using NumberedSteps = std::vector<std::pair<StepKey, std::uint32_t>>;

NumberedSteps number_steps(const RankRoles& rank) {
  NumberedSteps steps;
  steps.reserve(rank.steps.size());
  std::uint32_t place = 0;
  for (const StepRoles& step : rank.steps) {
    if (step.step.counted) steps.emplace_back(key_of(step.step), place);
    ++place;
  }
  if (!std::is_sorted(steps.begin(), steps.end())) std::sort(steps.begin(), steps.end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
  return steps;
}

// Keeps the keys that `steps` also has; both ascend.
void keep_shared(std::vector<StepKey>& keys, const NumberedSteps& steps) {
  auto step = steps.begin();
  std::erase_if(keys, [&](const StepKey& key) {
    while (step != steps.end() && step->first < key) ++step;
    return step == steps.end() || step->first != key;
  });
}

// Fills `steps` and `step_index`, and keeps the ranks with steps. It numbers the steps of one rank
// at a time, several times each, because runs with tiny steps have millions of them.
void match_steps(const std::vector<RankRoles>& roles, RankWaits& waits) {
  std::erase_if(waits.ranks, [&](std::size_t rank) { return number_steps(roles[rank]).empty(); });
  for (const std::size_t rank : waits.ranks) {
    const NumberedSteps steps = number_steps(roles[rank]);
    if (rank != waits.ranks.front()) {
      keep_shared(waits.steps, steps);
      continue;
    }
    waits.steps.reserve(steps.size());
    for (const auto& [key, place] : steps) waits.steps.push_back(key);
  }
  for (const std::size_t rank : waits.ranks) {
    const NumberedSteps steps = number_steps(roles[rank]);
    std::vector<std::uint32_t>& places = waits.step_index.emplace_back();
    places.reserve(waits.steps.size());
    auto step = steps.begin();
    for (const StepKey& key : waits.steps) {
      while (step->first != key) ++step;
      places.push_back(step->second);
    }
  }
}

// Returns the spans of each of these ranks.
std::vector<PackedIntervals> spans_with(const Run& run, const std::vector<std::size_t>& ranks,
                                        SpanMark mark) {
  return per_rank<PackedIntervals>(run, ranks, [&](std::size_t rank) {
    IntervalPacker found;
    run.ranks[rank].for_each_mark([&](const MarkedSpan& span) {
      if (span.mark == mark) found.add(span.interval());
    });
    return found.finish();
  });
}

// For each step of a rank: the time in the spans, and the part of it in which the host did other
// recorded work.
struct SpanTimes {
  std::vector<std::int64_t> all_ns;
  std::vector<std::int64_t> cpu_ns;
};

SpanTimes find_span_times(const RankRoles& roles, const PackedIntervals& spans) {
  SpanTimes found;
  found.all_ns.reserve(roles.steps.size());
  found.cpu_ns.reserve(roles.steps.size());
  IntervalWindows span_windows(spans);
  IntervalWindows cpu_windows(roles.sets[Role::cpu]);
  Intervals times;
  const auto look = [&] {
    if (times.empty()) return;
    const Interval window{times.front().from_ns, times.back().to_ns};
    const Intervals& some = span_windows.in(window);
    const std::vector<std::int64_t> all = totals_in(some, times);
    const std::vector<std::int64_t> cpu = totals_in(intersect(some, cpu_windows.in(window)), times);
    found.all_ns.insert(found.all_ns.end(), all.begin(), all.end());
    found.cpu_ns.insert(found.cpu_ns.end(), cpu.begin(), cpu.end());
    times.clear();
  };
  for (const StepRoles& step : roles.steps) {
    times.push_back(step.step.time);
    if (times.size() == kStepsAtATime) look();
  }
  look();
  return found;
}

// Adds one rank: its times in meetings, and its own work, during which no other rank waits in the
// same meeting.
void add_rank(const RankRoles& roles, const PackedIntervals& barriers,
              const std::vector<std::uint32_t>& index, RankWaits& waits) {
  SpanTimes times;
  if (!barriers.empty()) times = find_span_times(roles, barriers);
  std::vector<std::int64_t>& met_ns = waits.wait_ns.emplace_back(index.size(), 0);
  RoleTimes own;
  for_each_shared(roles.steps, index, [&](std::size_t step, const StepRoles& found) {
    own.add(found.exclusive);
    if (!barriers.empty())
      own[Role::cpu] = saturating_subtract(own[Role::cpu], times.cpu_ns[index[step]]);
    if (waits.kind == MeetingKind::collectives)
      met_ns[step] = found.exclusive[Role::communication];
    else if (waits.kind == MeetingKind::barriers && !barriers.empty())
      met_ns[step] = times.all_ns[index[step]];
  });
  own[Role::communication] = 0;
  for (const Role role : kRoles)
    own[role] /= static_cast<std::int64_t>(std::max<std::size_t>(index.size(), 1));
  waits.own_ns.push_back(own);
}

// Returns [rank][step]: the time of a rank's event/forward in the steps that all ranks have.
std::vector<std::vector<std::int64_t>> find_forward_times(const Run& run,
                                                          const std::vector<RankRoles>& roles,
                                                          const RankWaits& waits) {
  std::vector<std::vector<std::int64_t>> all;
  const std::vector<PackedIntervals> forward = spans_with(run, waits.ranks, SpanMark::forward);
  for (std::size_t i = 0; i < waits.ranks.size(); ++i) {
    const SpanTimes times = find_span_times(roles[waits.ranks[i]], forward[i]);
    std::vector<std::int64_t>& shared = all.emplace_back();
    for (const std::uint32_t step : waits.step_index[i]) shared.push_back(times.all_ns[step]);
  }
  return all;
}

std::int64_t mean_of(const std::vector<std::int64_t>& ns) {
  if (ns.empty()) return 0;
  return std::accumulate(ns.begin(), ns.end(), std::int64_t{0}, saturating_add) /
         static_cast<std::int64_t>(ns.size());
}

// Returns the estimated waits of rank 0 in event/forward, for each step.
std::vector<std::int64_t> find_root_waits(const std::vector<std::vector<std::int64_t>>& forward,
                                          const RankWaits& waits) {
  constexpr std::int64_t kAsLate = 4;  // a rank counts as equally late if the difference is below
                                       // this part of the wait
  std::vector<std::int64_t> root_ns(waits.steps.size(), 0);
  for (std::size_t step = 0; step < waits.steps.size(); ++step) {
    std::vector<std::int64_t> others;
    std::int64_t latest_ns = waits.wait_ns[1][step];
    for (std::size_t rank = 1; rank < waits.ranks.size(); ++rank) {
      others.push_back(forward[rank][step]);
      latest_ns = std::min(latest_ns, waits.wait_ns[rank][step]);
    }
    const std::int64_t longer_ns = forward[0][step] - percentile(std::move(others), 50);
    if (longer_ns > 0 && latest_ns <= saturating_add(waits.wait_ns[0][step], longer_ns / kAsLate))
      root_ns[step] = longer_ns;
  }
  return root_ns;
}

// Moves these waits from rank 0's own time to its time in meetings if they are more than noise.
void add_root_waits(const Run& run, const std::vector<RankRoles>& roles, RankWaits& waits) {
  constexpr std::int64_t kClear = 20;  // part of the mean step
  if (waits.kind != MeetingKind::barriers || run.ranks[waits.ranks.front()].rank != 0) return;
  const std::vector<std::int64_t> root_ns =
      find_root_waits(find_forward_times(run, roles, waits), waits);
  const std::int64_t mean_ns = mean_of(root_ns);
  if (mean_ns < waits.mean_step_ns / kClear) return;
  waits.root_wait_ns = mean_ns;
  for (std::size_t step = 0; step < waits.steps.size(); ++step)
    add_to(waits.wait_ns[0][step], root_ns[step]);
  std::int64_t& own_ns = waits.own_ns[0][Role::cpu];
  own_ns = std::max<std::int64_t>(own_ns - mean_ns, 0);
}

// Computes waits and delays from times in meetings.
void compare_ranks(RankWaits& waits) {
  waits.delay_ns.assign(waits.ranks.size(), std::vector<std::int64_t>(waits.steps.size(), 0));
  for (std::size_t step = 0; step < waits.steps.size() && waits.ranks.size() > 1; ++step) {
    std::vector<std::int64_t> ns;
    for (const std::vector<std::int64_t>& waited : waits.wait_ns) ns.push_back(waited[step]);
    std::nth_element(ns.begin(), ns.begin() + 1, ns.end());
    const std::int64_t least = *std::min_element(ns.begin(), ns.begin() + 2);
    const std::int64_t next = std::max(ns[0], ns[1]);
    for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank) {
      std::int64_t& waited = waits.wait_ns[rank][step];
      waits.delay_ns[rank][step] = waited == least ? next - least : 0;
      waited -= least;
    }
    if (waits.kind == MeetingKind::barriers) waits.barrier_ns.push_back(least);
  }
}

// The rank that waits least came last. Of several ranks, which are last in groups of their own, it
// is the one for which others wait most.
void find_critical(RankWaits& waits) {
  waits.critical.reserve(waits.steps.size());
  for (std::size_t step = 0; step < waits.steps.size(); ++step) {
    const auto lateness = [&](std::size_t rank) {
      return saturating_subtract(waits.delay_ns[rank][step], waits.wait_ns[rank][step]);
    };
    std::size_t last = 0;
    for (std::size_t rank = 1; rank < waits.ranks.size(); ++rank)
      if (lateness(rank) > lateness(last)) last = rank;
    waits.critical.push_back(static_cast<std::uint32_t>(last));
  }
}

// Compares collectives one by one if they can be matched.
void compare_matched(const Run& run, const std::vector<RankRoles>& roles, RankWaits& waits) {
  if (waits.kind != MeetingKind::collectives) return;
  std::optional<MatchedWaits> found = find_matched_waits(match_collectives(run), roles, waits);
  if (!found) return;
  waits.one_by_one = true;
  waits.together_ns = std::exchange(waits.wait_ns, std::move(found->wait_ns));
  waits.delay_ns = std::move(found->delay_ns);
}

// Moves the ranks that are not `wanted` to `left_out`, and returns true, if at least `count` ranks
// stay.
template <typename Wanted>
bool keep_if_several(std::ptrdiff_t count, std::vector<std::size_t>& ranks,
                     std::vector<std::size_t>& left_out, Wanted wanted) {
  if (std::count_if(ranks.begin(), ranks.end(), wanted) < count) return false;
  const auto unwanted = std::stable_partition(ranks.begin(), ranks.end(), wanted);
  left_out.assign(unwanted, ranks.end());
  ranks.erase(unwanted, ranks.end());
  return true;
}

std::int64_t mean_step(const std::vector<RankRoles>& roles, const RankWaits& waits) {
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank)
    for_each_shared(roles[waits.ranks[rank]].steps, waits.step_index[rank],
                    [&](std::size_t, const StepRoles& step) {
                      add_to(sum, step.total_ns);
                      ++count;
                    });
  return count == 0 ? 0 : sum / count;
}

}  // namespace

std::int64_t RankWaits::mean_wait_ns(std::size_t rank) const {
  return mean_of(wait_ns[rank]);
}

std::int64_t RankWaits::mean_delay_ns(std::size_t rank) const {
  return mean_of(delay_ns[rank]);
}

std::int64_t RankWaits::mean_slack_ns(std::size_t rank) const {
  return mean_of((together_ns.empty() ? wait_ns : together_ns)[rank]);
}

std::vector<std::size_t> RankWaits::times_last() const {
  std::vector<std::size_t> times(ranks.size(), 0);
  for (std::size_t step = 0; step < steps.size(); ++step)
    if (delay_ns[critical[step]][step] > 0) ++times[critical[step]];
  return times;
}

std::vector<RankRoles> find_all_roles(const Run& run) {
  return per_rank<RankRoles>(run,
                             [&](std::size_t rank) { return find_roles(run, run.ranks[rank]); });
}

RankWaits find_waits(const Run& run, const std::vector<RankRoles>& roles) {
  RankWaits waits;
  waits.ranks.resize(roles.size());
  std::iota(waits.ranks.begin(), waits.ranks.end(), std::size_t{0});
  // If steps are marked, a rank without marks is one long step, which no other rank has.
  keep_if_several(1, waits.ranks, waits.without_steps,
                  [&](std::size_t rank) { return run.ranks[rank].steps.kind != StepKind::none; });
  // A rank whose collectives were not recorded would seem to wait for no other rank.
  const bool collectives = keep_if_several(
      2, waits.ranks, waits.without_communication,
      [&](std::size_t rank) { return !roles[rank].sets[Role::communication].empty(); });
  match_steps(roles, waits);
  std::vector<PackedIntervals> barriers(waits.ranks.size());
  if (!collectives) barriers = spans_with(run, waits.ranks, SpanMark::barrier);
  const bool any_barrier = std::any_of(barriers.begin(), barriers.end(),
                                       [](const PackedIntervals& spans) { return !spans.empty(); });
  if (waits.ranks.size() > 1 && !waits.steps.empty())
    waits.kind = collectives   ? MeetingKind::collectives
                 : any_barrier ? MeetingKind::barriers
                               : MeetingKind::none;
  for (std::size_t i = 0; i < waits.ranks.size(); ++i)
    add_rank(roles[waits.ranks[i]], barriers[i], waits.step_index[i], waits);
  waits.mean_step_ns = mean_step(roles, waits);
  add_root_waits(run, roles, waits);
  compare_ranks(waits);
  compare_matched(run, roles, waits);
  find_critical(waits);
  return waits;
}

namespace {

// The messages of one rank.
struct RankMessages {
  Intervals waits;
  Intervals moves;     // of messages and collectives
  Intervals messages;  // of which the other end is known: waiting and moving data
  Intervals unknown;
  std::size_t sent = 0;
  std::size_t received = 0;
};
using Messages = std::map<std::size_t, RankMessages>;

Intervals united(Intervals a, const Intervals& b) {
  a.insert(a.end(), b.begin(), b.end());
  return unite(std::move(a));
}

RankMessages messages_of(const RankExchanges& rank, bool lacks_ranks) {
  RankMessages found{united(rank.collectives.waits, rank.messages.waits),
                     united(rank.collectives.moves, rank.messages.moves),
                     united(rank.messages.waits, rank.messages.moves),
                     united(rank.collectives.unknown, rank.messages.unknown),
                     rank.sent,
                     rank.received};
  if (lacks_ranks) found.unknown = united(std::move(found.unknown), rank.alone);
  return found;
}

// Returns the times of the messages of a rank.
Intervals find_messages_of(const Run& run, std::size_t rank) {
  const auto is_message = [&](const DeviceSpan& span) {
    return run.labels.kind(span.label).role == Role::communication &&
           is_point_to_point(run.labels.name(span.label));
  };
  bool any = false;
  run.ranks[rank].for_each_device([&](const DeviceSpan& span) { any = any || is_message(span); });
  Intervals found;
  if (!any) return found;
  for (const CommunicationPiece& piece : find_communication(run, rank)) {
    if (!is_point_to_point(piece.what.name)) continue;
    for (const CollectivePart& part : piece.what.parts)
      found.push_back({part.start_ns, part.end_ns});
  }
  return found;
}

// Uses pieces alone, before the slow matching of collectives; returns nothing if there are no
// messages.
Messages find_unknown(const Run& run, const std::vector<std::size_t>& ranks) {
  Messages found;
  const auto find = [&](std::size_t rank) { return find_messages_of(run, rank); };
  for_each_rank<Intervals>(run, ranks, find, [&](std::size_t rank, Intervals messages) {
    if (!messages.empty()) found[rank].unknown = std::move(messages);
  });
  return found;
}

Messages find_messages(const Run& run, const std::vector<std::size_t>& of_ranks, bool lacks_ranks) {
  Messages ranks = find_unknown(run, of_ranks);
  if ((!ranks.empty() || lacks_ranks) && run.ranks.size() > 1) {
    ranks.clear();
    const std::vector<RankExchanges> all = find_exchanges(run, lacks_ranks);
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      ranks[rank] = messages_of(all[rank], lacks_ranks);
    return ranks;
  }
  for (auto& [rank, messages] : ranks) messages.unknown = unite(std::move(messages.unknown));
  return ranks;
}

// Returns the parts of a rank's steps that are communication and no role before it, in Role's
// order.
Intervals exposed_communication(const RankRoles& roles) {
  Intervals left = intersect(roles.counted(), unpacked(roles.sets[Role::communication]));
  for (const Role role : {Role::kernel, Role::memcpy, Role::memset})
    left = subtract(left, unpacked(roles.sets[role]));
  return left;
}

// The parts of the steps up to the rank's last message in each.
Intervals until_last_message(const RankRoles& roles, const Intervals& messages) {
  Intervals parts;
  for (const StepRoles& step : roles.steps) {
    const Interval& time = step.step.time;
    const auto next =
        std::partition_point(messages.begin(), messages.end(),
                             [&](const Interval& message) { return message.from_ns < time.to_ns; });
    if (next != messages.begin() && (next - 1)->to_ns > time.from_ns)
      parts.push_back({time.from_ns, std::min((next - 1)->to_ns, time.to_ns)});
  }
  return unite(std::move(parts));
}

// What moves data in all of the exposed communication that is no waiting and not unknown.
void add_moves(const RankRoles& roles, const RankMessages& rank, const Intervals& exposed,
               StageWaits& stages) {
  const Intervals moves = intersect(exposed, rank.moves);
  const Intervals of_collectives = subtract(moves, rank.messages);
  const std::int64_t inner_ns =
      total_ns(intersect(of_collectives, until_last_message(roles, rank.messages)));
  add_to(stages.message_ns, total_ns(moves) - total_ns(of_collectives));
  add_to(stages.inner_ns, inner_ns);
  add_to(stages.end_ns, total_ns(of_collectives) - inner_ns);
}

}  // namespace

StageWaits find_stage_waits(const Run& run, const std::vector<RankRoles>& roles,
                            const std::vector<std::size_t>& ranks, bool lacks_ranks) {
  StageWaits stages;
  if (lacks_ranks && run.ranks.size() == 1) {
    for (const std::size_t rank : ranks)
      add_to(stages.unknown_ns, total_ns(exposed_communication(roles[rank])));
    return stages;
  }
  const Messages messages = find_messages(run, ranks, lacks_ranks);
  stages.is_pipeline = std::ranges::any_of(
      messages, [](const auto& rank) { return rank.second.sent > 0 && rank.second.received > 0; });
  for (const std::size_t rank : ranks) {
    const auto found = messages.find(rank);
    if (found == messages.end()) continue;
    const RankMessages& own = found->second;
    const Intervals exposed = exposed_communication(roles[rank]);
    const Intervals known = subtract(exposed, own.moves);
    const std::int64_t waits_ns = total_ns(intersect(known, own.waits));
    stages.messages += own.sent + own.received;
    add_to(stages.wait_ns, waits_ns);
    add_moves(roles[rank], own, exposed, stages);
    add_to(stages.unknown_ns, total_ns(intersect(subtract(known, own.waits), own.unknown)));
  }
  return stages;
}

}  // namespace traceloom
