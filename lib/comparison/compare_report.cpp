#include "base/units.h"
#include "comparison/comparison.h"
#include "comparison/judge/judge.h"
#include "output/json_writer.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

std::string_view unit_of(const MetricGate& gate) {
  if (gate.is_share_of_step) return "share";
  if (gate.metric.field == MetricField::calls) return "calls";
  if (gate.metric.field == MetricField::slow) return "share";
  return gate.metric.field == MetricField::peak ? "bytes" : "ns";
}

Cell text_cell(const MetricGate& gate, const std::optional<double>& number) {
  if (!number) return {};
  return metric_text(gate, *number);
}

// Returns "+9.1 %".
std::string signed_percent(double change) {
  return fmt::format("{:+.1f} %", 100 * change);
}

std::optional<double> relative_change(const MetricAnswer& answer) {
  if (!answer.base || !answer.changed || *answer.base <= 0) return std::nullopt;
  return *answer.changed / *answer.base - 1;
}

Cell change_text_cell(const MetricAnswer& answer) {
  const std::optional<double> change = relative_change(answer);
  return change ? signed_percent(*change) : Cell{};
}

std::string_view scale_name(const Judgement& judgement) {
  return judgement.scale == ChangeScale::relative ? "relative" : "units";
}

// One row a gate.
Table gate_table(const std::vector<MetricGate>& gates, const std::vector<MetricAnswer>& answers) {
  using enum ColumnKind;
  using enum Readers;
  struct Row {
    const MetricGate& gate;
    const MetricAnswer& found;
  };
  // What is compared exactly has no judgement.
  const auto judged = [](auto value) {
    return [value](auto& of) {
      return of.found.judgement ? to_cell(value_in(value, *of.found.judgement)) : Cell{};
    };
  };
  const auto bound = [&](double ChangeBounds::*number) {
    return judged([number](const Judgement& judgement) {
      return judgement.bounds ? to_cell((*judgement.bounds).*number) : Cell{};
    });
  };
  const ColumnsOf<Row> columns{
      {"gate", "Gate", text, [](auto& of) { return of.gate.text; }},
      {"verdict", "Verdict", text, [](auto& of) { return to_string(of.found.kind); }},
      {"base_text", "Base", text, most, [](auto& of) { return text_cell(of.gate, of.found.base); }},
      {"new_text", "New", text, most,
       [](auto& of) { return text_cell(of.gate, of.found.changed); }},
      {"change_text", "Change", text, most, [](auto& of) { return change_text_cell(of.found); }},
      {"unit", "Unit", text, programs, [](auto& of) { return unit_of(of.gate); }},
      {"base", "Base number", number, programs, [](auto& of) { return of.found.base; }},
      {"new", "New number", number, programs, [](auto& of) { return of.found.changed; }},
      {"change", "Relative change", number, programs,
       [](auto& of) { return relative_change(of.found); }},
      {"scale", "Scale", text, programs, judged(&scale_name)},
      {"noise", "Noise", number, programs, bound(&ChangeBounds::noise)},
      {"p", "p", number, programs, bound(&ChangeBounds::p)},
      {"lower", "Lower", number, programs, bound(&ChangeBounds::lower)},
      {"upper", "Upper", number, programs, bound(&ChangeBounds::upper)},
      {"alpha", "Alpha", number, programs, judged(&Judgement::alpha)},
      {"captures_needed", "Captures needed", count, programs, judged(&Judgement::captures_needed)},
      {"why", "Why", text, programs, [](auto& of) { return text_or_nothing(of.found.why); }},
  };
  Table table = empty_table(columns);
  for (std::size_t i = 0; i < gates.size(); ++i) add_row(table, columns, {gates[i], answers[i]});
  return table;
}

// Calls use(side, capture) for all captures of which the report tells.
template <typename Use>
void for_each_capture(const ComparedSides& sides, int looks, Use use) {
  for (const Capture& capture : sides.base) use("base", capture);
  if (looks == 2)
    for (const Capture& capture : sides.base_again) use("base", capture);
  for (const Capture& capture : sides.changed) use("new", capture);
  if (looks == 2)
    for (const Capture& capture : sides.changed_again) use("new", capture);
}

std::string slow_line(const Comparison& found) {
  return fmt::format(
      "Slow steps: {} of {} in base, {} of {} in new take at least 1.5 times their {}'s "
      "median; the verdict is about the others (a gate on them: --gate 'step.slow<=+2%')",
      found.slow_base.slow, found.slow_base.all, found.slow_changed.slow, found.slow_changed.all,
      found.steps.shares.size() > 1 ? "kind" : "capture");
}

