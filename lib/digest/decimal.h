// Decimal: a number as JSON writes it, as a whole number and a count of decimal places.
//
//   parse_decimal("-12.50");          // {-1250, 2}
//   append_decimal({-1250, 2}, text);  // appends "-12.50"
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom::digest {

inline constexpr unsigned kMostPlaces = 18;

struct Decimal {
  std::int64_t digits = 0;
  unsigned places = 0;
};

// Python's time.time() counts 2^-22 s today, and a difference of two of them in microseconds is
// written with up to 17 digits: 24228847.50366211 is tick 101623152.
std::optional<std::int64_t> parse_tick(std::string_view text);
void append_tick(std::int64_t tick, std::string& text);

// The double in a number of 15 digits and more, most of them after the point, which is what
// programs print of one that was multiplied. Returns nullopt unless append_double() writes exactly
// `text`.
std::optional<double> parse_double(std::string_view text);
void append_double(double number, std::string& text);

inline constexpr std::array<std::uint64_t, kMostPlaces + 1> kPowersOfTen = [] {
  std::array<std::uint64_t, kMostPlaces + 1> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = 10 * powers[i - 1];
  return powers;
}();

// Returns nullopt unless append_decimal() writes exactly `text`: for more than 18 digits, an
// exponent, leading zeros, "-0" and whatever else is no such number.
std::optional<Decimal> parse_decimal(std::string_view text);

// Appends the number. At most kMostPlaces places.
void append_decimal(const Decimal& decimal, std::string& text);

}  // namespace traceloom::digest
