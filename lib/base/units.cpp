#include "base/units.h"

#include "base/arithmetic.h"
#include "base/ascii.h"
#include "base/json_string.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace traceloom {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// The number of digits after the point that count; 10^-18 of the largest unit is below any result.
constexpr std::size_t kMaxFractionDigits = 18;

std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

// A decimal number as it was written: 1.50 is {"1", "50"}.
struct Decimal {
  std::string_view whole;
  std::string_view fraction;
};

std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal number{take_digits(text), {}};
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    number.fraction = take_digits(text);
    if (number.fraction.empty()) return std::nullopt;
  } else if (number.whole.empty()) {
    return std::nullopt;
  }
  return number;
}

// No digits are 0.
std::optional<std::uint64_t> to_integer(std::string_view digits) {
  return digits.empty() ? 0 : whole_number<std::uint64_t>(digits);
}

// Returns number * factor without its fraction, or nullopt if the product does not fit.
std::optional<std::uint64_t> scale(const Decimal& number, std::uint64_t factor) {
  std::optional<std::uint64_t> whole = to_integer(number.whole);
  if (!whole || __builtin_mul_overflow(*whole, factor, &*whole)) return std::nullopt;
  const std::string_view digits = number.fraction.substr(0, kMaxFractionDigits);
  std::uint64_t divisor = 1;
  for (std::size_t i = 0; i < digits.size(); ++i) divisor *= 10;
  const Uint128 fraction = Uint128{*to_integer(digits)} * factor / divisor;
  if (__builtin_add_overflow(*whole, static_cast<std::uint64_t>(fraction), &*whole))
    return std::nullopt;
  return whole;
}

std::string_view skip_spaces(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

template <std::size_t kSize>
std::optional<std::uint64_t> find_unit(const std::array<Unit, kSize>& units,
                                       std::string_view name) {
  const auto unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == name; });
  if (unit == units.end()) return std::nullopt;
  return unit->factor;
}

