#include "clock/collective_rounds.h"

#include "base/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace traceloom {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

using Outcome = CollectiveFit::Outcome;
constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();
// Ranks leave a collective at times that differ by some per cent of its length.
constexpr std::int64_t kPercentOfCollective = 3;
constexpr std::size_t kStepsSearched = 64;
// With more clocks, the one that was placed last is taken for the wrong one of a circle, untried.
constexpr std::size_t kMostTried = 256;

// Converts the time of a clock into one without its known drift.
struct Steady {
  double slope = 0;
  double slope_error = 0;
  std::int64_t middle_ns = 0;  // on the clock itself

  std::int64_t at(std::int64_t ns) const {
    return saturating_subtract(ns, std::llround(slope * since_middle(ns)));
  }
  // Returns the possible error of at() at `ns` if it is right in the middle.
  std::int64_t error_at(std::int64_t ns) const {
    return static_cast<std::int64_t>(std::ceil(slope_error * std::abs(since_middle(ns))));
  }
  std::int64_t earliest(std::int64_t ns) const { return saturating_subtract(at(ns), error_at(ns)); }
  std::int64_t latest(std::int64_t ns) const { return saturating_add(at(ns), error_at(ns)); }

 private:
  double since_middle(std::int64_t ns) const {
    return static_cast<double>(saturating_subtract(ns, middle_ns));
  }
};

std::int64_t length_of(const RoundPart& part) {
  return saturating_subtract(part.end_ns, part.begin_ns);
}

std::int64_t moving_ns(const CollectiveRound& round) {
  std::int64_t least_ns = kLatest;
  for (const RoundPart& part : round.parts) least_ns = std::min(least_ns, length_of(part));
  return least_ns;
}

const RoundPart* find_part(const CollectiveRound& round, std::size_t clock) {
  const auto part = std::ranges::find(round.parts, clock, &RoundPart::clock);
  return part == round.parts.end() ? nullptr : &*part;
}

// The first ends may scatter by half of a small change, so the last ones decide, too.
bool came_back(const PairFit& found, std::int64_t change_ns) {
  return std::abs(saturating_subtract(found.last_ends_ns, found.first_ends_ns)) < change_ns / 2 ||
         std::abs(found.last_ends_ns) < change_ns / 4;
}

class ClockFitter {
 public:
  ClockFitter(std::size_t clocks, std::size_t reference, std::int64_t middle_ns,
              const std::vector<CollectiveRound>& rounds)
      : reference_(reference),
        rounds_(rounds),
        fits_(clocks),
        steady_(clocks),
        rounds_of_(clocks),
        by_messages_(clocks),
        is_met_(rounds.size()) {
    fits_[reference].outcome = Outcome::reference;
    fits_[reference].partner = reference;
    steady_[reference].middle_ns = middle_ns;
    for (const CollectiveRound& round : rounds_) {
      moving_.push_back(moving_ns(round));
      for (const RoundPart& part : round.parts) rounds_of_[part.clock].push_back({&round, &part});
    }
  }

  std::vector<CollectiveFit> run() {
    fresh_[0] = fresh_[1] = {reference_};
    while (place_next()) {
    }
    find_ranges();
    return std::move(fits_);
  }

 private:
  // A placed clock with which another clock can be compared.
  struct Partner {
    std::size_t clock = 0;
    std::int64_t moving_ns = 0;
  };

  // When a clock entered a round at the earliest and left it at the latest, in its steady time;
  // kLatest for the sender of a message, which may leave before the other enters.
  struct Presence {
    std::int64_t entered_ns = 0;
    std::int64_t left_ns = 0;
  };

  // The part of a clock in a round.
  struct Part {
    const CollectiveRound* round;
    const RoundPart* part;
  };

  // The way from the reference to a clock: how far it is ahead of it at most, or behind it; kLatest
  // if there is none. The clock before it on the way.
  struct Way {
    std::int64_t ns = kLatest;
    std::size_t before = kNone;
  };
  using Circle = std::vector<std::size_t>;  // clocks that contradict each other, ascending

  bool is_placed(std::size_t clock) const {
    return fits_[clock].outcome == Outcome::reference || fits_[clock].outcome == Outcome::fitted;
  }

  // Places all clocks that can be compared with placed ones. Messages are used only if no
  // collective leads to a further clock.
  bool place_next() {
    for (const bool by_messages : {false, true}) {
      const std::map<std::size_t, Partner> found = partners(by_messages);
      for (const auto& [clock, partner] : found) place(clock, partner, by_messages);
      if (!found.empty()) return true;
    }
    return false;
  }

