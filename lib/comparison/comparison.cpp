#include "comparison/comparison.h"

#include "base/arithmetic.h"
#include "comparison/judge/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <tuple>

namespace traceloom {
namespace {

std::string why_inconclusive(const Judgement& judgement, const JudgeOptions& options,
                             bool has_history) {
  if (judgement.is_vetoed) return veto_text(judgement);
  if (judgement.runs > 0) return unclear_runs_text(judgement);
  if (!judgement.bounds && has_history)
    return "neither the sides nor the history show the noise between captures: --history needs at "
           "least 2 captures of one version, with 6 steps each";
  if (!judgement.bounds)
    return "one capture a side does not show the noise between captures: take at least 3 a side, "
           "give --history, or assume a noise (--noise 1%)";
  const std::string noise =
      fmt::format("at a noise of {:.1f} % between captures ", 100 * judgement.bounds->noise);
  if (judgement.captures_needed)
    return noise + fmt::format("a change of {:.3g} % needs {} captures a side", 100 * options.limit,
                               *judgement.captures_needed);
  return noise + fmt::format("even 199 captures a side do not show a change of {:.3g} %",
                             100 * options.limit);
}

void take_step(const ComparedSides& sides, const CompareOptions& options, Comparison& found) {
  if (!found.judgement) {
    found.why = fmt::format("no capture of the {} side has {} steps: record more steps a capture",
                            values_of(sides.base).empty() ? "base" : "new", kLeastSteps + 1);
    return;
  }
  found.kind = found.judgement->kind;
  if (found.kind == ChangeKind::inconclusive)
    found.why = why_inconclusive(*found.judgement, options.judge, !sides.history.empty());
}

// Higher is worse: a regression of one metric is one of all, whatever the others are.
int weight(ChangeKind kind) {
  if (kind == ChangeKind::regression) return 2;
  return kind == ChangeKind::inconclusive ? 1 : 0;
}

Comparison judge_all(const ComparedSides& sides, const CompareOptions& options) {
  Comparison found{judge_sides(sides, options.judge, options.gates)};
  take_step(sides, options, found);
  if (found.judgement && std::any_of(options.gates.begin(), options.gates.end(), is_step_gate)) {
    found.kind = ChangeKind::ok;
    found.why.clear();
  }
  for (const MetricAnswer& answer : found.gates) {
    if (weight(answer.kind) <= weight(found.kind)) continue;
    found.kind = answer.kind;
    found.why = answer.why;
  }
  return found;
}

void forbid_differences(const CompareOptions& options, Comparison& found) {
  for (Difference& difference : found.differences) {
    if (options.allowed.contains(std::string(difference.key))) difference.forbids = false;
    if (!difference.forbids || found.kind == ChangeKind::incomparable) continue;
    found.kind = ChangeKind::incomparable;
    found.why =
        fmt::format("{} (--allow {} compares all the same)", difference.text, difference.key);
  }
}

// One rank of both sides.
struct BothSides {
  SideRank base;
  SideRank changed;
  ModuleRows modules = ModuleRows::apart;
};

// Rows name modules only if all captures do: a side without them would lack these rows.
BothSides both_sides(const ComparedSides& sides, const ComparedSteps& steps, std::int64_t rank) {
  std::set<bool> named = name_modules(sides.base, rank);
  named.merge(name_modules(sides.changed, rank));
  const ModuleRows modules = named.size() == 2 ? ModuleRows::joined : ModuleRows::apart;
  return {side_rank(sides.base, rank, steps, modules),
          side_rank(sides.changed, rank, steps, modules), modules};
}

std::vector<std::int64_t> common_ranks(const ComparedSides& sides) {
  const std::vector<std::int64_t> some = ranks_with_steps(sides.base);
  const std::vector<std::int64_t> others = ranks_with_steps(sides.changed);
  std::vector<std::int64_t> both;
  std::set_intersection(some.begin(), some.end(), others.begin(), others.end(),
                        std::back_inserter(both));
  return both;
}

RoleTimes roles_of(const SideRank& side) {
  RoleTimes times;
  for (const SideRow& row : side.rows) add_to(times[row.key.role], row.exclusive_ns);
  return times;
}

// Chooses the rank to show, and those that changed with it: of the ranks whose own work changed in
// the direction of the step. If no such work explains half of the change, it is communication, and
// steps are compared.
void choose_rank(Comparison& found) {
  const auto largest = [&](auto number_of) {
    return std::max_element(
        found.ranks.begin(), found.ranks.end(),
        [&](const RankDelta& a, const RankDelta& b) { return number_of(a) < number_of(b); });
  };
  const auto longest = largest([](const RankDelta& rank) { return std::abs(rank.delta_ns()); });
  if (longest == found.ranks.end()) return;
  const std::int64_t sign = longest->delta_ns() < 0 ? -1 : 1;
  const auto own = [&](const RankDelta& rank) { return sign * rank.own_ns(); };
  const auto step = [&](const RankDelta& rank) { return sign * rank.delta_ns(); };
  auto shown = largest(own);
  found.moved_together = own(*shown) < step(*longest) / 2;
  if (found.moved_together) shown = longest;
  const auto number = [&](const RankDelta& rank) {
    return found.moved_together ? step(rank) : own(rank);
  };
  const std::int64_t most = number(*shown);
  for (const RankDelta& rank : found.ranks)
    if (most > 0 && number(rank) >= most / 2 && number(rank) > 0) found.moved.push_back(rank.rank);
  found.shown = static_cast<std::size_t>(shown - found.ranks.begin());
}

// Joins what the rows have, each text once.
std::string joined_texts(const SideRank& side, const std::vector<std::size_t>& rows,
                         std::string RowKey::*text) {
  std::vector<std::string_view> texts;
  for (const std::size_t i : rows)
    if (const std::string& one = side.rows[i].key.*text;
        !one.empty() && std::find(texts.begin(), texts.end(), one) == texts.end())
      texts.push_back(one);
  return fmt::format("{}", fmt::join(texts, " + "));
}

RowSums sums_of(const SideRank& side, const std::vector<std::size_t>& rows) {
  RowSums sums{joined_texts(side, rows, &RowKey::op), joined_texts(side, rows, &RowKey::name),
               joined_texts(side, rows, &RowKey::module)};
  for (const std::size_t i : rows) {
    const SideRow& row = side.rows[i];
    sums.step_ns += row.exclusive_ns;
    sums.total_ns += row.total_ns;
    sums.calls += row.count;
  }
  return sums;
}

// True if the rows of a match differ by their modules alone: they are calls of one kernel.
bool is_one_kernel(const BothSides& sides, const RowMatch& match) {
  if (match.base.empty() || match.changed.empty()) return false;
  const RowKey& first = sides.base.rows[match.base.front()].key;
  const auto is_alike = [&](const SideRow& row) {
    return row.key.role == first.role && row.key.op == first.op && row.key.name == first.name;
  };
  return std::all_of(match.base.begin(), match.base.end(),
                     [&](std::size_t row) { return is_alike(sides.base.rows[row]); }) &&
         std::all_of(match.changed.begin(), match.changed.end(),
                     [&](std::size_t row) { return is_alike(sides.changed.rows[row]); });
}

std::string structure_of(const RowMatch& match) {
  if (match.base.empty()) return "new";
  if (match.changed.empty()) return "gone";
  if (match.base.size() > 1 && match.changed.size() > 1) return "replaced";
  if (match.changed.size() > 1) return "split";
  if (match.base.size() > 1) return "fused";
  return match.level == MatchLevel::exact ? "" : "renamed";
}

// The rows of a rank in each capture, which show the noise of rows.
class RowNoise {
 public:
  RowNoise(const ComparedSides& sides, const BothSides& of, const Comparison& found)
      : of_(of),
        base_(by_capture(sides.base, of, found)),
        changed_(by_capture(sides.changed, of, found)) {}

