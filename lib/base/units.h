// Text for people: numbers with their units or nouns, lists of ranks, and names that are fit for a
// line of a terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Formats and parses numbers as people write and read them: "64 MiB", "1.2 ms", "41,233".

// 41233 -> "41,233".
std::string format_count(std::uint64_t count);

// Returns "1 file", "4 files", "14,052 events".
std::string count_of(std::uint64_t number, std::string_view noun);

// Returns `one` if the number is 1. Otherwise returns `many`, or `one` with an s if that is empty.
std::string plural(std::uint64_t number, std::string_view one, std::string_view many = {});

// There is no one style for all lists: readers copy the ranks of a note to --rank, which takes no
// spaces and needs every rank, but in a sentence a list has spaces and stays short. A range cannot
// say whether a sentence is about each of its ranks, all of them together, or one of them, so
// stragglers, which are few, are named one by one.
enum class RankStyle : std::uint8_t {
  option,    // "2,5-7"
  sentence,  // "2, 5-7"; after eight ranges "and 12 more"
  each,      // "2, 5, 6"
  named,     // "2, 5 and 6"; after eight ranks "and 12 more"
  all,       // "2 and 5 and 6"
  either,    // "2 or 5 or 6"
};

struct RankRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

// Returns the list without the word "ranks", and nothing if there is no range. Ranges ascend.
std::string rank_list(const std::vector<RankRange>& ranges, RankStyle style);

// Returns "rank 2" or "ranks 2, 5-7". Ranks must ascend.
std::string ranks_words(const std::vector<std::int64_t>& ranks, RankStyle style);
std::string ranks_words(const std::set<std::int64_t>& ranks, RankStyle style);

// 67108864 -> "64.0 MiB"; below 1 KiB: "812 B".
std::string format_bytes(std::uint64_t bytes);
// Writes a difference in the same way: -1536 -> "-1.5 KiB".
std::string bytes_words(std::int64_t bytes);

// Writes three digits after the point and a unit that fits: 0 -> "0 ns", 1234 -> "1.234 us",
// 93'000'000 -> "93.000 ms", 61'000'000'000 -> "61.000 s". The number is rounded half away from
// zero; `ns` may be negative.
std::string format_duration(std::int64_t ns);

enum class TimeUnit : std::uint8_t { automatic, ns, us, ms, s };
// The names stand in the order of the enum; --help and did-you-mean use them.
inline constexpr std::string_view kTimeUnitNames[] = {"auto", "ns", "us", "ms", "s"};

// The same in one fixed unit, for columns that readers compare: 1234567 in us -> "1,234.567 us".
std::string format_duration(std::int64_t ns, TimeUnit unit);

// Parses "64MiB", "64 MB", "1.5G", "4096" into bytes; nullopt if the text is no size or does not
// fit. K, M, G, T, P and KiB, MiB, ... are powers of 1024; KB, MB, ... are powers of 1000. Letters
// may have any case. Fractions of a byte are cut off.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

// Parses "5us", "1.5 ms", "-3s", "2min", "1h" into exact nanoseconds; nullopt if the text is no
// time or does not fit. The units are ns, us (also with a micro sign), ms, s, min, h. A bare number
// other than 0 is refused, because its unit is not known. Fractions of a nanosecond are cut off.
std::optional<std::int64_t> parse_duration(std::string_view text);

// Makes text from outside (names in traces, paths, words of a command line) fit for a line of a
// terminal.
//
//   one_line("a\x1b]0;owned\x07\nb")   // R"(a\x1b]0;owned\x07\nb)"

// Returns `text` as valid UTF-8 on one line. Characters that a terminal would obey become escapes:
// control characters (\n, \x1b, \u007f, \u009b), ends of lines and paragraphs (\u2028), and
// characters that turn the direction of the text after them (\u202e). A second application changes
// nothing.
std::string one_line(std::string_view text);

// The same for a text of several lines: line feeds stay. A JSON text keeps its meaning.
std::string printable_lines(std::string_view text);

}  // namespace traceloom