  // A round of clocks that are all old has no clock without a place any more.
  std::map<std::size_t, Partner> partners(bool by_messages) {
    std::map<std::size_t, Partner> found;
    for (const std::size_t index : rounds_with(std::exchange(fresh_[by_messages ? 1 : 0], {}))) {
      const CollectiveRound& round = rounds_[index];
      if (round.is_message != by_messages) continue;
      const auto known = std::ranges::find_if(
          round.parts, [this](const RoundPart& part) { return is_placed(part.clock); });
      if (known == round.parts.end()) continue;
      const RoundPart* const reference = find_part(round, reference_);
      const Partner partner{reference != nullptr ? reference_ : known->clock, moving_[index]};
      for (const RoundPart& part : round.parts) {
        if (fits_[part.clock].outcome != Outcome::unconnected) continue;
        Partner& best = found.try_emplace(part.clock, partner).first->second;
        const bool is_nearer = (partner.clock == reference_) != (best.clock == reference_)
                                   ? partner.clock == reference_
                                   : partner.moving_ns < best.moving_ns;
        if (is_nearer) best = partner;
      }
    }
    return found;
  }

  // Returns the rounds of these clocks, in their order.
  std::vector<std::size_t> rounds_with(const std::vector<std::size_t>& clocks) const {
    std::vector<std::size_t> rounds;
    for (const std::size_t clock : clocks)
      for (const Part& part : rounds_of_[clock])
        if (!std::exchange(is_met_[index_of(*part.round)], char{1}))
          rounds.push_back(index_of(*part.round));
    for (const std::size_t round : rounds) is_met_[round] = 0;
    std::ranges::sort(rounds);
    return rounds;
  }

  void place(std::size_t clock, const Partner& partner, bool by_messages) {
    CollectiveFit& fit = fits_[clock];
    const CollectiveFit& known = fits_[partner.clock];
    // The rounds are compared with the steady time of the partner, so that the slope is relative to
    // the reference.
    const std::vector<PairedRound> rounds = paired(partner.clock, clock, by_messages);
    const ClockSlope slope = by_messages ? slope_of({}) : slope_of(rounds);
    steady_[clock] = {slope.slope, steady_[partner.clock].slope_error + slope.uncertainty,
                      saturating_add(steady_[partner.clock].middle_ns, fit_pair(rounds).ends_ns)};
    const PairFit found = fit_pair(paired(partner.clock, clock, by_messages));
    fit.partner = partner.clock;
    fit.ahead_ns = saturating_add(known.ahead_ns, found.ends_ns);
    fit.residual_p50_ns = found.residual_p50_ns;
    fit.residual_p95_ns = found.residual_p95_ns;
    fit.least_error_ns =
        std::max(known.least_error_ns, found.moving_ns / 100 * kPercentOfCollective);
    fit.scatter_ns = std::max(known.scatter_ns, found.scatter_ns);
    fit.slope = steady_[clock].slope;
    fit.slope_error = steady_[clock].slope_error;
    const bool is_steady = slope.jump_ns == 0 && slope.excess == 0;
    fit.outcome = found.is_contradiction() || !is_steady ? Outcome::contradiction : Outcome::fitted;
    if (fit.outcome == Outcome::contradiction) {
      fit.change_ns = found.change_ns;
      if (by_messages) fit.change_ns = saturating_subtract(found.ahead.low_ns, found.ahead.high_ns);
      if (slope.jump_ns != 0) fit.change_ns = std::abs(slope.jump_ns);
      fit.is_least_change = by_messages;
      fit.came_back = slope.excess == 0 && came_back(found, fit.change_ns);
      fit.ahead_ns = saturating_add(known.ahead_ns, found.last_ends_ns);
      fit.excess_slope = slope.excess;
      fit.was_set = slope.jump_ns != 0 || (found.was_set && slope.excess == 0);
      return;
    }
    placed_.push_back(clock);
    for (std::vector<std::size_t>& fresh : fresh_) fresh.push_back(clock);
    by_messages_[clock] = by_messages;
  }

  std::vector<PairedRound> paired(std::size_t a, std::size_t b, bool by_messages) const {
    std::vector<PairedRound> found;
    for (const auto& [round, part] : rounds_of_[b]) {
      if (round->is_message != by_messages) continue;
      const auto of_a = std::ranges::lower_bound(rounds_of_[a], round, {}, &Part::round);
      if (of_a != rounds_of_[a].end() && of_a->round == round)
        found.push_back(pair(*round, *of_a->part, *part));
    }
    return found;
  }

