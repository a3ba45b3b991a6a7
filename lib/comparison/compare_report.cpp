#include "comparison/compare_report.h"

#include "base/units.h"
#include "comparison/judge/judge.h"
#include "output/json_writer.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace traceloom {
namespace {

std::string_view unit_of(const MetricGate& gate) {
  if (gate.is_share_of_step) return "share";
  if (gate.metric.field == MetricField::calls) return "calls";
  return gate.metric.field == MetricField::peak ? "bytes" : "ns";
}

Cell text_cell(const MetricGate& gate, const std::optional<double>& number) {
  if (!number) return {};
  return metric_text(gate, *number);
}

Cell change_cell(const MetricAnswer& answer) {
  if (!answer.base || !answer.changed || *answer.base <= 0) return {};
  return *answer.changed / *answer.base - 1;
}

Cell change_text_cell(const MetricAnswer& answer) {
  const Cell change = change_cell(answer);
  const auto* const number = std::get_if<double>(&change);
  if (number == nullptr) return {};
  return fmt::format("{:+.1f} %", 100 * *number);
}

Cell bound_cell(const MetricAnswer& answer, double ChangeBounds::*number) {
  if (!answer.judgement || !answer.judgement->bounds) return {};
  return (*answer.judgement->bounds).*number;
}

Cell alpha_cell(const MetricAnswer& answer) {
  if (!answer.judgement) return {};
  return answer.judgement->alpha;
}

Cell needed_cell(const MetricAnswer& answer) {
  if (!answer.judgement || !answer.judgement->captures_needed) return {};
  return static_cast<std::int64_t>(*answer.judgement->captures_needed);
}

Cell scale_cell(const MetricAnswer& answer) {
  if (!answer.judgement) return {};
  return std::string(answer.judgement->scale == ChangeScale::relative ? "relative" : "units");
}

}  // namespace

Table gate_table(const std::vector<MetricGate>& gates, const std::vector<MetricAnswer>& answers) {
  using enum ColumnKind;
  using enum Readers;
  struct Row {
    const MetricGate& gate;
    const MetricAnswer& found;
  };
  const auto bound = [](double ChangeBounds::*number) {
    return [number](auto& of) { return bound_cell(of.found, number); };
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
       [](auto& of) { return change_cell(of.found); }},
      {"scale", "Scale", text, programs, [](auto& of) { return scale_cell(of.found); }},
      {"noise", "Noise", number, programs, bound(&ChangeBounds::noise)},
      {"p", "p", number, programs, bound(&ChangeBounds::p)},
      {"lower", "Lower", number, programs, bound(&ChangeBounds::lower)},
      {"upper", "Upper", number, programs, bound(&ChangeBounds::upper)},
      {"alpha", "Alpha", number, programs, [](auto& of) { return alpha_cell(of.found); }},
      {"captures_needed", "Captures needed", count, programs,
       [](auto& of) { return needed_cell(of.found); }},
      {"why", "Why", text, programs, [](auto& of) { return text_or_nothing(of.found.why); }},
  };
  Table table = empty_table(columns);
  for (std::size_t i = 0; i < gates.size(); ++i) add_row(table, columns, {gates[i], answers[i]});
  return table;
}

SlowSteps::SlowSteps(const ComparedSides& sides, int looks) {
  base_.add(sides.base);
  changed_.add(sides.changed);
  if (looks < 2) return;
  base_.add(sides.base_again);
  changed_.add(sides.changed_again);
}

void SlowSteps::Count::add(const std::vector<Capture>& captures) {
  for (const Capture& capture : captures) {
    if (!capture.value_ns) continue;
    slow += count_slow_steps(capture.steps_ns);
    all += capture.steps_ns.size() - 1;
  }
}