std::string slow_json(const Comparison& found) {
  return json_object([&](JsonWriter& json) {
    for (const auto& [side, steps] :
         {std::pair{"base", &found.slow_base}, std::pair{"new", &found.slow_changed}}) {
      json.key(side);
      json.raw(json_object("slow", static_cast<std::size_t>(steps->slow), "steps",
                           static_cast<std::size_t>(steps->all)));
    }
  });
}

std::string signed_duration(std::int64_t ns) {
  return (ns < 0 ? "-" : "+") + format_duration(std::abs(ns));
}

std::string verdict_line(const CompareOptions& options, const Comparison& found) {
  const std::string kind(to_string(found.kind));
  if (!found.why.empty()) return kind + ": " + found.why;
  const Judgement& judgement = *found.judgement;
  const std::string change = signed_percent(judgement.change);
  if (found.kind == ChangeKind::ok && !found.gates.empty())
    return fmt::format("{}: {}; the step changed by {}", kind,
                       found.gates.size() == 1 ? "the gate holds" : "all gates hold", change);
  switch (found.kind) {
    case ChangeKind::regression:
      if (judgement.is_drift)
        return fmt::format("{}: {}; this run alone: {}", kind, drift_text(judgement), change);
      return fmt::format("{}: the new step is longer, {}", kind, change);
    case ChangeKind::improvement:
      return fmt::format("{}: the new step is shorter, {}", kind, change);
    default:
      return fmt::format("{}: the new step is not longer by {:.3g} % ({})", kind,
                         100 * options.judge.limit, change);
  }
}

std::string step_line(const CompareOptions& options, const Comparison& found) {
  const Judgement& judgement = *found.judgement;
  std::string line =
      fmt::format("Step: {} in {} to {} in {}, {}", format_duration(std::llround(judgement.base)),
                  judgement.runs > 0 ? count_of(std::min(judgement.runs, kNewestRuns), "run")
                                     : count_of(found.base_captures, "capture"),
                  format_duration(std::llround(judgement.changed)),
                  count_of(found.changed_captures, "capture"), signed_percent(judgement.change));
  if (judgement.bounds)
    line += fmt::format("; at least {} with {:.3g} % confidence, at most {} with {:.3g} %",
                        signed_percent(judgement.bounds->lower),
                        100 - 100 * judgement.alpha / (judgement.runs > 0 ? 2 : 1),
                        signed_percent(judgement.bounds->upper), 100 * options.judge.ok_level);
  if (judgement.change_of_all)
    line += fmt::format("; the mean of all steps {}", signed_percent(*judgement.change_of_all));
  return line;
}

// Tells of the noise between runs, and whether the runs have drifted.
std::string runs_line(const CompareOptions& options, const Judgement& judgement) {
  const ChangeBounds& bounds = *judgement.bounds;
  std::string line = fmt::format("Noise: {:.2f} % between runs ({:.3g} degrees of freedom",
                                 100 * bounds.noise, judgement.freedom);
  if (judgement.is_assumed)
    line +=
        fmt::format("; partly assumed, as if {} more had shown {:.3g} %, until there are {} runs",
                    kAssumedRuns, 100 * options.judge.noise.value_or(kAssumedNoise), kFirstRuns);
  line += ")";
  if (bounds.detectable)
    line += fmt::format("; a run shows a change from {} in {:.3g} of 100 cases",
                        signed_percent(*bounds.detectable), 100 * options.judge.power);
  if (judgement.drift)
    line += fmt::format("; drift of the newest {0} runs from the first {0}: {1}", kFirstRuns,
                        signed_percent(*judgement.drift));
  return line;
}

std::string noise_line(const CompareOptions& options, const Judgement& judgement) {
  if (judgement.runs > 0) return runs_line(options, judgement);
  const ChangeBounds& bounds = *judgement.bounds;
  return fmt::format(
      "Noise: {:.2f} % between captures{}{}", 100 * bounds.noise,
      judgement.is_assumed ? " (assumed: --noise)"
                           : fmt::format(" ({:.3g} degree{} of freedom{})", judgement.freedom,
                                         judgement.freedom == 1 ? "" : "s",
                                         options.judge.noise ? "; --noise is not needed" : ""),
      bounds.detectable
          ? fmt::format("; such captures show a change from {} in {:.3g} of 100 cases",
                        signed_percent(*bounds.detectable), 100 * options.judge.power)
          : "");
}