  PairedRound pair(const CollectiveRound& round, const RoundPart& a, const RoundPart& b) const {
    const Presence of_a = presence(round, a);
    const Presence of_b = presence(round, b);
    PairedRound paired;
    paired.at_ns = a.end_ns;
    paired.ends_ns =
        saturating_subtract(steady_[b.clock].at(b.end_ns), steady_[a.clock].at(a.end_ns));
    paired.length_ns = std::min(length_of(a), length_of(b));
    paired.moving_ns = moving_[index_of(round)];
    paired.ahead.low_ns =
        of_a.left_ns == kLatest ? kEarliest : saturating_subtract(of_b.entered_ns, of_a.left_ns);
    paired.ahead.high_ns =
        of_b.left_ns == kLatest ? kLatest : saturating_subtract(of_b.left_ns, of_a.entered_ns);
    return paired;
  }

  void find_ranges() {
    std::vector<std::size_t> odd_ones;
    Circle circle;
    std::vector<ClockRange> ahead = ranges(circle);
    while (!circle.empty()) {
      odd_ones.push_back(odd_one(circle));
      fits_[odd_ones.back()].outcome = Outcome::contradiction;
      ahead = ranges(circle);
    }
    for (const std::size_t clock : placed_) {
      if (!is_placed(clock)) continue;
      if (ahead[clock] == ClockRange{kEarliest, kLatest})
        fits_[clock].outcome = Outcome::unconnected;
      else
        take_range(clock, ahead[clock]);
    }
    for (const std::size_t clock : odd_ones) find_change(clock);
  }

  Presence presence(const CollectiveRound& round, const RoundPart& part) const {
    const Steady& steady = steady_[part.clock];
    const bool sends = round.is_message && &part == &round.parts.front();
    return {steady.earliest(part.begin_ns), sends ? kLatest : steady.latest(part.end_ns)};
  }

  std::size_t index_of(const CollectiveRound& round) const {
    return static_cast<std::size_t>(&round - rounds_.data());
  }

  // A round limits each of its clocks against each other one. All these limits are the sum of what
  // enters the round and what leaves it, so only the shortest way into the round counts: 10,000
  // ranks have 100 million pairs a collective. Adds the clocks that are nearer than before to
  // `nearer`.
  void shorten(const CollectiveRound& round, bool is_turned, std::vector<Way>& ways,
               std::vector<std::size_t>& nearer) const {
    const auto in_and_out = [&](const RoundPart& part) {
      const Presence here = presence(round, part);
      const std::int64_t entered_ns = saturating_subtract(0, here.entered_ns);
      return is_turned ? std::pair(here.left_ns, entered_ns) : std::pair(entered_ns, here.left_ns);
    };
    const auto add = [](std::int64_t ns, std::int64_t more_ns) {
      return more_ns == kLatest ? kLatest : saturating_add(ns, more_ns);
    };
    Way in;
    for (const RoundPart& part : round.parts) {
      if (ways[part.clock].ns == kLatest) continue;
      const std::int64_t in_ns = add(ways[part.clock].ns, in_and_out(part).first);
      if (in_ns < in.ns) in = {in_ns, part.clock};
    }
    for (const RoundPart& part : round.parts) {
      if (in.before == kNone || part.clock == in.before || !is_placed(part.clock)) continue;
      const std::int64_t ns = add(in.ns, in_and_out(part).second);
      if (ns >= ways[part.clock].ns) continue;
      ways[part.clock] = {ns, in.before};
      nearer.push_back(part.clock);
    }
  }

  // The algorithm of Bellman and Ford. A shorter way that returns to a clock shows as a circle in
  // the links, mostly at once; a chain of thousands of clocks is not searched for it at each step.
  std::vector<Way> shortest(bool is_turned, Circle& circle) const {
    std::vector<Way> ways(fits_.size());
    ways[reference_].ns = 0;
    std::vector<std::size_t> nearer{reference_};
    for (std::size_t step = 0; !nearer.empty() && circle.empty(); ++step) {
      for (const std::size_t round : rounds_with(std::exchange(nearer, {})))
        shorten(rounds_[round], is_turned, ways, nearer);
      if (step % (step / kStepsSearched + 1) == 0) circle = circle_in(ways);
    }
    return ways;
  }

  // Returns a circle among the links of the ways; empty if there is none.
  static Circle circle_in(const std::vector<Way>& ways) {
    std::vector<std::size_t> seen_from(ways.size(), kNone);
    for (std::size_t start = 0; start < ways.size(); ++start) {
      std::size_t at = start;
      while (at != kNone && seen_from[at] == kNone) {
        seen_from[at] = start;
        at = ways[at].before;
      }
      if (at == kNone || seen_from[at] != start) continue;
      Circle circle{at};
      for (std::size_t next = ways[at].before; next != at; next = ways[next].before)
        circle.push_back(next);
      std::ranges::sort(circle);
      return circle;
    }
    return {};
  }

