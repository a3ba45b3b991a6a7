#include "analysis/coarse/replay.h"
#include "analysis/job/job_reports.h"
#include "analysis/numbers.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

// A part of the job in words, and what the job would gain from it.
struct NamedPart {
  std::string name;
  const SlowdownPart* part;
};

// A row of a table: which part it is, and its figures.
struct PartRow {
  const SlowdownFigures& figures;
  std::size_t number;
  const SlowdownPart& part;
};

ColumnsOf<PartRow> part_columns(ColumnsOf<PartRow> columns) {
  using enum ColumnKind;
  const ColumnsOf<PartRow> figures{
      {"slowdown", "Slowdown", number, [](auto& of) { return of.part.slowdown; }},
      {"gain_ns", "Gain", duration, [](auto& of) { return of.part.gain_ns; }},
      {"gain_share", "Gain %", share,
       [](auto& of) { return share_cell(of.part.gain_ns, of.figures.step_ns); }},
      {"recovered", "Recovered", number, Readers::most,
       [](auto& of) { return to_cell(of.figures.recovered(of.part.gain_ns)); }}};
  columns.insert(columns.end(), figures.begin(), figures.end());
  return columns;
}

template <typename Parts, typename PartOf>
Table parts_table(const SlowdownFigures& figures, const Parts& parts, PartOf part_of,
                  ColumnsOf<PartRow> columns) {
  std::vector<PartRow> rows;
  for (std::size_t i = 0; i < parts.size(); ++i) rows.push_back({figures, i, part_of(parts[i])});
  return make_table(rows, part_columns(std::move(columns)));
}

void add_tables(const TimeLine& line, const SlowdownFigures& figures, Report& report) {
  using enum ColumnKind;
  const auto itself = [](const SlowdownPart& part) -> const SlowdownPart& { return part; };
  const auto rank_in = [&](auto& of) -> const CoarseRank& { return figures.ranks[of.number]; };
  report.tables.push_back(
      {"kinds", "Kinds of operations, each alone",
       parts_table(
           figures, figures.kinds, [](auto& kind) -> auto& { return kind.second; },
           {{"kind", "Kind", text, [](auto& of) { return of.figures.kinds[of.number].first; }}})});
  report.tables.push_back({"stages", "Stages, each alone",
                           parts_table(figures, figures.stages, itself,
                                       {{"stage", "Stage", count, &PartRow::number}})});
  report.tables.push_back({"replicas", "Replicas, each alone",
                           parts_table(figures, figures.replicas, itself,
                                       {{"replica", "Replica", count, &PartRow::number}})});
  report.tables.push_back(
      {"ranks", "Ranks that are slowed down most, each alone",
       parts_table(figures, figures.ranks, itself,
                   {{"rank", "Rank", count, [=](auto& of) { return rank_in(of).rank; }},
                    {"stage", "Stage", count, [=](auto& of) { return rank_in(of).stage; }},
                    {"replica", "Replica", count, [=](auto& of) { return rank_in(of).replica; }},
                    {"score", "Score", number, [=](auto& of) { return rank_in(of).score; }},
                    {"is_slowest", "Slowest", flag, Readers::some,
                     [=](auto& of) { return rank_in(of).is_slowest; }}})});
  struct ReplayedStep {
    std::int64_t step;
    std::int64_t ns;
    std::int64_t ideal_ns;
  };
  std::vector<ReplayedStep> steps;
  for (std::size_t i = 0; i < line.steps.size(); ++i)
    steps.push_back({line.steps[i], figures.steps[i].first, figures.steps[i].second});
  report.tables.push_back(
      {"steps", "Steps",
       make_table(steps, ColumnsOf<ReplayedStep>{
                             {"step", "Step", count, &ReplayedStep::step},
                             {"step_ns", "Replayed", duration, &ReplayedStep::ns},
                             {"ideal_ns", "Ideal", duration, &ReplayedStep::ideal_ns},
                             {"slowdown", "Slowdown", number,
                              share_of(&ReplayedStep::ns, &ReplayedStep::ideal_ns)}})});
  report.tables.back().most_for_people = 5;
}

constexpr double kNearlyTheSame = 0.95;