  // The share of its time from which on a change of a row may have a name. One capture a side shows
  // no noise.
  double least_change() const { return base_.size() + changed_.size() > 2 ? 0.02 : 0.05; }
  // True if chance does not make the sum of the rows of a match differ so. What does not vary on
  // either side has no noise.
  template <typename Number>
  bool shows(const RowMatch& match, Number SideRow::*number) const {
    constexpr double kNoLimit = std::numeric_limits<double>::infinity();
    const ChangeKind kind =
        judge({numbers(base_, of_.base, match.base, number),
               numbers(changed_, of_.changed, match.changed, number)},
              {.floor = 0, .limit = kNoLimit, .scale = ChangeScale::units, .noise = 0})
            .kind;
    return kind == ChangeKind::regression || kind == ChangeKind::improvement;
  }

 private:
  static std::vector<SideRank> by_capture(const std::vector<Capture>& side, const BothSides& of,
                                          const Comparison& found) {
    std::vector<SideRank> ranks;
    for (const Capture& capture : side)
      ranks.push_back(side_rank({&capture, 1}, of.base.rank, found.steps, of.modules));
    std::erase_if(ranks, [](const SideRank& rank) { return rank.rows.empty(); });
    return ranks;
  }

  // Returns the sum of these rows in each capture.
  template <typename Number>
  static std::vector<double> numbers(const std::vector<SideRank>& captures, const SideRank& side,
                                     const std::vector<std::size_t>& rows,
                                     Number SideRow::*number) {
    std::vector<double> sums(captures.size());
    for (std::size_t i = 0; i < captures.size(); ++i)
      for (const std::size_t row : rows)
        for (const SideRow& one :
             std::ranges::equal_range(captures[i].rows, side.rows[row].key, {}, &SideRow::key))
          sums[i] += static_cast<double>(one.*number);
    return sums;
  }

