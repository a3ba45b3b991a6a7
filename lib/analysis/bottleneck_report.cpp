#include "analysis/bottleneck_report.h"

#include "analysis/loader_waits.h"
#include "analysis/percentile.h"
#include "analysis/steps_report.h"
#include "analysis/straggler.h"
#include "base/units.h"
#include "output/json_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace traceloom {
namespace {

// All that the verdict is made of.
struct Findings {
  explicit Findings(const Run& run)
      : roles(find_all_roles(run)),
        waits(find_waits(run, roles)),
        straggler(find_straggler(run, roles, waits)),
        loader(judge_loader(run, roles, waits)),
        devices(std::any_of(run.ranks.begin(), run.ranks.end(),
                            [](const RankEvents& rank) { return rank.has_devices(); })) {}

  std::vector<RankRoles> roles;
  RankWaits waits;
  Straggler straggler;
  LoaderJob loader;
  bool devices;
};

using RoleShares = std::array<double, kRoleCount>;

double& of(RoleShares& shares, Role role) {
  return shares[static_cast<std::size_t>(role)];
}

RoleShares shares_of(const RoleTimes& times, std::int64_t total_ns) {
  RoleShares shares{};
  if (total_ns <= 0) return shares;
  for (std::size_t i = 0; i < kRoleCount; ++i)
    shares[i] = static_cast<double>(times[static_cast<Role>(i)]) / static_cast<double>(total_ns);
  return shares;
}

StepSum all_steps(const std::vector<RankRoles>& roles) {
  StepSum steps;
  for (const RankRoles& rank : roles) steps.add_counted(rank.steps);
  return steps;
}

// Of each step on the rank that the others wait for.
StepSum critical_steps(const Findings& found) {
  const RankWaits& waits = found.waits;
  if (waits.kind == MeetingKind::none) return all_steps(found.roles);
  StepSum steps;
  for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank)
    for_each_shared(found.roles[waits.ranks[rank]].steps, waits.step_index[rank],
                    [&](std::size_t step, const StepRoles& roles) {
                      if (waits.critical[step] == rank) steps.add(roles);
                    });
  return steps;
}

RoleShares mean_shares(const StepSum& steps) {
  return shares_of(steps.sum().exclusive, steps.sum().total_ns);
}

// From what share on each is worth a verdict.
double threshold(Limit limit) {
  switch (limit) {
    case Limit::data_loading:
      return 0.05;
    case Limit::communication:
    case Limit::straggler:
    case Limit::memory:
      return 0.10;
    case Limit::idle:
      return 0.15;
    case Limit::launch_bound:
      return 0.30;
    case Limit::compute:
    case Limit::inconclusive:
    case Limit::count_:
      break;
  }
  return 0.50;
}

double& of(Verdict& verdict, Limit limit) {
  return verdict.shares[static_cast<std::size_t>(limit)];
}

// What the ranks that the others wait for waited themselves, as where one is late for the first
// collective of a step and another for the second.
std::int64_t critical_waits(const RankWaits& waits) {
  std::int64_t sum = 0;
  if (waits.kind == MeetingKind::collectives)
    for (std::size_t step = 0; step < waits.steps.size(); ++step)
      add_to(sum, waits.wait_ns[waits.critical[step]][step]);
  return sum;
}

void set_shares(Verdict& verdict, const Findings& found) {
  const StepSum steps = critical_steps(found);
  RoleTimes times = steps.sum().exclusive;
  times[Role::communication] =
      std::max<std::int64_t>(times[Role::communication] - critical_waits(found.waits), 0);
  RoleShares shares = shares_of(times, steps.sum().total_ns);
  of(verdict, Limit::data_loading) = found.loader.share;
  of(verdict, Limit::communication) = of(shares, Role::communication);
  of(verdict, Limit::memory) = of(shares, Role::memcpy) + of(shares, Role::memset);
  of(verdict, Limit::straggler) =
      std::max(found.straggler.delay_share, found.straggler.changing_share);
  if (found.devices) {
    of(verdict, Limit::launch_bound) = of(shares, Role::runtime) + of(shares, Role::cpu);
    of(verdict, Limit::idle) = of(shares, Role::other);
    of(verdict, Limit::compute) = of(shares, Role::kernel);
  } else {
    of(verdict, Limit::compute) = of(shares, Role::runtime) + of(shares, Role::cpu);
  }
}

