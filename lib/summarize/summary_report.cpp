#include "summarize/summary_report.h"

#include "base/problems.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "summarize/summary_rows.h"
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

// A column and the function that makes its cells.
struct Field {
  Column column;
  Cell (*cell)(const SummaryRow&);
};
using Fields = std::vector<Field>;

Cell rank_cell(const SummaryRow& row) {
  return row.rank ? Cell(*row.rank) : Cell();
}
Cell name_cell(const SummaryRow& row) {
  return row.name ? Cell(*row.name) : Cell();
}
Cell category_cell(const SummaryRow& row) {
  return join_categories(row);
}
Cell share_cell(const SummaryRow& row) {
  return row.share;
}
Cell count_cell(const SummaryRow& row) {
  return static_cast<std::int64_t>(row.stats.count);
}

template <std::int64_t DurationStats::*Member>
Cell duration_cell(const SummaryRow& row) {
  return row.stats.*Member;
}

Cell short_category_cell(const SummaryRow& row) {
  if (row.categories.size() <= kShownCategories) return join_categories(row);
  SummaryRow shown;
  shown.categories.assign(row.categories.begin(), row.categories.begin() + kShownCategories);
  return join_categories(shown) + ", ...";
}

const Field kRank{{"rank", "Rank", ColumnKind::count}, rank_cell};
const Field kName{{"name", "Name", ColumnKind::text}, name_cell};
const Field kCategory{{"category", "Category", ColumnKind::text}, category_cell};
const Field kShortCategory{{"category", "Category", ColumnKind::text}, short_category_cell};
const Field kShare{{"share", "Time %", ColumnKind::share}, share_cell};
const Field kCount{{"count", "Count", ColumnKind::count}, count_cell};

template <std::int64_t DurationStats::*Member>
Field duration(const std::string& key, const std::string& title, Readers readers) {
  return {{key, title, ColumnKind::duration, readers}, duration_cell<Member>};
}

Field total() {
  return duration<&DurationStats::total_ns>("total_ns", "Total", Readers::all);
}

// Appends the columns from Avg to StdDev.
void append_distribution(Fields& fields) {
  fields.push_back(duration<&DurationStats::mean_ns>("mean_ns", "Avg", Readers::most));
  fields.push_back(duration<&DurationStats::min_ns>("min_ns", "Min", Readers::few));
  fields.push_back(duration<&DurationStats::p50_ns>("p50_ns", "Med", Readers::some));
  fields.push_back(duration<&DurationStats::p90_ns>("p90_ns", "P90", Readers::few));
  fields.push_back(duration<&DurationStats::p99_ns>("p99_ns", "P99", Readers::most));
  fields.push_back(duration<&DurationStats::max_ns>("max_ns", "Max", Readers::some));
  fields.push_back(duration<&DurationStats::stddev_ns>("stddev_ns", "StdDev", Readers::few));
}

// JSON and CSV always have the same columns, in the documented order.
Fields fields_for_programs(const Summary& summary) {
  Fields fields;
  if (summary.by.rank) fields.push_back(kRank);
  fields.insert(fields.end(), {kName, kCategory, kCount, total()});
  append_distribution(fields);
  fields.push_back(kShare);
  return fields;
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
  return !std::all_of(summary.rows.begin(), summary.rows.end(), [&](const SummaryRow& row) {
    return seen.emplace(row.rank, row.name).second;
  });
}

// Text and Markdown have the texts last, because a terminal shortens those, and no column without
// information. All readers are shown the column by which rows are sorted.
Fields fields_for_people(const Summary& summary) {
  Field category = kShortCategory;
  if (!summary.by.category && !has_twins(summary)) category.column.readers = Readers::some;
  Fields fields;
  if (summary.by.rank) fields.push_back(kRank);
  fields.insert(fields.end(), {kShare, total(), kCount});
  append_distribution(fields);
  if (summary.by.category || any_category(summary)) fields.push_back(category);
  if (summary.by.name) fields.push_back(kName);
  const std::string_view order = kSummaryOrderNames[static_cast<std::size_t>(summary.order)];
  for (Field& field : fields)
    if (field.column.key == order || field.column.key == fmt::format("{}_ns", order))
      field.column.readers = Readers::all;
  return fields;
}

Table make_table(const Summary& summary, const Fields& fields) {
  std::vector<Column> columns;
  for (const Field& field : fields) columns.push_back(field.column);
  Table table(columns);
  table.show_in(summary.unit);
  for (const SummaryRow& row : summary.rows) {
    std::vector<Cell> cells;
    for (const Field& field : fields) cells.push_back(field.cell(row));
    table.add_row(std::move(cells));
  }
  return table;
}

std::string json_document(const Summary& summary) {
  std::string text;
  JsonWriter json(text, 2);
  json.begin_object();
  json.key("schema_version");
  json.value(kSchemaVersion);
  json.key("command");
  json.value("summarize");
  write_files(json, summary.files);
  json.key("rows");
  append_rows(json, make_table(summary, fields_for_programs(summary)));
  write_file_problems(json, summary.files);
  json.end_object();
  text += '\n';
  return text;
}

}  // namespace

std::string render_summary(const Summary& summary, TableFormat format, const TextStyle& style) {
  if (format == TableFormat::json) return json_document(summary);
  const Fields fields =
      format == TableFormat::csv ? fields_for_programs(summary) : fields_for_people(summary);
  const Table table = make_table(summary, fields);
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

std::int64_t value_of(const DurationStats& stats, SummaryOrder field) {
  switch (field) {
    case SummaryOrder::total:
      return stats.total_ns;
    case SummaryOrder::count:
      return static_cast<std::int64_t>(stats.count);
    case SummaryOrder::mean:
      return stats.mean_ns;
    case SummaryOrder::min:
      return stats.min_ns;
    case SummaryOrder::p50:
      return stats.p50_ns;
    case SummaryOrder::p90:
      return stats.p90_ns;
    case SummaryOrder::p99:
      return stats.p99_ns;
    case SummaryOrder::max:
      return stats.max_ns;
    default:
      return stats.stddev_ns;
  }
}

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
