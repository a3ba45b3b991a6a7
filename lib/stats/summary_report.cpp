#include "stats/summary_report.h"

#include "output/file_list.h"
#include "output/json_writer.h"
#include "report/json_report.h"
#include "stats/summary_rows.h"

#include <algorithm>

namespace traceloom {
namespace {

constexpr int kSchemaVersion = 1;
constexpr std::size_t kShownCategories = 3;
constexpr int kWidthForAll = 150;           // columns of a terminal
constexpr int kWidthForDistribution = 110;  // without the category

// A column and what stands in it.
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
Field duration(const std::string& key, const std::string& title) {
  return {{key, title, ColumnKind::duration}, duration_cell<Member>};
}

Field total() {
  return duration<&DurationStats::total_ns>("total_ns", "Total");
}

// Avg to StdDev.
void append_distribution(Fields& fields) {
  fields.push_back(duration<&DurationStats::mean_ns>("mean_ns", "Avg"));
  fields.push_back(duration<&DurationStats::min_ns>("min_ns", "Min"));
  fields.push_back(duration<&DurationStats::p50_ns>("p50_ns", "Med"));
  fields.push_back(duration<&DurationStats::p90_ns>("p90_ns", "P90"));
  fields.push_back(duration<&DurationStats::p99_ns>("p99_ns", "P99"));
  fields.push_back(duration<&DurationStats::max_ns>("max_ns", "Max"));
  fields.push_back(duration<&DurationStats::stddev_ns>("stddev_ns", "StdDev"));
}

// What a narrow terminal has room for.
void append_essentials(Fields& fields) {
  fields.push_back(duration<&DurationStats::mean_ns>("mean_ns", "Avg"));
  fields.push_back(duration<&DurationStats::p99_ns>("p99_ns", "P99"));
  fields.push_back(duration<&DurationStats::max_ns>("max_ns", "Max"));
}

// JSON and CSV: always the same columns, in the order of the promised shape.
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

// Text and Markdown: the texts last, because they are what a terminal shortens, and no column that
// says nothing. A narrow terminal gets fewer columns, so that lines stay whole and names readable.
Fields fields_for_people(const Summary& summary, int width) {
  const bool narrow = width > 0 && width < kWidthForAll;
  const bool category = summary.by.category || (!narrow && any_category(summary));
  Fields fields;
  if (summary.by.rank) fields.push_back(kRank);
  fields.insert(fields.end(), {kShare, total(), kCount});
  if (narrow && (category || width < kWidthForDistribution)) {
    append_essentials(fields);
  } else {
    append_distribution(fields);
  }
  if (category) fields.push_back(kShortCategory);
  if (summary.by.name) fields.push_back(kName);
  return fields;
}

Table make_table(const Summary& summary, const Fields& fields) {
  std::vector<Column> columns;
  for (const Field& field : fields) columns.push_back(field.column);
  Table table(columns);
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
  const Fields fields = format == TableFormat::csv ? fields_for_programs(summary)
                                                   : fields_for_people(summary, style.width);
  return render_table(make_table(summary, fields), format, style);
}

}  // namespace traceloom