std::string moved_text(const Comparison& found) {
  if (found.ranks.size() == 1 || found.moved.empty()) return "";
  if (found.moved.size() == found.ranks.size()) return "; all ranks changed alike";
  return fmt::format("; of {} ranks only {} changed like that", found.ranks.size(),
                     ranks_words(found.moved, RankStyle::option));
}

constexpr std::string_view kNoWhere =
    "Where: not known, because no rank has steps on both sides: compare captures of the same ranks";

// Where a change that does not matter went is noise. A rank is shown.
bool says_where(const CompareOptions& options, const Comparison& found) {
  const RankDelta& rank = *found.shown_rank();
  if (found.kind == ChangeKind::regression || found.kind == ChangeKind::improvement)
    return rank.delta_ns() != 0;
  return std::abs(static_cast<double>(rank.delta_ns())) >=
         options.judge.floor * static_cast<double>(rank.base_ns);
}

std::string where_line(const Comparison& found) {
  const RankDelta& rank = *found.shown_rank();
  const std::int64_t sign = rank.delta_ns() < 0 ? -1 : 1;
  const Role largest =
      std::ranges::max(kRoles, {}, [&](Role role) { return sign * rank.role_delta_ns(role); });
  return fmt::format("Where: rank {}, {} of {} a step is {}{}", rank.rank,
                     signed_duration(rank.role_delta_ns(largest)), signed_duration(rank.delta_ns()),
                     role_name(largest), moved_text(found));
}

void write_judgement(JsonWriter& json, const Judgement& judgement) {
  json.member("base_ns", judgement.base);
  json.member("new_ns", judgement.changed);
  json.member("change", judgement.change);
  json.member("freedom", judgement.freedom);
  json.member("noise_is_assumed", judgement.is_assumed);
  const auto bound = [&](std::string_view key, double ChangeBounds::*number) {
    json.member(key, judgement.bounds ? std::optional((*judgement.bounds).*number) : std::nullopt);
  };
  bound("noise", &ChangeBounds::noise);
  bound("error", &ChangeBounds::error);
  bound("p", &ChangeBounds::p);
  bound("lower", &ChangeBounds::lower);
  bound("upper", &ChangeBounds::upper);
  json.member("detectable", judgement.bounds ? judgement.bounds->detectable : std::nullopt);
  json.member("captures_needed", judgement.captures_needed);
  json.member("alpha", judgement.alpha);
  json.member("floor", judgement.floor);
  json.member("limit", judgement.limit);
  json.member("change_of_all_steps", judgement.change_of_all);
  json.member("runs", judgement.runs);
  json.member("drift", judgement.drift);
}

std::string verdict_json(const Comparison& found) {
  return json_object([&](JsonWriter& json) {
    json.member("kind", to_string(found.kind));
    json.member("why", text_or_null(found.why));
    json.member("looks", found.looks);
    json.member("steps_used", found.steps_used);
    json.member("kinds_of_steps", found.steps.shares.size());
    if (found.judgement) write_judgement(json, *found.judgement);
  });
}

std::string captures_json(const ComparedSides& sides, int looks) {
  std::string text;
  JsonWriter json(text);
  json.begin_array();
  for_each_capture(sides, looks, [&](std::string_view side, const Capture& capture) {
    json.raw(json_object("side", side, "name", capture.name, "ranks", ranks_in(capture).size(),
                         "steps", capture.steps_ns.size(), "value_ns", capture.value_ns));
  });
  json.end_array();
  return text;
}

std::string differences_json(const Comparison& found) {
  std::string text;
  JsonWriter json(text);
  write_objects(json, found.differences, [&](const Difference& difference) {
    write_members(json, "key", difference.key, "text", difference.text, "forbids",
                  difference.forbids);
  });
  return text;
}

std::string where_json(const Comparison& found) {
  return json_object([&](JsonWriter& json) {
    json.member("rank", found.shown ? std::optional(found.shown_rank()->rank) : std::nullopt);
    write_list(json, "moved", found.moved);
    json.member("moved_by", found.moved_together ? "step" : "own work");
    write_objects(json, "matched", std::views::iota(std::size_t{0}, kMatchLevels),
                  [&](std::size_t i) {
                    write_members(json, "by", to_string(static_cast<MatchLevel>(i)), "base",
                                  found.matched.base[i], "new", found.matched.changed[i]);
                  });
  });
}

