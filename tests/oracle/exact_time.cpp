#include "oracle/exact_time.h"

#include <charconv>
#include <limits>
#include <string>

namespace traceloom::oracle {
namespace {

constexpr Attos kAttosPerNs = 1'000'000'000'000'000'000;

// Digits without a point, and how many of them stand before it: 12.5e1 is "125" and 3.
struct Decimal {
  bool negative = false;
  std::string digits;
  long point = 0;
};

std::optional<Decimal> read_decimal(std::string_view text) {
  Decimal number;
  if (text.starts_with('-')) {
    number.negative = true;
    text.remove_prefix(1);
  }
  const std::size_t exponent_at = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, exponent_at);
  const std::size_t point_at = mantissa.find('.');
  number.digits = mantissa.substr(0, point_at);
  number.point = static_cast<long>(number.digits.size());
  if (point_at != std::string_view::npos) number.digits += mantissa.substr(point_at + 1);
  if (number.point == 0 || number.digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  if (exponent_at != std::string_view::npos) {
    std::string_view exponent = text.substr(exponent_at + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    int value = 0;
    const auto [end, error] =
        std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
    if (error != std::errc() || end != exponent.data() + exponent.size()) return std::nullopt;
    number.point += value;
  }
  return number;
}

}  // namespace

std::optional<Attos> parse_microseconds(std::string_view text) {
  std::optional<Decimal> number = read_decimal(text);
  if (!number) return std::nullopt;
  const std::size_t zeros = std::min(number->digits.find_first_not_of('0'), number->digits.size());
  number->digits.erase(0, zeros);
  if (number->digits.empty()) return Attos{0};
  // Microseconds have 3 + 18 digits before the last atto; more than 37 digits are out of range.
  const long wanted = number->point - static_cast<long>(zeros) + 3 + 18;
  if (wanted > 37) return std::nullopt;
  Attos value = 0;
  for (long i = 0; i < wanted; ++i) {
    const auto index = static_cast<std::size_t>(i);
    value = value * 10 + (index < number->digits.size() ? number->digits[index] - '0' : 0);
  }
  if (number->negative) value = -value;
  const Attos ns = floor_divide(value, kAttosPerNs);
  if (ns >= std::numeric_limits<std::int64_t>::max() ||
      ns < std::numeric_limits<std::int64_t>::min())
    return std::nullopt;
  return value;
}

std::int64_t round_to_ns(Attos time) {
  return static_cast<std::int64_t>(floor_divide(time + kAttosPerNs / 2, kAttosPerNs));
}

Attos floor_divide(Attos a, Attos b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

}  // namespace traceloom::oracle
