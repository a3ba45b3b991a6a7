// Time as int64 nanoseconds, to and from the microsecond text of traces, never through a double.
//
//   ParsedTime start = *parse_time("1712195495406752.812");
//   // start.floor_ns == 1712195495406752812
//   std::string text;
//   append_microseconds(text, 1500);   // "1.5"
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// An exact decimal time: floor_ns + atto / 10^18 nanoseconds. Digits after the 18th below the
// nanosecond are cut; no producer writes a trace in which those would change a rounded nanosecond.
// The results of parse_time() and add() lie in [-2^63, 2^63 - 1] ns, so that rounding cannot
// overflow.
struct ParsedTime {
  std::int64_t floor_ns = 0;
  std::uint64_t atto = 0;  // [0, 10^18)
  bool is_plain = false;  // the text was digits, a point and at most three decimals, as we write it

  // Rounds half up, so that rounding is monotone: nesting and adjacency of spans survive it.
  std::int64_t rounded_ns() const { return floor_ns + (atto >= 500'000'000'000'000'000U ? 1 : 0); }
  // True if the text has nonzero digits below the nanosecond.
  bool is_fractional() const { return atto != 0; }

  friend bool operator==(const ParsedTime& a, const ParsedTime& b) {
    return a.floor_ns == b.floor_ns && a.atto == b.atto;
  }
  friend std::strong_ordering operator<=>(const ParsedTime& a, const ParsedTime& b) {
    if (a.floor_ns != b.floor_ns) return a.floor_ns <=> b.floor_ns;
    return a.atto <=> b.atto;
  }
};

// Returns the exact sum, or nullopt if it does not fit int64 nanoseconds.
std::optional<ParsedTime> add(const ParsedTime& a, const ParsedTime& b);

// Reads the text of a JSON value that holds microseconds: a number in any JSON form (12, 12.345,
// 1.5e3, -0.0), the same inside quotes (torch_npu), or the broken negatives of Kineto ("0.-66" is
// -0.066, "-12.-345" is -12.345). nullopt for anything else (null, NaN, "abc", 0x10, +5) and for
// values outside [-2^63, 2^63 - 1] ns. About 10 ns for the usual 16 digits.
std::optional<ParsedTime> parse_time(std::string_view json_value);

// Returns whether the number is below 0 (-0 is), or nullopt if the text is no number. It reads
// numbers like parse_time(), but also those beyond int64 nanoseconds.
std::optional<bool> is_negative_number(std::string_view json_value);

// The usual case of parse_time() by itself: a sign, up to 16 digits, a point and up to three
// decimals. Returns false and leaves `ns` unchanged for any other text.
bool parse_plain_time(std::string_view json_value, std::int64_t& ns);

// Appends nanoseconds as microsecond text: at most three decimals, no trailing zeros, no exponent.
void append_microseconds(std::string& out, std::int64_t ns);
// The same into a buffer of at least 24 bytes; returns the end.
char* write_microseconds(char* out, std::int64_t ns);
// Writes all eight digits of a number below 10^8, with leading zeros; returns the end.
char* write_eight_digits(char* out, std::uint32_t number);

}  // namespace traceloom
