#include "page/delta_table.h"

#include "table/cell_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace traceloom {
namespace {

using Row = std::vector<Cell>;

// The place of a column on both sides.
struct Place {
  std::size_t base;
  std::size_t changed;
};

std::vector<Place> places_of(const Table& base, const Table& changed,
                             const std::vector<std::string_view>& keys) {
  std::vector<Place> places;
  for (const std::string_view key : keys) {
    const std::optional<std::size_t> some = base.find_column(key);
    const std::optional<std::size_t> other = changed.find_column(key);
    if (some && other) places.push_back({*some, *other});
  }
  return places;
}

Cell delta_of(const Cell& base, const Cell& changed) {
  if (const auto* const from = std::get_if<std::int64_t>(&base))
    if (const auto* const to = std::get_if<std::int64_t>(&changed)) return *to - *from;
  if (const auto* const from = std::get_if<double>(&base))
    if (const auto* const to = std::get_if<double>(&changed)) return *to - *from;
  return {};
}

std::vector<Column> columns_of(const Table& base, const std::vector<Place>& keys,
                               const std::vector<Place>& values) {
  std::vector<Column> columns;
  for (const Place& key : keys) {
    columns.push_back(base.columns()[key.base]);
    columns.back().readers = Readers::all;
  }
  for (const Place& value : values) {
    const Column& column = base.columns()[value.base];
    columns.push_back({"base_" + column.key, column.title + ", base", column.kind});
    columns.push_back({"new_" + column.key, column.title + ", new", column.kind});
    columns.push_back({"delta_" + column.key, "Delta", column.kind});
  }
  return columns;
}

// Either side may be missing.
Row joined(const Row* base, const Row* changed, const std::vector<Place>& keys,
           const std::vector<Place>& values) {
  Row row;
  for (const Place& key : keys)
    row.push_back(base != nullptr ? (*base)[key.base] : (*changed)[key.changed]);
  for (const Place& value : values) {
    const Cell from = base != nullptr ? (*base)[value.base] : Cell();
    const Cell to = changed != nullptr ? (*changed)[value.changed] : Cell();
    row.push_back(from);
    row.push_back(to);
    row.push_back(delta_of(from, to));
  }
  return row;
}

std::string key_of(const Row& row, const std::vector<Place>& keys, std::size_t Place::*side) {
  std::string text;
  for (const Place& key : keys) (text += cell_for_programs(row[key.*side])) += '\n';
  return text;
}

double size_of(const Cell& cell) {
  if (const auto* const number = std::get_if<std::int64_t>(&cell))
    return std::abs(static_cast<double>(*number));
  const auto* const number = std::get_if<double>(&cell);
  return number == nullptr ? 0 : std::abs(*number);
}

}  // namespace

Table delta_table(const Table& base, const Table& changed, const DeltaColumns& columns) {
  const std::vector<Place> keys = places_of(base, changed, columns.keys);
  const std::vector<Place> values = places_of(base, changed, columns.values);
  Table table(columns_of(base, keys, values));
  if (values.empty()) return table;
  std::map<std::string, std::vector<std::size_t>> others;  // the last one first
  for (std::size_t i = changed.rows().size(); i-- > 0;)
    others[key_of(changed.rows()[i], keys, &Place::changed)].push_back(i);
  std::vector<bool> is_joined(changed.rows().size());
  for (const Row& row : base.rows()) {
    const Row* other = nullptr;
    if (const auto found = others.find(key_of(row, keys, &Place::base));
        found != others.end() && !found->second.empty()) {
      is_joined[found->second.back()] = true;
      other = &changed.rows()[found->second.back()];
      found->second.pop_back();
    }
    table.add_row(joined(&row, other, keys, values));
  }
  for (std::size_t i = 0; i < changed.rows().size(); ++i)
    if (!is_joined[i]) table.add_row(joined(nullptr, &changed.rows()[i], keys, values));
  return table;
}

void put_largest_first(Table& table, std::size_t most) {
  if (table.rows().size() <= most) return;
  std::size_t column = 0;
  while (column < table.columns().size() && !table.columns()[column].key.starts_with("delta_"))
    ++column;
  if (column == table.columns().size()) return;
  std::vector<Row> rows = table.rows();
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return size_of(a[column]) > size_of(b[column]);
  });
  Table sorted(table.columns());
  for (Row& row : rows) sorted.add_row(std::move(row));
  table = std::move(sorted);
}

}  // namespace traceloom