  // Returns the leads over the reference, or finds a circle.
  std::vector<ClockRange> ranges(Circle& circle) const {
    circle.clear();
    const std::vector<Way> most = shortest(false, circle);
    const std::vector<Way> least = shortest(true, circle);
    std::vector<ClockRange> ahead;
    for (std::size_t clock = 0; clock < fits_.size(); ++clock)
      ahead.push_back({least[clock].ns == kLatest ? kEarliest : -least[clock].ns, most[clock].ns});
    return ahead;
  }

  // Returns the clock of the circle without which all others fit; if there is none, the one that
  // was placed last. A circle has another clock than the reference.
  std::size_t odd_one(const Circle& circle) {
    std::size_t last = kNone;
    for (auto clock = placed_.rbegin(); clock != placed_.rend(); ++clock) {
      if (!is_placed(*clock) || !std::ranges::binary_search(circle, *clock)) continue;
      if (last == kNone) last = *clock;
      if (fits_.size() > kMostTried) break;
      fits_[*clock].outcome = Outcome::contradiction;
      Circle left;
      ranges(left);
      fits_[*clock].outcome = Outcome::fitted;
      if (left.empty()) return *clock;
    }
    return last;
  }

  void take_range(std::size_t clock, const ClockRange& ahead) {
    CollectiveFit& fit = fits_[clock];
    fit.ahead = ahead;
    if (by_messages_[clock] && ahead.low_ns != kEarliest && ahead.high_ns != kLatest)
      fit.ahead_ns = ahead.middle_ns();
    fit.ahead_ns = std::clamp(fit.ahead_ns, ahead.low_ns, ahead.high_ns);
  }

  // Finds by how much a clock of a circle contradicts the clocks that fit: by the ends of the
  // collectives with one of them, or by the ranges of all of them.
  void find_change(std::size_t clock) {
    CollectiveFit& fit = fits_[clock];
    ClockRange ahead{kEarliest, kLatest};
    std::set<std::size_t> others;
    for (const Part& part : rounds_of_[clock])
      for (const RoundPart& one : part.round->parts) others.insert(one.clock);
    for (const std::size_t other : others) {
      if (!is_placed(other)) continue;
      const ClockRange its = other == reference_ ? ClockRange{0, 0} : fits_[other].ahead;
      for (const bool by_messages : {false, true}) {
        const std::vector<PairedRound> rounds = paired(other, clock, by_messages);
        if (rounds.empty()) continue;
        const PairFit found = fit_pair(rounds);
        if (found.ahead.low_ns != kEarliest)
          ahead.low_ns = std::max(ahead.low_ns, saturating_add(its.low_ns, found.ahead.low_ns));
        if (found.ahead.high_ns != kLatest)
          ahead.high_ns = std::min(ahead.high_ns, saturating_add(its.high_ns, found.ahead.high_ns));
        if (by_messages || found.change_ns <= fit.change_ns) continue;
        fit.change_ns = found.change_ns;
        fit.was_set = found.was_set;
        fit.came_back = came_back(found, found.change_ns);
        fit.ahead_ns = saturating_add(fits_[other].ahead_ns, found.last_ends_ns);
      }
    }
    if (fit.change_ns != 0 || ahead.low_ns <= ahead.high_ns) return;
    fit.change_ns = saturating_subtract(ahead.low_ns, ahead.high_ns);
    fit.is_least_change = true;
    fit.came_back = true;  // nothing is known of its end
  }

  std::size_t reference_;
  const std::vector<CollectiveRound>& rounds_;
  std::vector<CollectiveFit> fits_;
  std::vector<Steady> steady_;
  std::vector<std::vector<Part>> rounds_of_;  // for each clock, in the order of the rounds
  std::vector<std::int64_t> moving_;          // for each round
  std::vector<bool> by_messages_;             // the clock has no usable end of a collective
  std::vector<std::size_t> placed_;           // in the order in which they were placed
  // Placed clocks whose collectives, or whose messages, have not been asked for partners.
  std::vector<std::size_t> fresh_[2];
  mutable std::vector<char> is_met_;  // for each round, in rounds_with()
};

}  // namespace

std::int64_t CollectiveFit::error_ns(std::int64_t taken_ns) const {
  return std::max({least_error_ns, scatter_ns, farthest(taken_ns, ahead)});
}

std::vector<CollectiveFit> fit_clocks(std::size_t clocks, std::size_t reference,
                                      std::int64_t middle_ns,
                                      const std::vector<CollectiveRound>& rounds) {
  return ClockFitter(clocks, reference, middle_ns, rounds).run();
}

}  // namespace traceloom
