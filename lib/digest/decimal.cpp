#include "digest/decimal.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace traceloom::digest {

std::optional<Decimal> parse_decimal(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > kMostPlaces + 1) return std::nullopt;
  std::uint64_t digits = 0;
  std::size_t point = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.' && point == text.size())
      point = i;
    else if (text[i] >= '0' && text[i] <= '9')
      digits = 10 * digits + static_cast<std::uint64_t>(text[i] - '0');
    else
      return std::nullopt;
  }
  const std::size_t places = point == text.size() ? 0 : text.size() - point - 1;
  const bool has_bad_form =
      point == 0 || (point > 1 && text.front() == '0') || (point < text.size() && places == 0) ||
      (point == text.size() && text.size() > kMostPlaces) || (negative && digits == 0);
  if (has_bad_form) return std::nullopt;
  const auto value = static_cast<std::int64_t>(digits);
  return Decimal{negative ? -value : value, static_cast<unsigned>(places)};
}

void append_decimal(const Decimal& decimal, std::string& text) {
  std::array<char, 24> buffer;
  const bool negative = decimal.digits < 0;
  const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(decimal.digits)
                                      : static_cast<std::uint64_t>(decimal.digits);
  if (negative) text.push_back('-');
  const char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), size).ptr;
  const auto count = static_cast<std::size_t>(end - buffer.data());
  if (count <= decimal.places) {
    text += "0.";
    text.append(decimal.places - count, '0');
    text.append(buffer.data(), count);
    return;
  }
  const std::size_t whole = count - decimal.places;
  text.append(buffer.data(), whole);
  if (decimal.places == 0) return;
  text.push_back('.');
  text.append(buffer.data() + whole, decimal.places);
}

namespace {

constexpr double kTickUs = 1e6 / (1 << 22);
constexpr std::int64_t kMostTicks = std::int64_t{1} << 52;
// Shorter numbers are as well off as decimals.
constexpr std::size_t kLeastTickSize = 10;
// Numbers with fewer places may be decimals as they are, like the nanoseconds of a clock.
constexpr std::size_t kLeastDoublePlaces = 10;
constexpr std::size_t kLeastDoubleSize = 16;

std::optional<double> read_double(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::int64_t> parse_tick(std::string_view text) {
  if (text.size() < kLeastTickSize || text.find('.') == std::string_view::npos) return std::nullopt;
  const std::optional<double> us = read_double(text);
  if (!us || !(std::abs(*us / kTickUs) < static_cast<double>(kMostTicks))) return std::nullopt;
  const auto tick = static_cast<std::int64_t>(std::llround(*us / kTickUs));
  std::string same;
  append_tick(tick, same);
  return same == text ? std::optional(tick) : std::nullopt;
}

void append_tick(std::int64_t tick, std::string& text) {
  append_double(static_cast<double>(tick) / (1 << 22) * 1e6, text);
}

std::optional<double> parse_double(std::string_view text) {
  if (text.size() < kLeastDoubleSize) return std::nullopt;
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || text.size() - point <= kLeastDoublePlaces)
    return std::nullopt;
  const std::optional<double> number = read_double(text);
  std::string same;
  if (number) append_double(*number, same);
  return same == text ? number : std::nullopt;
}

void append_double(double number, std::string& text) {
  std::array<char, 400> buffer;  // the largest double has 309 digits
  char* const end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed)
          .ptr;
  text.append(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
}

}  // namespace traceloom::digest
