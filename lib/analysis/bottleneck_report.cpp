#include "analysis/bottleneck_report.h"

#include "analysis/percentile.h"
#include "analysis/steps_report.h"
#include "base/units.h"
#include "output/json_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace traceloom {
namespace {

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
  const RoleShares shares = steps.shares();
  json.begin_array();
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    json.begin_object();
    json.key("role");
    json.value(kRoleNames[i]);
    json.key("mean_ns");
    json.value(means.exclusive[role]);
    json.key("share");
    json.value(shares[role]);
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
  const RoleShares shares = steps.shares();
  const RoleShares critical = critical_steps(found).shares();
  for (std::size_t i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    table.add_row(
        {std::string(kRoleNames[i]), means.exclusive[role], shares[role], critical[role]});
  }
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

}  // namespace

BottleneckAnswer bottleneck_report(const Run& run) {
  const Findings found(run);
  const Verdict verdict = find_verdict(found);
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