// What a straggler with that cause makes the whole job look like.
std::optional<Limit> limit_of(StragglerCause cause) {
  switch (cause) {
    case StragglerCause::idle:
      return Limit::idle;
    case StragglerCause::launch:
      return Limit::launch_bound;
    case StragglerCause::memcpy:
      return Limit::memory;
    default:
      return std::nullopt;
  }
}

void choose_largest(Verdict& verdict, const Findings& found) {
  static constexpr Limit kAvoidable[] = {Limit::data_loading, Limit::communication,
                                         Limit::straggler,    Limit::memory,
                                         Limit::idle,         Limit::launch_bound};
  for (const Limit limit : kAvoidable) {
    // Where ranks change it is noise as well as anything; evidence tells it.
    if (limit == Limit::straggler && found.straggler.pattern == DelayPattern::changing) continue;
    if (of(verdict, limit) > threshold(limit) && of(verdict, limit) > verdict.share) {
      verdict.kind = limit;
      verdict.share = of(verdict, limit);
    }
  }
  if (verdict.kind == Limit::inconclusive &&
      of(verdict, Limit::compute) >= threshold(Limit::compute)) {
    verdict.kind = Limit::compute;
    verdict.share = of(verdict, Limit::compute);
  }
}

void name_straggler(Verdict& verdict, const Findings& found) {
  const Straggler& straggler = found.straggler;
  // Most of that share is the straggler's alone: the job is not slow for that reason, one rank is.
  if (limit_of(straggler.cause) == verdict.kind && straggler.delay_share > verdict.share / 2) {
    verdict.kind = Limit::straggler;
    verdict.share = straggler.delay_share;
  }
  const bool by_loader = straggler.cause == StragglerCause::dataloader;
  if (verdict.kind == Limit::straggler && by_loader) {
    verdict.kind = Limit::data_loading;
    verdict.share = std::max(verdict.share, of(verdict, Limit::data_loading));
    of(verdict, Limit::data_loading) = verdict.share;
  }
  if (verdict.kind == Limit::straggler || (verdict.kind == Limit::data_loading && by_loader))
    verdict.rank = straggler.rank;
}

void choose(Verdict& verdict, const Findings& found) {
  choose_largest(verdict, found);
  if (found.straggler.rank)
    name_straggler(verdict, found);
  else if (verdict.kind == Limit::straggler && !found.straggler.each_of_them)
    verdict.kind = Limit::inconclusive;
  if (found.roles.size() == 1 && verdict.kind != Limit::inconclusive)
    verdict.rank = found.roles.front().rank;
}

void add_evidence(Verdict& verdict, const Findings& found, std::size_t steps) {
  std::vector<std::string>& evidence = verdict.evidence;
  if (steps == 0) {
    evidence.emplace_back("no steps: nothing to take a share of");
    return;
  }
  const std::string where = found.waits.kind == MeetingKind::none
                                ? "of a mean step"
                                : "of a step, on the rank that the others wait for";
  for (std::size_t i = 0; i < kLimitCount; ++i) {
    const Limit limit = static_cast<Limit>(i);
    if (limit == Limit::straggler || of(verdict, limit) < 0.005) continue;
    evidence.push_back(
        fmt::format("{} {:.1f} % {}", limit_name(limit), of(verdict, limit) * 100, where));
  }
  if (!found.loader.instrumented)
    evidence.emplace_back("the data loader is not instrumented: its share is not known");
  if (found.loader.is_mostly_first())
    evidence.push_back(
        fmt::format("the first wait for data is {:.0f} % of all of it: look at more steps",
                    found.loader.first_share * 100));
  const Straggler& straggler = found.straggler;
  if (straggler.changing_ns > 0)
    evidence.push_back(fmt::format("changing ranks: the others wait {} a step for one or another",
                                   format_duration(straggler.changing_ns)));
  if (!straggler.candidates.empty())
    evidence.push_back(fmt::format("{}: the others wait {} a step ({:.1f} %); cause: {} ({})",
                                   rank_list(straggler), format_duration(straggler.delay_ns),
                                   straggler.delay_share * 100, to_string(straggler.cause),
                                   straggler.why));
}

