// Decimal microseconds in exact arithmetic: the oracle's own reading of ts and dur.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace traceloom::oracle {

// Nanoseconds times 10^18. The type holds every time that fits int64 nanoseconds with 18 digits
// below the nanosecond; further digits are cut.
__extension__ typedef __int128 Attos;

// nullopt when the text is no JSON number or is beyond int64 nanoseconds.
std::optional<Attos> parse_microseconds(std::string_view number);

// Rounds to whole nanoseconds, halves up (towards +infinity).
std::int64_t round_to_ns(Attos time);

// floor(a / b) for b > 0.
Attos floor_divide(Attos a, Attos b);

}  // namespace traceloom::oracle