Table rank_table(const Comparison& found) {
  using enum ColumnKind;
  using Row = RankDelta;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"base_ns", "Base", duration, &Row::base_ns},
      {"new_ns", "New", duration, &Row::changed_ns},
      {"delta_ns", "Delta", duration, &Row::delta_ns},
      {"communication_ns", "Comm.", duration, &Row::communication_ns},
      {"own_ns", "Own", duration, &Row::own_ns},
  };
  return make_table(found.ranks, columns);
}

Table role_table(const Comparison& found) {
  using enum ColumnKind;
  const RankDelta* const rank = found.shown_rank();
  const ColumnsOf<Role> columns{
      {"role", "Role", text, &role_name},
      {"base_ns", "Base", duration, [&](Role role) { return rank->base_roles[role]; }},
      {"new_ns", "New", duration, [&](Role role) { return rank->changed_roles[role]; }},
      {"delta_ns", "Delta", duration, [&](Role role) { return rank->role_delta_ns(role); }},
  };
  Table table = empty_table(columns);
  for (const Role role : kRoles)
    if (rank != nullptr && (rank->base_roles[role] != 0 || rank->changed_roles[role] != 0))
      add_row(table, columns, role);
  return table;
}

std::string work_of(const RowDelta& row) {
  const std::string work = both_texts(row.base.name, row.changed.name);
  return work.empty() ? "(no event)" : work;
}

// People see modules only if a row has one.
ColumnsOf<RowDelta> row_columns(const Comparison& found) {
  using enum ColumnKind;
  using enum Readers;
  using Row = RowDelta;
  const bool has_modules = std::any_of(
      found.rows.begin(), found.rows.end(),
      [](const RowDelta& row) { return !row.base.module.empty() || !row.changed.module.empty(); });
  return {
      {"delta_ns", "Delta", duration, &Row::delta_ns},
      {"base_ns", "Base", duration, some, path(&Row::base, &RowSums::step_ns)},
      {"new_ns", "New", duration, some, path(&Row::changed, &RowSums::step_ns)},
      {"base_total_ns", "Base total", duration, programs, path(&Row::base, &RowSums::total_ns)},
      {"new_total_ns", "New total", duration, programs, path(&Row::changed, &RowSums::total_ns)},
      {"base_calls", "Base calls", number, few, path(&Row::base, &RowSums::calls)},
      {"new_calls", "New calls", number, few, path(&Row::changed, &RowSums::calls)},
      {"what", "What", text, text_of(&Row::what)},
      {"matched_by", "Matched by", text, programs, [](auto& of) { return to_string(of.level); }},
      {"role", "Role", text, most, [](auto& of) { return role_name(of.role); }},
      {"base_op", "Base operator", text, programs, text_of(path(&Row::base, &RowSums::op))},
      {"new_op", "Operator", text, few, text_of(path(&Row::changed, &RowSums::op))},
      {"base_module", "Base module", text, programs, text_of(path(&Row::base, &RowSums::module))},
      {"new_module", "New module", text, programs, text_of(path(&Row::changed, &RowSums::module))},
      {"module", "Module", text, has_modules ? all : programs, text_of(&Row::modules)},
      {"base_name", "Base name", text, programs, text_of(path(&Row::base, &RowSums::name))},
      {"name", "Name", text, programs, text_of(path(&Row::changed, &RowSums::name))},
      {"work", "Work", text, &work_of},
  };
}

// Device work that is new, gone, renamed, fused or split, however little its time changed.
Table structure_table(const Comparison& found) {
  const ColumnsOf<RowDelta> columns = row_columns(found);
  Table table = empty_table(columns);
  for (const RowDelta& row : found.rows)
    if (row.level != MatchLevel::exact && is_device_role(row.role)) add_row(table, columns, row);
  return table;
}

std::vector<std::string> headline_of(const ComparedSides& sides, const CompareOptions& options,
                                     const Comparison& found) {
  std::vector<std::string> lines{verdict_line(options, found)};
  if (found.judgement) {
    lines.push_back(step_line(options, found));
    if (!sides.base_again.empty())
      lines.emplace_back(found.looks == 2
                             ? "Looks: 2, because the first left a doubt; all captures count, each "
                               "look with half of alpha"
                             : "Looks: 1 of 2, with half of alpha; the captures of --confirm were "
                               "not needed");
    if (found.judgement->bounds) lines.push_back(noise_line(options, *found.judgement));
  }
  if (found.slow_base.slow + found.slow_changed.slow > 0) lines.push_back(slow_line(found));
  if (!found.shown)
    lines.emplace_back(kNoWhere);
  else if (says_where(options, found))
    lines.push_back(where_line(found));
  return lines;
}