void add_advice(Verdict& verdict, const Findings& found) {
  std::vector<std::string>& advice = verdict.advice;
  switch (verdict.kind) {
    case Limit::data_loading:
      advice.emplace_back(
          "more workers (num_workers), prefetch_factor, pinned memory, cheaper or cached "
          "preprocessing; see trace-stats dataloader");
      break;
    case Limit::communication:
      advice.emplace_back(
          "larger batches or gradient accumulation, larger buckets, lower precision of gradients, "
          "overlap with the backward pass; see trace-stats gpu, stragglers");
      break;
    case Limit::straggler:
      advice.push_back(fmt::format("look at {} first (cause: {}); see trace-stats stragglers",
                                   rank_list(found.straggler), to_string(found.straggler.cause)));
      break;
    case Limit::memory:
      advice.emplace_back(
          "fewer and larger copies, pinned memory with non_blocking, data that stays on the "
          "device");
      break;
    case Limit::launch_bound:
      advice.emplace_back(
          "CUDA graphs, torch.compile, larger batches, fewer synchronisations: the device waits "
          "for "
          "its host");
      break;
    case Limit::idle:
      advice.emplace_back(
          "record more (with_stack, the loader, I/O): device and host do nothing that was "
          "recorded");
      break;
    case Limit::compute:
      advice.emplace_back(found.devices
                              ? "faster kernels: lower precision, tensor cores, fused operators"
                              : "faster operators on the host; see trace-stats summarize");
      break;
    case Limit::inconclusive:
    case Limit::count_:
      advice.emplace_back(found.straggler.candidates.size() > 1
                              ? "record collectives (torch.profiler) to tell these ranks apart"
                              : "record more steps, and both host and device activity");
      break;
  }
}

using StepLength = std::pair<std::pair<std::int64_t, std::int64_t>, std::int64_t>;  // by key

// The steps of a rank that count, ascending by (epoch, number); the longest of those alike.
std::vector<StepLength> lengths_of(const RankRoles& rank) {
  std::vector<StepLength> lengths;
  lengths.reserve(rank.steps.size());
  for (const StepRoles& step : rank.steps)
    if (step.step.counted) lengths.push_back({{step.step.epoch, step.step.number}, step.total_ns});
  const auto longest_first = [](const StepLength& a, const StepLength& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  };
  if (!std::is_sorted(lengths.begin(), lengths.end(), longest_first))
    std::sort(lengths.begin(), lengths.end(), longest_first);
  const auto alike = [](const StepLength& a, const StepLength& b) { return a.first == b.first; };
  lengths.erase(std::unique(lengths.begin(), lengths.end(), alike), lengths.end());
  return lengths;
}

// Both ascend by key. Ranks mostly have the same steps: then none is moved.
void keep_longest(std::vector<StepLength>& all, const std::vector<StepLength>& some) {
  std::vector<StepLength> others;
  auto known = all.begin();
  for (const StepLength& step : some) {
    while (known != all.end() && known->first < step.first) ++known;
    if (known != all.end() && known->first == step.first)
      known->second = std::max(known->second, step.second);
    else
      others.push_back(step);
  }
  if (others.empty()) return;
  const auto middle = static_cast<std::ptrdiff_t>(all.size());
  all.insert(all.end(), others.begin(), others.end());
  std::inplace_merge(all.begin(), all.begin() + middle, all.end());
}

// As long as on the rank on which it takes longest.
std::vector<std::int64_t> step_lengths(const std::vector<RankRoles>& roles) {
  std::vector<StepLength> longest;
  for (const RankRoles& rank : roles) {
    if (longest.empty())
      longest = lengths_of(rank);
    else
      keep_longest(longest, lengths_of(rank));
  }
  std::vector<std::int64_t> lengths;
  lengths.reserve(longest.size());
  for (const auto& [key, ns] : longest) lengths.push_back(ns);
  return lengths;
}

std::string steps_json(const std::vector<std::int64_t>& lengths) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("count");
  json.value(lengths.size());
  json.key("mean_ns");
  json.value(mean(lengths));
  json.key("p50_ns");
  json.value(percentile(lengths, 50));
  json.key("p99_ns");
  json.value(percentile(lengths, 99));
  json.end_object();
  return text;
}

template <typename List>
void write_texts(JsonWriter& json, std::string_view key, const List& texts) {
  json.key(key);
  json.begin_array();
  for (const auto& text : texts) json.value(text);
  json.end_array();
}

