#include "base/problems.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "summarize/summarize.h"
#include "table/columns.h"
#include "table/table_formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

constexpr int kSchemaVersion = 1;
constexpr std::size_t kShownCategories = 3;

std::string short_categories(const SummaryRow& row) {
  if (row.categories.size() <= kShownCategories) return join_categories(row);
  SummaryRow shown;
  shown.categories.assign(row.categories.begin(), row.categories.begin() + kShownCategories);
  return join_categories(shown) + ", ...";
}

bool any_category(const Summary& summary) {
  return std::any_of(summary.rows.begin(), summary.rows.end(), [](const SummaryRow& row) {
    return row.categories.size() > 1 || !row.categories.front().empty();
  });
}

// True if two rows have the same name and differ only in their categories: one of the host, and one
// of a device.
bool has_twins(const Summary& summary) {
  std::set<std::pair<std::optional<std::int64_t>, std::optional<std::string>>> seen;
  return !std::ranges::all_of(
      summary.rows, [&](const SummaryRow& row) { return seen.emplace(row.rank, row.name).second; });
}

// JSON and CSV always have the same columns, in the documented order. Text and Markdown have the
// texts last, because a terminal shortens those, and no column without information.
ColumnsOf<SummaryRow> columns_for(const Summary& summary, bool people) {
  using enum ColumnKind;
  using enum Readers;
  using Row = SummaryRow;
  using Stats = DurationStats;
  const SummaryGrouping& by = summary.by;
  const bool needs_category = by.category || has_twins(summary);
  const ColumnOf<Row> name{"name", "Name", text, !people || by.name, &Row::name};
  const ColumnOf<Row> category{"category",
                               "Category",
                               text,
                               people && !needs_category ? some : all,
                               !people || by.category || any_category(summary),
                               people ? &short_categories : &join_categories};
  const ColumnOf<Row> part{"share", "Time %", share, &Row::share};
  const ColumnOf<Row> spans{"count", "Count", count, path(&Row::stats, &Stats::count)};
  const ColumnOf<Row> total{"total_ns", "Total", duration, path(&Row::stats, &Stats::total_ns)};
  ColumnsOf<Row> columns{{"rank", "Rank", count, by.rank, &Row::rank}};
  const auto append = [&](const ColumnsOf<Row>& more) {
    columns.insert(columns.end(), more.begin(), more.end());
  };
  append(people ? ColumnsOf<Row>{part, total, spans}
                : ColumnsOf<Row>{name, category, spans, total});
  append({
      {"mean_ns", "Avg", duration, most, path(&Row::stats, &Stats::mean_ns)},
      {"min_ns", "Min", duration, few, path(&Row::stats, &Stats::min_ns)},
      {"p50_ns", "Med", duration, some, path(&Row::stats, &Stats::p50_ns)},
      {"p90_ns", "P90", duration, few, path(&Row::stats, &Stats::p90_ns)},
      {"p99_ns", "P99", duration, most, path(&Row::stats, &Stats::p99_ns)},
      {"max_ns", "Max", duration, some, path(&Row::stats, &Stats::max_ns)},
      {"stddev_ns", "StdDev", duration, few, path(&Row::stats, &Stats::stddev_ns)},
  });
  append(people ? ColumnsOf<Row>{category, name} : ColumnsOf<Row>{part});
  return columns;
}

// People are shown the column by which rows are sorted.
Table table_of(const Summary& summary, bool people) {
  Table table = make_table(summary.rows, columns_for(summary, people));
  const std::string_view order = kSummaryOrderNames[static_cast<std::size_t>(summary.order)];
  table.show_to_all(order);
  table.show_to_all(fmt::format("{}_ns", order));
  table.show_in(summary.unit);
  return table;
}

std::string json_document(const Summary& summary) {
  std::string text;
  JsonWriter json(text, 2);
  json.begin_object();
  json.member("schema_version", kSchemaVersion);
  json.member("command", "summarize");
  write_files(json, summary.files);
  json.key("rows");
  append_rows(json, table_of(summary, false));
  write_file_problems(json, summary.files);
  json.end_object();
  text += '\n';
  return text;
}

}  // namespace

std::string render_summary(const Summary& summary, TableFormat format, const TextStyle& style) {
  if (format == TableFormat::json) return json_document(summary);
  const Table table = table_of(summary, format != TableFormat::csv);
  if (format != TableFormat::text) return render_table(table, format, style);
  const TextReport report = text_report(table, style);
  return report.has_more ? fmt::format("{}\nnote: {}\n", report.text, kMoreColumnsNote)
                         : report.text;
}

namespace {

// The columns with a number stand first in the order of SummaryOrder.
constexpr std::size_t kFields = static_cast<std::size_t>(SummaryOrder::name);
const std::vector<std::string_view> kFieldNames(std::begin(kSummaryOrderNames),
                                                std::begin(kSummaryOrderNames) + kFields);

std::string value_text(SummaryOrder field, std::int64_t value) {
  return field == SummaryOrder::count ? format_count(static_cast<std::uint64_t>(value))
                                      : format_duration(value);
}

// Returns "decode", with its rank and categories where several rows have the name.
std::string row_name(const SummaryRow& row) {
  std::string name = row.name.value_or("");
  if (row.rank) name += fmt::format(" of rank {}", *row.rank);
  const bool has_category = !row.categories.empty() && !row.categories.front().empty();
  if (has_category) name += fmt::format(" ({})", fmt::join(row.categories, ","));
  return name;
}

}  // namespace

bool LatencyGate::is_of(const SummaryRow& row) const {
  if (!row.name) return false;
  return pattern ? pattern->found_in(*row.name) : *row.name == name;
}

LatencyGate read_latency_gate(const std::string& option, const std::string& text) {
  const GateTerm term = read_gate_term(option, text, kFieldNames);
  if (term.field.empty())
    throw UsageError(fmt::format("{}: '{}' has no field after a dot: {} (try '{}.p99>5ms')", option,
                                 text, fmt::join(kFieldNames, ", "), term.metric()));
  LatencyGate gate{.text = term.text, .name = term.name};
  const auto field = std::find(kFieldNames.begin(), kFieldNames.end(), term.field);
  gate.field = static_cast<SummaryOrder>(field - kFieldNames.begin());
  const bool counts = gate.field == SummaryOrder::count;
  const BoundUnit unit = counts ? BoundUnit::number : BoundUnit::time;
  if (term.bounds.size() != 1 || term.bounds.front().unit != unit || term.bounds.front().is_change)
    throw UsageError(fmt::format("{}: '{}' needs one {} (try '{}>{}')", option, text,
                                 counts ? "number" : "time", term.metric(),
                                 counts ? "100" : "5ms"));
  gate.most = std::llround(std::floor(term.bounds.front().value));
  if (term.pattern && term.name.empty())
    gate.pattern.emplace(*term.pattern);
  else if (term.pattern)
    gate.name += "[" + *term.pattern + "]";  // a name with brackets
  return gate;
}

LatencyAnswer judge(const LatencyGate& gate, const Summary& summary) {
  LatencyAnswer answer;
  for (const SummaryRow& row : summary.rows) {
    if (!gate.is_of(row)) continue;
    ++answer.rows;
    const std::int64_t value = value_of(row.stats, gate.field);
    if (value > gate.most)
      answer.exceeds.push_back(fmt::format("{} has {} {}, more than {}", row_name(row),
                                           kFieldNames[static_cast<std::size_t>(gate.field)],
                                           value_text(gate.field, value),
                                           value_text(gate.field, gate.most)));
  }
  return answer;
}

}  // namespace traceloom