std::string SlowSteps::line() const {
  return fmt::format(
      "Slow steps: {} of {} in base, {} of {} in new take at least 1.5 times their capture's "
      "median; the verdict is about the others (a gate on them: --gate 'step.p99<=+20%')",
      base_.slow, base_.all, changed_.slow, changed_.all);
}

std::string SlowSteps::json() const {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  const auto write = [&](std::string_view side, const Count& count) {
    json.key(side);
    json.begin_object();
    json.key("slow");
    json.value(count.slow);
    json.key("steps");
    json.value(count.all);
    json.end_object();
  };
  write("base", base_);
  write("new", changed_);
  json.end_object();
  return text;
}

namespace {

// Returns "+9.1 %".
std::string signed_percent(double change) {
  return fmt::format("{:+.1f} %", 100 * change);
}

std::string signed_duration(std::int64_t ns) {
  return (ns < 0 ? "-" : "+") + format_duration(std::abs(ns));
}

std::string verdict_line(const CompareOptions& options, const Comparison& found) {
  const std::string kind(to_string(found.kind));
  if (!found.why.empty()) return kind + ": " + found.why;
  const Judgement& judgement = *found.judgement;
  const std::string change = signed_percent(judgement.change);
  if (found.kind == CompareKind::ok && !found.gates.empty())
    return fmt::format("{}: {}; the step changed by {}", kind,
                       found.gates.size() == 1 ? "the gate holds" : "all gates hold", change);
  switch (found.kind) {
    case CompareKind::regression:
      return fmt::format("{}: the new step is longer, {}", kind, change);
    case CompareKind::improvement:
      return fmt::format("{}: the new step is shorter, {}", kind, change);
    default:
      return fmt::format("{}: the new step is not longer by {:.3g} % ({})", kind,
                         100 * options.judge.limit, change);
  }
}

std::string step_line(const CompareOptions& options, const Comparison& found) {
  const Judgement& judgement = *found.judgement;
  std::string line = fmt::format(
      "Step: {} in {} to {} in {}, {}", format_duration(std::llround(judgement.base)),
      count_of(found.base_captures, "capture"), format_duration(std::llround(judgement.changed)),
      count_of(found.changed_captures, "capture"), signed_percent(judgement.change));
  if (judgement.bounds)
    line += fmt::format("; at least {} with {:.3g} % confidence, at most {} with {:.3g} %",
                        signed_percent(judgement.bounds->lower), 100 * (1 - judgement.alpha),
                        signed_percent(judgement.bounds->upper), 100 * options.judge.ok_level);
  return line;
}

std::string noise_line(const CompareOptions& options, const Judgement& judgement) {
  return fmt::format(
      "Noise: {:.2f} % between captures{}; these captures show a change from {} in {:.3g} of 100 "
      "cases",
      100 * judgement.bounds->noise,
      judgement.is_assumed
          ? " (assumed: --noise)"
          : fmt::format(" ({} of freedom{})", count_of(judgement.freedom, "degree"),
                        options.judge.noise ? "; --noise is not needed" : ""),
      signed_percent(judgement.bounds->detectable), 100 * options.judge.power);
}

std::string moved_text(const Comparison& found) {
  if (found.ranks.size() == 1) return "";
  if (found.moved.size() == found.ranks.size()) return "; all ranks changed alike";
  return fmt::format("; of {} ranks only {} changed like that", found.ranks.size(),
                     ranks_words(found.moved, RankStyle::option));
}

constexpr std::string_view kNoWhere =
    "Where: not known, because no rank has steps on both sides: compare captures of the same ranks";

// Where a change that does not matter went is noise.
bool says_where(const CompareOptions& options, const Comparison& found) {
  if (!found.shown) return false;
  if (found.kind == CompareKind::regression || found.kind == CompareKind::improvement) return true;
  const RankDelta& rank = found.ranks[*found.shown];
  return std::abs(static_cast<double>(rank.delta_ns())) >=
         options.judge.floor * static_cast<double>(rank.base_ns);
}

std::string where_line(const Comparison& found) {
  const RankDelta& rank = found.ranks[*found.shown];
  const std::int64_t sign = rank.delta_ns() < 0 ? -1 : 1;
  const auto largest = std::max_element(found.roles.begin(), found.roles.end(),
                                        [&](const RoleDelta& a, const RoleDelta& b) {
                                          return sign * a.delta_ns() < sign * b.delta_ns();
                                        });
  return fmt::format("Where: rank {}, {} of {} a step is {}{}", rank.rank,
                     signed_duration(largest->delta_ns()), signed_duration(rank.delta_ns()),
                     role_name(largest->role), moved_text(found));
}

void write_judgement(JsonWriter& json, const Judgement& judgement, const CompareOptions& options) {
  json.key("base_ns");
  json.value(judgement.base);
  json.key("new_ns");
  json.value(judgement.changed);
  json.key("change");
  json.value(judgement.change);
  json.key("freedom");
  json.value(judgement.freedom);
  json.key("noise_is_assumed");
  json.value(judgement.is_assumed);
  const auto bound = [&](std::string_view key, double ChangeBounds::*number) {
    json.key(key);
    judgement.bounds ? json.value((*judgement.bounds).*number) : json.null();
  };
  bound("noise", &ChangeBounds::noise);
  bound("error", &ChangeBounds::error);
  bound("p", &ChangeBounds::p);
  bound("lower", &ChangeBounds::lower);
  bound("upper", &ChangeBounds::upper);
  bound("detectable", &ChangeBounds::detectable);
  json.key("captures_needed");
  json.value(judgement.captures_needed);
  json.key("alpha");
  json.value(judgement.alpha);
  json.key("floor");
  json.value(options.judge.floor);
  json.key("limit");
  json.value(options.judge.limit);
}

std::string verdict_json(const CompareOptions& options, const Comparison& found) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("kind");
  json.value(to_string(found.kind));
  json.key("why");
  found.why.empty() ? json.null() : json.value(found.why);
  json.key("looks");
  json.value(found.looks);
  if (found.judgement) write_judgement(json, *found.judgement, options);
  json.end_object();
  return text;
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

std::string captures_json(const ComparedSides& sides, int looks) {
  std::string text;
  JsonWriter json(text);
  json.begin_array();
  for_each_capture(sides, looks, [&](std::string_view side, const Capture& capture) {
    json.begin_object();
    json.key("side");
    json.value(side);
    json.key("name");
    json.value(capture.name);
    json.key("ranks");
    json.value(capture.ranks.size());
    json.key("steps");
    json.value(capture.steps_ns.size());
    json.key("value_ns");
    json.value(capture.value_ns);
    json.end_object();
  });
  json.end_array();
  return text;
}

std::string differences_json(const Comparison& found) {
  std::string text;
  JsonWriter json(text);
  json.begin_array();
  for (const Difference& difference : found.differences) {
    json.begin_object();
    json.key("key");
    json.value(difference.key);
    json.key("text");
    json.value(difference.text);
    json.key("forbids");
    json.value(difference.forbids);
    json.end_object();
  }
  json.end_array();
  return text;
}

std::string where_json(const Comparison& found) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("rank");
  found.shown ? json.value(found.ranks[*found.shown].rank) : json.null();
  json.key("moved");
  json.begin_array();
  for (const std::int64_t rank : found.moved) json.value(rank);
  json.end_array();
  json.key("moved_by");
  json.value(found.moved_together ? "step" : "own work");
  json.key("matched");
  json.begin_array();
  for (std::size_t i = 0; i < kMatchLevels; ++i) {
    json.begin_object();
    json.key("by");
    json.value(to_string(static_cast<MatchLevel>(i)));
    json.key("base");
    json.value(found.matched.base[i]);
    json.key("new");
    json.value(found.matched.changed[i]);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return text;
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
  using Row = RoleDelta;
  const ColumnsOf<Row> columns{
      {"role", "Role", text, [](auto& of) { return role_name(of.role); }},
      {"base_ns", "Base", duration, &Row::base_ns},
      {"new_ns", "New", duration, &Row::changed_ns},
      {"delta_ns", "Delta", duration, &Row::delta_ns},
  };
  Table table = empty_table(columns);
  for (const RoleDelta& role : found.roles)
    if (role.base_ns != 0 || role.changed_ns != 0) add_row(table, columns, role);
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
      {"base_ns", "Base", duration, some, [](auto& of) { return of.base.step_ns; }},
      {"new_ns", "New", duration, some, [](auto& of) { return of.changed.step_ns; }},
      {"base_total_ns", "Base total", duration, programs,
       [](auto& of) { return of.base.total_ns; }},
      {"new_total_ns", "New total", duration, programs,
       [](auto& of) { return of.changed.total_ns; }},
      {"base_calls", "Base calls", number, few, [](auto& of) { return of.base.calls; }},
      {"new_calls", "New calls", number, few, [](auto& of) { return of.changed.calls; }},
      {"what", "What", text, text_of(&Row::what)},
      {"matched_by", "Matched by", text, programs, [](auto& of) { return to_string(of.level); }},
      {"role", "Role", text, most, [](auto& of) { return role_name(of.role); }},
      {"base_op", "Base operator", text, programs,
       [](auto& of) { return text_or_nothing(of.base.op); }},
      {"new_op", "Operator", text, few, [](auto& of) { return text_or_nothing(of.changed.op); }},
      {"base_module", "Base module", text, programs,
       [](auto& of) { return text_or_nothing(of.base.module); }},
      {"new_module", "New module", text, programs,
       [](auto& of) { return text_or_nothing(of.changed.module); }},
      {"module", "Module", text, has_modules ? all : programs, text_of(&Row::modules)},
      {"base_name", "Base name", text, programs,
       [](auto& of) { return text_or_nothing(of.base.name); }},
      {"name", "Name", text, programs, [](auto& of) { return text_or_nothing(of.changed.name); }},
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
                                     const Comparison& found, const SlowSteps& slow) {
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
  if (slow.has_any()) lines.push_back(slow.line());
  if (!found.shown)
    lines.emplace_back(kNoWhere);
  else if (says_where(options, found))
    lines.push_back(where_line(found));
  return lines;
}

}  // namespace

