#include "table/cell_text.h"

#include "base/json_string.h"
#include "base/one_line.h"
#include "base/units.h"

#include <fmt/format.h>

#include <cmath>

namespace traceloom {
namespace {

std::string signed_count(std::int64_t count) {
  const auto magnitude = static_cast<std::uint64_t>(count);
  return count < 0 ? "-" + format_count(0 - magnitude) : format_count(magnitude);
}

std::string share_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", share * 100) : "-";
}

std::string bytes_text(std::int64_t bytes) {
  const auto magnitude = static_cast<std::uint64_t>(bytes);
  return bytes < 0 ? "-" + format_bytes(0 - magnitude) : format_bytes(magnitude);
}

std::string number_text(double number) {
  return std::isfinite(number) ? fmt::format("{:.3f}", number) : "-";
}

std::string quantity_text(double value, std::string_view unit) {
  constexpr double kMostBytes = 9e18;  // larger numbers do not fit std::int64_t
  const bool fits = std::isfinite(value) && std::abs(value) < kMostBytes;
  if (unit == kQuantityUnitNames[static_cast<std::size_t>(QuantityUnit::share)])
    return share_text(value);
  if (unit == kQuantityUnitNames[static_cast<std::size_t>(QuantityUnit::bytes)] && fits)
    return bytes_text(std::llround(value));
  if (unit == kQuantityUnitNames[static_cast<std::size_t>(QuantityUnit::bytes_per_second)] && fits)
    return bytes_text(std::llround(value)) + "/s";
  if (unit == kQuantityUnitNames[static_cast<std::size_t>(QuantityUnit::per_second)])
    return number_text(value) + " /s";
  return number_text(value);
}

std::string_view unit_of(const Table& table, std::size_t row) {
  for (std::size_t i = 0; i < table.columns().size(); ++i)
    if (const auto* text = std::get_if<std::string>(&table.rows()[row][i]);
        text != nullptr && table.columns()[i].key == "unit")
      return *text;
  return {};
}

}  // namespace

std::string cell_for_people(const Table& table, std::size_t row, std::size_t column) {
  const Cell& cell = table.rows()[row][column];
  const ColumnKind kind = table.columns()[column].kind;
  if (const auto* value = std::get_if<double>(&cell);
      value != nullptr && kind == ColumnKind::quantity)
    return quantity_text(*value, unit_of(table, row));
  return cell_for_people(cell, kind, table.unit());
}

std::string cell_for_people(const Cell& cell, ColumnKind kind, TimeUnit unit) {
  if (const auto* text = std::get_if<std::string>(&cell)) return one_line(*text);
  if (const auto* share = std::get_if<double>(&cell))
    return kind == ColumnKind::number ? number_text(*share) : share_text(*share);
  if (const auto* number = std::get_if<std::int64_t>(&cell))
    return kind == ColumnKind::duration ? format_duration(*number, unit)
           : kind == ColumnKind::bytes  ? bytes_text(*number)
                                        : signed_count(*number);
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "yes" : "no";
  return "-";
}

std::string cell_for_programs(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return to_valid_utf8(*text);
  if (const auto* share = std::get_if<double>(&cell))
    return std::isfinite(*share) ? fmt::format("{}", *share) : "";
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "true" : "false";
  return "";
}

}  // namespace traceloom
