#include "report/cell_text.h"

#include "base/json_string.h"
#include "base/units.h"
#include "report/text_width.h"

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

std::string number_text(double number) {
  return std::isfinite(number) ? fmt::format("{:.3f}", number) : "-";
}

}  // namespace

std::string cell_for_people(const Cell& cell, ColumnKind kind, TimeUnit unit) {
  if (const auto* text = std::get_if<std::string>(&cell)) return one_line(*text);
  if (const auto* share = std::get_if<double>(&cell))
    return kind == ColumnKind::number ? number_text(*share) : share_text(*share);
  if (const auto* number = std::get_if<std::int64_t>(&cell))
    return kind == ColumnKind::duration ? format_duration(*number, unit) : signed_count(*number);
  return "-";
}

std::string cell_for_programs(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return to_valid_utf8(*text);
  if (const auto* share = std::get_if<double>(&cell))
    return std::isfinite(*share) ? fmt::format("{}", *share) : "";
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  return "";
}

}  // namespace traceloom