std::string verdict_json(const Verdict& verdict) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("kind");
  json.value(limit_name(verdict.kind));
  json.key("share");
  json.value(verdict.share);
  json.key("rank");
  json.value(verdict.rank);
  json.key("shares");
  json.begin_object();
  for (std::size_t i = 0; i < kLimitCount; ++i) {
    if (static_cast<Limit>(i) == Limit::inconclusive) continue;
    json.key(kLimitNames[i]);
    json.value(verdict.shares[i]);
  }
  json.end_object();
  write_texts(json, "evidence", verdict.evidence);
  write_texts(json, "advice", verdict.advice);
  json.end_object();
  return text;
}

void write_roles(JsonWriter& json, const StepSum& steps) {
  const StepRoles means = steps.mean();
  const RoleShares shares = mean_shares(steps);
  json.begin_array();
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    json.begin_object();
    json.key("role");
    json.value(kRoleNames[i]);
    json.key("mean_ns");
    json.value(means.exclusive[static_cast<Role>(i)]);
    json.key("share");
    json.value(shares[i]);
    json.end_object();
  }
  json.end_array();
}

std::string ranks_json(const std::vector<RankRoles>& roles) {
  std::string text;
  JsonWriter json(text);
  json.begin_array();
  for (const RankRoles& rank : roles) {
    json.begin_object();
    json.key("rank");
    json.value(rank.rank);
    json.key("roles");
    StepSum steps;
    steps.add_counted(rank.steps);
    write_roles(json, steps);
    json.end_object();
  }
  json.end_array();
  return text;
}

Table roles_table(const Findings& found) {
  Table table({{"role", "Role", ColumnKind::text},
               {"mean_ns", "Mean/step", ColumnKind::duration},
               {"share", "Share", ColumnKind::share},
               {"critical_share", "Critical", ColumnKind::share}});
  const StepSum steps = all_steps(found.roles);
  if (steps.count() == 0) return table;
  const StepRoles means = steps.mean();
  const RoleShares shares = mean_shares(steps);
  const RoleShares critical = mean_shares(critical_steps(found));
  for (std::size_t i = 0; i < kRoleCount; ++i)
    table.add_row({std::string(kRoleNames[i]), means.exclusive[static_cast<Role>(i)], shares[i],
                   critical[i]});
  return table;
}

void add_headline(Report& report, const Run& run, const Verdict& verdict,
                  const std::vector<std::int64_t>& lengths) {
  std::uint64_t events = 0;
  for (const RunFile& file : run.files) events += file.events;
  report.headline.push_back(fmt::format("{}, {}, {}", count_of(run.files.size(), "file"),
                                        count_of(run.ranks.size(), "rank"),
                                        count_of(events, "event")));
  if (!lengths.empty())
    report.headline.push_back(
        fmt::format("{}: mean {}, median {}, p99 {}", count_of(lengths.size(), "step"),
                    format_duration(mean(lengths)), format_duration(percentile(lengths, 50)),
                    format_duration(percentile(lengths, 99))));
  std::string line = fmt::format("Verdict: {}", limit_name(verdict.kind));
  if (verdict.share > 0) line += fmt::format(" ({:.1f} % of a step)", verdict.share * 100);
  if (verdict.rank && run.ranks.size() > 1) line += fmt::format(", rank {}", *verdict.rank);
  report.headline.push_back(line);
  for (const std::string& evidence : verdict.evidence) report.headline.push_back("  - " + evidence);
  for (const std::string& advice : verdict.advice) report.headline.push_back("Next: " + advice);
}

Verdict make_verdict(const Findings& found) {
  Verdict verdict;
  const std::size_t steps = all_steps(found.roles).count();
  set_shares(verdict, found);
  choose(verdict, found);
  add_evidence(verdict, found, steps);
  add_advice(verdict, found);
  return verdict;
}

}  // namespace

Verdict find_verdict(const Run& run) {
  return make_verdict(Findings(run));
}

BottleneckAnswer bottleneck_report(const Run& run) {
  const Findings found(run);
  const Verdict verdict = make_verdict(found);
  const std::vector<std::int64_t> lengths = step_lengths(found.roles);
  Report report("bottleneck", run);
  add_headline(report, run, verdict, lengths);
  report.values.emplace_back("verdict", verdict_json(verdict));
  report.values.emplace_back("steps", steps_json(lengths));
  report.values.emplace_back("ranks", ranks_json(found.roles));
  report.tables.push_back({"roles", "", roles_table(found)});
  note_missing(run, report);
  return {std::move(report), verdict};
}

}  // namespace traceloom