  const BothSides& of_;
  std::vector<SideRank> base_;
  std::vector<SideRank> changed_;
};

// Returns what makes the time of a row differ that both sides have; "" if nothing is to be named.
std::string change_of(const RowDelta& row, const RowMatch& match, const RowNoise& noise) {
  constexpr double kNamedCalls = 0.005;
  const RowSums& base = row.base;
  const RowSums& changed = row.changed;
  const std::int64_t delta = row.delta_ns();
  const std::int64_t total = row.total_delta_ns();
  const double calls = changed.calls - base.calls;
  if (std::abs(calls) > kNamedCalls * std::max(base.calls, changed.calls) &&
      noise.shows(match, &SideRow::count))
    return calls > 0 ? "more calls" : "fewer calls";
  const auto of_ns = static_cast<double>(
      std::min(std::max(base.total_ns, base.step_ns), std::max(changed.total_ns, changed.step_ns)));
  const auto is_named = [&](std::int64_t change, std::int64_t SideRow::*time) {
    return change != 0 && std::abs(static_cast<double>(change)) >= noise.least_change() * of_ns &&
           noise.shows(match, time);
  };
  const bool is_longer = delta > 0;
  if ((delta == 0 || (total > 0) == is_longer) && is_named(total, &SideRow::total_ns))
    return total > 0 ? "slower calls" : "faster calls";
  if (!is_named(delta, &SideRow::exclusive_ns)) return "";
  if (base.calls == 0) return is_longer ? "longer" : "shorter";
  return is_longer ? "less hidden" : "more hidden";
}

RowDelta row_delta(const BothSides& sides, const RowMatch& match, const RowNoise& noise) {
  RowDelta row;
  row.level = match.level;
  row.role = match.base.empty() ? sides.changed.rows[match.changed.front()].key.role
                                : sides.base.rows[match.base.front()].key.role;
  row.base = sums_of(sides.base, match.base);
  row.changed = sums_of(sides.changed, match.changed);
  // A wait that one side does not have is no other work.
  const bool is_lone_wait = row.base.name.empty()
                                ? row.changed.name.ends_with(kWaitSuffix)
                                : row.changed.name.empty() && row.base.name.ends_with(kWaitSuffix);
  if (is_lone_wait) {
    row.level = MatchLevel::exact;
    row.what = row.base.name.empty() ? "longer" : "shorter";
    return row;
  }
  const bool is_one = is_one_kernel(sides, match);
  if (!is_one) row.what = structure_of(match);
  // The calls of other joined rows say nothing: a split kernel has more of them.
  if (!is_one && (match.base.size() != 1 || match.changed.size() != 1)) return row;
  const std::string change = change_of(row, match, noise);
  row.what += (row.what.empty() || change.empty() ? "" : ", ") + change;
  return row;
}

MatchedShares matched_shares(const std::vector<RowDelta>& rows) {
  MatchedShares shares;
  double base_ns = 0;
  double changed_ns = 0;
  for (const RowDelta& row : rows) {
    if (!is_device_role(row.role)) continue;
    const auto level = static_cast<std::size_t>(row.level);
    shares.base[level] += static_cast<double>(row.base.total_ns);
    shares.changed[level] += static_cast<double>(row.changed.total_ns);
    base_ns += static_cast<double>(row.base.total_ns);
    changed_ns += static_cast<double>(row.changed.total_ns);
  }
  for (std::size_t i = 0; i < kMatchLevels; ++i) {
    if (base_ns > 0) shares.base[i] /= base_ns;
    if (changed_ns > 0) shares.changed[i] /= changed_ns;
  }
  return shares;
}

void explain(const ComparedSides& all, const BothSides& sides, Comparison& found) {
  const RowNoise noise(all, sides, found);
  for (const RowMatch& match : match_rows(sides.base, sides.changed))
    found.rows.push_back(row_delta(sides, match, noise));
  const auto larger = [](const RowDelta& a, const RowDelta& b) {
    const std::int64_t some = std::abs(a.delta_ns());
    const std::int64_t others = std::abs(b.delta_ns());
    if (some != others) return some > others;
    return std::tie(a.role, a.base.op, a.base.name, a.changed.op, a.changed.name, a.base.module,
                    a.changed.module) < std::tie(b.role, b.base.op, b.base.name, b.changed.op,
                                                 b.changed.name, b.base.module, b.changed.module);
  };
  std::sort(found.rows.begin(), found.rows.end(), larger);
  found.matched = matched_shares(found.rows);
  found.leaves_out_modules = sides.modules == ModuleRows::joined;
}

bool has_steps(const Capture& capture) {
  return capture.value_ns.has_value();
}

bool lacks_steps(const std::vector<Capture>& side) {
  return !std::all_of(side.begin(), side.end(), has_steps);
}

// A capture with too few steps does not count, unless a side has no other.
void leave_out_short_captures(std::vector<Capture>& side) {
  if (std::any_of(side.begin(), side.end(), has_steps)) std::erase_if(side, std::not_fn(has_steps));
}

}  // namespace

std::string both_texts(const std::string& before, const std::string& after) {
  if (before.empty()) return after;
  if (after.empty() || before == after) return before;
  return before + " -> " + after;
}

std::string RowDelta::modules() const {
  if (level == MatchLevel::none || base.module == changed.module)
    return both_texts(base.module, changed.module);
  const auto name_of = [](const RowSums& side) { return side.module.empty() ? "-" : side.module; };
  return name_of(base) + " -> " + name_of(changed);
}

bool is_device_role(Role role) {
  return role == Role::kernel || role == Role::memcpy || role == Role::memset ||
         role == Role::communication;
}

Comparison compare(const ComparedSides& all, const CompareOptions& options) {
  Comparison found = judge_all(all, options);
  // A copy of many captures takes much memory.
  std::optional<ComparedSides> counted;
  if (found.looks == 2 || lacks_steps(all.base) || lacks_steps(all.changed)) {
    counted = found.looks == 2 ? all.with_second_look() : all;
    leave_out_short_captures(counted->base);
    leave_out_short_captures(counted->changed);
  }
  const ComparedSides& sides = counted ? *counted : all;
  found.base_captures = sides.base.size();
  found.changed_captures = sides.changed.size();
  found.differences = find_differences(sides.base, sides.changed);
  forbid_differences(options, found);
  for (const std::int64_t rank : common_ranks(sides)) {
    const BothSides both = both_sides(sides, found.steps, rank);
    found.ranks.push_back({rank, both.base.step_ns, both.changed.step_ns, roles_of(both.base),
                           roles_of(both.changed)});
  }
  choose_rank(found);
  if (const RankDelta* const rank = found.shown_rank())
    explain(sides, both_sides(sides, found.steps, rank->rank), found);
  return found;
}

}  // namespace traceloom