constexpr std::string_view kAllRanks = "All ranks";

}  // namespace

void keep_changed_ranks(Report& report, std::size_t count) {
  for (ReportTable& part : report.tables) {
    const std::size_t all = part.table.rows().size();
    if (part.kept_by.empty() || all <= count) continue;
    part.table.keep_largest(part.kept_by, count);
    if (part.title != kAllRanks) continue;  // it was cut before
    part.title = fmt::format("Ranks that changed most, of {}", format_count(all));
    report.notes.emplace_back("all ranks: --top 0, --format json");
  }
}

Report compare_report(const ComparedSides& sides, const CompareOptions& options,
                      const Comparison& found) {
  Report report("compare", Run{});
  report.headline = headline_of(sides, options, found);
  report.values = {{"verdict", verdict_json(found)},
                   {"captures", captures_json(sides, found.looks)},
                   {"differences", differences_json(found)},
                   {"slow_steps", slow_json(found)},
                   {"where", where_json(found)}};
  report.tables.push_back(
      {"rows",
       found.shown ? fmt::format("Where rank {}'s mean step changed", found.shown_rank()->rank)
                   : "",
       make_table(found.rows, row_columns(found))});
  if (!found.gates.empty())
    report.tables.push_back({"gates", "Gates", gate_table(options.gates, found.gates)});
  report.tables.push_back({"structure", "Device work that is new, gone or has another form",
                           structure_table(found), true});
  report.tables.push_back({"roles", "The same by role", role_table(found), true});
  report.tables.push_back({"ranks", std::string(kAllRanks), rank_table(found), true,
                           found.moved_together ? "delta_ns" : "own_ns"});
  if (!found.shown)
    report.notes.push_back(
        "no rank has steps on both sides, so that the tables are empty; the lengths of the steps "
        "are compared all the same");
  if (found.leaves_out_modules)
    report.notes.push_back(
        "rows name no torch modules, because some captures have none: they were recorded without "
        "(with_stack=True), no work was launched in one, or their baseline is older");
  for (const Difference& difference : found.differences)
    if (!found.why.starts_with(difference.text)) report.notes.push_back(difference.text);
  std::size_t most_steps = 0;
  for_each_capture(sides, found.looks, [&](std::string_view, const Capture& capture) {
    if (capture.value_ns) most_steps = std::max(most_steps, capture.steps_ns.size());
    if (!capture.value_ns)
      report.notes.push_back(
          fmt::format("{} does not count: it has fewer than {} steps, or they have no length",
                      capture.name, kLeastSteps + 1));
  });
  if (is_itself(sides))
    report.notes.emplace_back(
        sides.earlier_runs.empty()
            ? "all captures of the base are captures of the new version, too, which shows no change"
            : "the newest run of the base is the new one, so that it does not count, and tables "
              "show no change");
  if (!sides.earlier_runs.empty())
    report.notes.push_back(fmt::format(
        "the base has {} runs, of which the newest alone has its rows: tables{} compare with that",
        sides.earlier_runs.size() + 1, found.gates.empty() ? "" : " and gates on other numbers"));
  const std::size_t kinds = found.steps.shares.size();
  if (kinds > 1)
    report.notes.push_back(fmt::format(
        "steps are of {} kinds by what ran in them, which are compared apart; each counts for its "
        "share of the steps of both sides",
        kinds));
  else if (found.steps.contents > 1)
    report.notes.push_back(fmt::format(
        "steps differ in what ran in them ({} {} kinds in a capture), and captures are not known "
        "to share 2 to {} such kinds: all are compared as one kind, so that a change of rarer "
        "steps may be missed",
        found.steps.contents > kMostContents ? "more than" : "up to",
        std::min(found.steps.contents, kMostContents), kMostStepKinds));
  if (found.steps_used > 0 && most_steps > found.steps_used)
    report.notes.push_back(
        fmt::format("the first {} steps of each capture are compared, as many as the shortest has; "
                    "rows are means over all middle steps of their capture, so that they may not "
                    "add up to the change",
                    found.steps_used));
  return report;
}

}  // namespace traceloom