constexpr std::array<Unit, 17> kByteUnits{{
    {"", 1},
    {"b", 1},
    {"k", std::uint64_t{1} << 10},
    {"kib", std::uint64_t{1} << 10},
    {"kb", 1'000},
    {"m", std::uint64_t{1} << 20},
    {"mib", std::uint64_t{1} << 20},
    {"mb", 1'000'000},
    {"g", std::uint64_t{1} << 30},
    {"gib", std::uint64_t{1} << 30},
    {"gb", 1'000'000'000},
    {"t", std::uint64_t{1} << 40},
    {"tib", std::uint64_t{1} << 40},
    {"tb", 1'000'000'000'000},
    {"p", std::uint64_t{1} << 50},
    {"pib", std::uint64_t{1} << 50},
    {"pb", 1'000'000'000'000'000},
}};

constexpr std::array<Unit, 8> kTimeUnits{{
    {"ns", 1},
    {"us", 1'000},
    {"\u00B5s", 1'000},  // the micro sign
    {"\u03BCs", 1'000},  // the Greek letter; people type both
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"min", 60'000'000'000},
    {"h", 3'600'000'000'000},
}};

std::optional<std::int64_t> with_sign(std::uint64_t magnitude, bool negative) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (magnitude > kMax + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

// Returns magnitude / factor in thousandths, rounded half up.
std::uint64_t thousandths(std::uint64_t magnitude, std::uint64_t factor) {
  return static_cast<std::uint64_t>((Uint128{magnitude} * 1000 + factor / 2) / factor);
}

// The most ranges or ranks of a list that has to stay short.
constexpr std::size_t kMostWords = 8;

template <class Ranks>
std::vector<RankRange> ranges_of(const Ranks& ranks) {
  std::vector<RankRange> ranges;
  for (const std::int64_t rank : ranks) {
    if (!ranges.empty() && ranges.back().last + 1 == rank)
      ranges.back().last = rank;
    else
      ranges.push_back({rank, rank});
  }
  return ranges;
}

std::string_view between_ranks(RankStyle style) {
  switch (style) {
    case RankStyle::option:
      return ",";
    case RankStyle::all:
      return " and ";
    case RankStyle::either:
      return " or ";
    default:
      return ", ";
  }
}

template <class Ranks>
std::string words_of(const Ranks& ranks, RankStyle style) {
  return fmt::format("{} {}", plural(ranks.size(), "rank"), rank_list(ranges_of(ranks), style));
}

}  // namespace

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string count_of(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}", format_count(number), plural(number, noun));
}

std::string plural(std::uint64_t number, std::string_view one, std::string_view many) {
  if (number == 1) return std::string(one);
  return many.empty() ? fmt::format("{}s", one) : std::string(many);
}

std::string rank_list(const std::vector<RankRange>& ranges, RankStyle style) {
  const bool is_short = style == RankStyle::sentence || style == RankStyle::named;
  std::vector<std::string> words;
  std::int64_t left = 0;
  const auto add = [&](std::int64_t first, std::int64_t last) {
    if (is_short && words.size() == kMostWords)
      left += last - first + 1;
    else
      words.push_back(first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
  };
  for (const auto [first, last] : ranges)
    if (style == RankStyle::option || style == RankStyle::sentence)
      add(first, last);
    else
      for (std::int64_t rank = first; rank <= last; ++rank) add(rank, rank);
  if (left > 0) words.push_back(fmt::format("{} more", left));
  std::string last = words.empty() ? std::string() : std::move(words.back());
  if (words.size() < 2) return last;
  words.pop_back();
  const std::string_view between = between_ranks(style);
  return fmt::format("{}{}{}", fmt::join(words, between),
                     left > 0 || style == RankStyle::named ? " and " : between, last);
}

std::string ranks_words(const std::vector<std::int64_t>& ranks, RankStyle style) {
  return words_of(ranks, style);
}

std::string ranks_words(const std::set<std::int64_t>& ranks, RankStyle style) {
  return words_of(ranks, style);
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 6> kNames{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  Uint128 factor = 1024;
  const auto tenths = [&] { return (Uint128{bytes} * 10 + factor / 2) / factor; };
  while (tenths() >= 10240) {  // 1,023.96 KiB reads 1.0 MiB
    ++unit;
    factor *= 1024;
  }
  const auto number = static_cast<std::uint64_t>(tenths());
  return fmt::format("{}.{} {}", format_count(number / 10), number % 10, kNames[unit]);
}

std::string bytes_words(std::int64_t bytes) {
  const auto magnitude = static_cast<std::uint64_t>(bytes);
  return bytes < 0 ? "-" + format_bytes(0 - magnitude) : format_bytes(magnitude);
}

std::string format_duration(std::int64_t ns) {
  return format_duration(ns, TimeUnit::automatic);
}

std::string format_duration(std::int64_t ns, TimeUnit unit) {
  constexpr std::array<std::uint64_t, 5> kFactors{1, 1, 1'000, 1'000'000, 1'000'000'000};
  const std::string_view sign = ns < 0 ? "-" : "";
  const std::uint64_t magnitude = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : ns;
  auto place = static_cast<std::size_t>(unit);
  if (unit == TimeUnit::automatic) {
    place = static_cast<std::size_t>(magnitude < 1000 ? TimeUnit::ns : TimeUnit::us);
    // 999,999,999 ns reads 1.000 s and not 1,000.000 ms.
    while (place + 1 < kFactors.size() && thousandths(magnitude, kFactors[place]) >= 1'000'000)
      ++place;
  }
  const std::string_view name = kTimeUnitNames[place];
  if (kFactors[place] == 1) return fmt::format("{}{} {}", sign, format_count(magnitude), name);
  const std::uint64_t number = thousandths(magnitude, kFactors[place]);
  return fmt::format("{}{}.{:03} {}", sign, format_count(number / 1000), number % 1000, name);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const std::optional<Decimal> number = take_decimal(text);
  if (!number) return std::nullopt;
  const std::optional<std::uint64_t> factor = find_unit(kByteUnits, to_lower(skip_spaces(text)));
  return factor ? scale(*number, *factor) : std::nullopt;
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::optional<Decimal> number = take_decimal(text);
  if (!number) return std::nullopt;
  const std::string_view name = skip_spaces(text);
  if (name.empty()) {
    const auto is_zero = [](std::string_view digits) {
      return digits.find_first_not_of('0') == std::string_view::npos;
    };
    if (!is_zero(number->whole) || !is_zero(number->fraction)) return std::nullopt;
    return 0;
  }
  const std::optional<std::uint64_t> factor = find_unit(kTimeUnits, name);
  const std::optional<std::uint64_t> magnitude = factor ? scale(*number, *factor) : std::nullopt;
  return magnitude ? with_sign(*magnitude, negative) : std::nullopt;
}

namespace {

struct Obeyed {
  std::uint32_t code_point;
  std::size_t length;  // length in bytes; 0 if the text does not begin with a character that a
                       // terminal obeys
};

// `text` is valid UTF-8.
Obeyed first_obeyed(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return {byte(0), 1};
  // Some terminals obey U+0080 to U+009F like ESC.
  if (byte(0) == 0xC2 && byte(1) < 0xA0) return {byte(1), 2};
  if (byte(0) != 0xE2) return {};
  const std::uint32_t code_point = 0x2000 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU);
  const bool ends_line = code_point == 0x2028 || code_point == 0x2029;
  const bool turns_direction = (code_point >= 0x202A && code_point <= 0x202E) ||
                               (code_point >= 0x2066 && code_point <= 0x2069);
  return {code_point, ends_line || turns_direction ? std::size_t{3} : 0};
}

void append_escape(std::string& out, std::uint32_t code_point) {
  switch (code_point) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += code_point < 0x20 ? fmt::format("\\x{:02x}", code_point)
                               : fmt::format("\\u{:04x}", code_point);
  }
}

enum class LineFeed { escaped, kept };

std::string escaped(std::string_view text, LineFeed line_feed) {
  const std::string valid = to_valid_utf8(text);
  std::string out;
  out.reserve(valid.size());
  for (std::size_t i = 0; i < valid.size();) {
    const Obeyed obeyed = first_obeyed(std::string_view(valid).substr(i));
    if (obeyed.length == 0 || (valid[i] == '\n' && line_feed == LineFeed::kept)) {
      out += valid[i++];
    } else {
      append_escape(out, obeyed.code_point);
      i += obeyed.length;
    }
  }
  return out;
}

}  // namespace

std::string one_line(std::string_view text) {
  return escaped(text, LineFeed::escaped);
}

std::string printable_lines(std::string_view text) {
  return escaped(text, LineFeed::kept);
}

}  // namespace traceloom