Report compare_report(const ComparedSides& sides, const CompareOptions& options,
                      const Comparison& found) {
  Report report("compare", Run{});
  const SlowSteps slow(sides, found.looks);
  report.headline = headline_of(sides, options, found, slow);
  report.values = {{"verdict", verdict_json(options, found)},
                   {"captures", captures_json(sides, found.looks)},
                   {"differences", differences_json(found)},
                   {"slow_steps", slow.json()},
                   {"where", where_json(found)}};
  report.tables.push_back({"rows",
                           found.shown ? fmt::format("Where rank {}'s mean step changed",
                                                     found.ranks[*found.shown].rank)
                                       : "",
                           make_table(found.rows, row_columns(found))});
  if (!found.gates.empty())
    report.tables.push_back({"gates", "Gates", gate_table(options.gates, found.gates)});
  if (Table structure = structure_table(found); !structure.rows().empty())
    report.tables.push_back({"structure", "Device work that is new, gone or has another form",
                             std::move(structure), true});
  report.tables.push_back({"roles", "The same by role", role_table(found), true});
  report.tables.push_back({"ranks", "All ranks", rank_table(found), true});
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
  for_each_capture(sides, found.looks, [&](std::string_view, const Capture& capture) {
    if (!capture.value_ns)
      report.notes.push_back(
          fmt::format("{} does not count: it has fewer than {} steps, or they have no length",
                      capture.name, kLeastSteps + 1));
  });
  return report;
}

}  // namespace traceloom