// Returns the part of each sort that would gain most, the largest gain first. A part of nearly the
// same gain comes before one that is larger: a rank before its stage and its replica.
std::vector<NamedPart> best_parts(const SlowdownFigures& figures) {
  std::vector<NamedPart> best;
  const auto add = [&](const auto& parts, auto part_of, auto name_of) {
    const auto most =
        std::ranges::max_element(parts, {}, [&](const auto& of) { return part_of(of).gain_ns; });
    if (most == parts.end()) return;
    const auto number = static_cast<std::size_t>(most - parts.begin());
    best.push_back({name_of(number), &part_of(*most)});
  };
  const auto itself = [](const SlowdownPart& part) -> const SlowdownPart& { return part; };
  add(figures.ranks, itself,
      [&](std::size_t i) { return fmt::format("rank {}", figures.ranks[i].rank); });
  add(figures.stages, itself, [](std::size_t i) { return fmt::format("stage {}", i); });
  add(figures.replicas, itself, [](std::size_t i) { return fmt::format("replica {}", i); });
  add(
      figures.kinds, [](const auto& kind) -> const SlowdownPart& { return kind.second; },
      [&](std::size_t i) { return figures.kinds[i].first; });
  const NamedPart rank = best.front();
  std::ranges::stable_sort(best, std::greater(),
                           [](const NamedPart& of) { return of.part->gain_ns; });
  if (ratio(rank.part->gain_ns, best.front().part->gain_ns) > kNearlyTheSame) {
    const auto found = std::ranges::find(best, rank.part, &NamedPart::part);
    std::rotate(best.begin(), found, found + 1);
  }
  return best;
}

std::string gain_words(const SlowdownFigures& figures, std::int64_t gain_ns) {
  return fmt::format("at most {} of {}, {:.1f} % of the mean step", format_duration(gain_ns),
                     format_duration(figures.step_ns), 100 * ratio(gain_ns, figures.step_ns));
}

std::vector<std::int64_t> slowest_ranks(const SlowdownFigures& figures) {
  std::vector<std::int64_t> ranks;
  for (const CoarseRank& rank : figures.ranks)
    if (rank.is_slowest) ranks.push_back(rank.rank);
  std::ranges::sort(ranks);
  return ranks;
}

void add_headline(const TimeLine& line, const SlowdownFigures& figures, Report& report) {
  report.headline.push_back(fmt::format(
      "{} in {} x {}, {} of coarse operations, replayed: slowdown {:.3f}",
      count_of(line.ranks.size(), "rank"), count_of(line.stages, "stage"),
      count_of(line.replicas, "replica"), count_of(line.steps.size(), "step"), figures.slowdown()));
  const std::vector<NamedPart> best = best_parts(figures);
  const auto is_worth = [&](std::int64_t gain_ns) {
    return ratio(gain_ns, figures.step_ns) >= kWorthNaming;
  };
  report.headline.push_back(
      is_worth(best.front().part->gain_ns)
          ? fmt::format("Verdict: {} ({})", best.front().name,
                        gain_words(figures, best.front().part->gain_ns))
          : "Verdict: balanced: no stage, replica, rank or kind alone would gain 1 % of a step");
  report.headline.push_back(fmt::format("  - all operations as fast as their kind: {}",
                                        gain_words(figures, figures.step_ns - figures.ideal_ns)));
  for (const NamedPart& part : std::span(best).subspan(1))
    if (is_worth(part.part->gain_ns))
      report.headline.push_back(
          fmt::format("  - {} alone: {}", part.name, gain_words(figures, part.part->gain_ns)));
}

void add_values(const SlowdownFigures& figures, Report& report) {
  const auto add = [&](std::string key, const auto& value) {
    std::string json;
    JsonWriter(json).value(value);
    report.values.emplace_back(std::move(key), std::move(json));
  };
  add("step_ns", figures.step_ns);
  add("ideal_step_ns", figures.ideal_ns);
  add("slowdown", figures.slowdown());
  std::string ranks;
  for (const std::int64_t rank : slowest_ranks(figures))
    ranks += fmt::format("{}{}", ranks.empty() ? "" : ",", rank);
  report.values.emplace_back("slowest_ranks", "[" + ranks + "]");
  add("slowest_ranks_gain_ns", figures.slowest_gain_ns);
  add("slowest_ranks_recovered", figures.recovered(figures.slowest_gain_ns));
  add("last_stage_recovered", figures.recovered(figures.stages.back().gain_ns));
}

}  // namespace

Report what_if_report(const Run& run, const WhatIfOptions& options, const WhatIfRequest& request) {
  if (!run.is_coarse()) return replay_report(run, request);
  Report report("what-if", run);
  const TimeLine line = read_time_line(run, options.without_steps);
  const SlowdownFigures figures = measure_slowdowns(line, run.files.front().path, run.threads);
  add_headline(line, figures, report);
  add_values(figures, report);
  add_tables(line, figures, report);
  report.notes.emplace_back("gains of one part each: those of several do not add up");
  return report;
}

}  // namespace traceloom
