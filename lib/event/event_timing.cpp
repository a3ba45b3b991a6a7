#include "event/event_timing.h"

#include "base/ascii.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace traceloom {
namespace {

constexpr std::uint64_t kAttoPerNs = 1'000'000'000'000'000'000U;
constexpr std::uint64_t kMaxNs = std::numeric_limits<std::int64_t>::max();
// Larger exponents make every value either zero or too large; the cap keeps the sums small.
constexpr int kMaxExponent = 1000;
constexpr std::uint32_t kEightDigits = 100'000'000;

// The parts of a number token: integer.(padding, fraction) * 10^exponent microseconds.
struct DecimalText {
  bool negative = false;
  std::string_view integer;
  std::string_view padding;  // zeros between the point and `fraction`
  std::string_view fraction;
  int exponent = 0;
};

std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

bool take_exponent(std::string_view& text, int& exponent) {
  if (text.empty() || (text.front() != 'e' && text.front() != 'E')) return true;
  text.remove_prefix(1);
  const bool negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  const std::string_view digits = take_digits(text);
  if (digits.empty()) return false;
  for (const char c : digits)
    if (exponent < kMaxExponent) exponent = exponent * 10 + (c - '0');
  if (negative) exponent = -exponent;
  return true;
}

// Kineto prints quotient and remainder of a negative nanosecond count one after the other, and
// counts the sign as one of three characters: -66 ns becomes "0.-66", -5 ns "0.-05" and -12345 ns
// "-12.-345".
bool take_kineto_remainder(std::string_view& text, DecimalText& number) {
  static constexpr std::string_view kZeros = "00";
  if (!number.negative && number.integer != "0") return false;
  number.negative = true;
  number.fraction = take_digits(text);
  if (number.fraction.empty() || number.fraction.size() > 3) return false;
  number.padding = kZeros.substr(0, 3 - number.fraction.size());
  return text.empty();
}

// Splits a number of JSON's grammar, or one of Kineto's broken negatives.
std::optional<DecimalText> split(std::string_view text) {
  DecimalText number;
  if (!text.empty() && text.front() == '-') {
    number.negative = true;
    text.remove_prefix(1);
  }
  number.integer = take_digits(text);
  if (number.integer.empty() || (number.integer.size() > 1 && number.integer.front() == '0'))
    return std::nullopt;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') {
      text.remove_prefix(1);
      if (!take_kineto_remainder(text, number)) return std::nullopt;
      return number;
    }
    number.fraction = take_digits(text);
    if (number.fraction.empty()) return std::nullopt;
  }
  if (!take_exponent(text, number.exponent) || !text.empty()) return std::nullopt;
  return number;
}

std::string_view without_quotes(std::string_view json_value) {
  if (json_value.size() >= 2 && json_value.front() == '"' && json_value.back() == '"')
    return json_value.substr(1, json_value.size() - 2);
  return json_value;
}

// The slow, complete way: it adds every digit at its place, the first one at 10^place nanoseconds.
std::optional<ParsedTime> evaluate(const DecimalText& number) {
  const std::uint64_t limit = kMaxNs + (number.negative ? 1U : 0U);
  std::uint64_t ns = 0;
  std::uint64_t atto = 0;
  int place = static_cast<int>(number.integer.size()) - 1 + 3 + number.exponent;
  std::uint64_t atto_unit = kAttoPerNs;  // weight of the digit before the one at `place`, once
                                         // place < 0
  for (int skipped = -1; skipped > place && atto_unit > 1; --skipped) atto_unit /= 10;
  for (const std::string_view digits : {number.integer, number.padding, number.fraction}) {
    for (const char c : digits) {
      const unsigned digit = static_cast<unsigned>(c - '0');
      if (place >= 0) {
        if (ns > (limit - digit) / 10) return std::nullopt;
        ns = ns * 10 + digit;
      } else {
        atto_unit /= 10;
        atto += atto_unit * digit;
      }
      --place;
    }
  }
  for (; place >= 0 && ns != 0; --place) {
    if (ns > limit / 10) return std::nullopt;
    ns *= 10;
  }
  if (ns == limit && atto != 0) return std::nullopt;
  if (!number.negative) return ParsedTime{static_cast<std::int64_t>(ns), atto, false};
  if (atto == 0) return ParsedTime{static_cast<std::int64_t>(0 - ns), 0, false};
  return ParsedTime{static_cast<std::int64_t>(0 - ns - 1), kAttoPerNs - atto, false};
}

// Joins eight digits, each a byte from 0 to 9 and the first in the lowest byte, into their number.
std::uint32_t join_eight(std::uint64_t digits) {
  // Join pairs, then groups of four, then all.
  digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ffU;
  digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffffU;
  return static_cast<std::uint32_t>(digits * 10000 + (digits >> 32));
}

// Splits a number below 10^8 into eight digits, in the form that join_eight() takes.
std::uint64_t split_eight(std::uint32_t number) {
  // Split into groups of four, then pairs, then digits. The multiplications replace x / 100 and x /
  // 10; they are exact for numbers this small.
  std::uint64_t digits = number / 10000 | std::uint64_t{number % 10000} << 32;
  const std::uint64_t hundreds = (digits * 10486 >> 20) & 0x0000007f0000007fU;
  digits = hundreds | (digits - 100 * hundreds) << 16;
  const std::uint64_t tens = (digits * 103 >> 10) & 0x000f000f000f000fU;
  return tens | (digits - 10 * tens) << 8;
}

// Loads eight characters and subtracts '0'. A character that is no digit then has a bit in 0xf0 or
// is 10 to 15.
std::uint64_t load_eight(const char* text) {
  std::uint64_t chunk = 0;
  std::memcpy(&chunk, text, sizeof chunk);
  if constexpr (std::endian::native == std::endian::big) chunk = __builtin_bswap64(chunk);
  return chunk ^ 0x3030303030303030U;
}

void store_eight(char* text, std::uint64_t digits) {
  std::uint64_t chunk = digits ^ 0x3030303030303030U;
  if constexpr (std::endian::native == std::endian::big) chunk = __builtin_bswap64(chunk);
  std::memcpy(text, &chunk, sizeof chunk);
}

bool are_digits(std::uint64_t chunk) {
  return (((chunk + 0x7676767676767676U) | chunk) & 0x8080808080808080U) == 0;
}

// Accepts 1 to 16 digits in [at, end) and nothing else.
bool parse_digits(const char* at, const char* end, std::uint64_t& value) {
  const std::ptrdiff_t size = end - at;
  if (size >= 8) {
    // The last eight digits, and the digits before them, shifted so that zeros stand before those.
    const std::uint64_t last = load_eight(end - 8);
    const std::uint64_t first = load_eight(at);
    if (!are_digits(last) || !are_digits(first)) return false;
    const std::uint64_t before = size == 8 ? 0 : first << (8 * (16 - size));
    value = std::uint64_t{join_eight(before)} * kEightDigits + join_eight(last);
    return true;
  }
  value = 0;
  for (; at != end; ++at) {
    if (!is_digit(*at)) return false;
    value = value * 10 + static_cast<unsigned>(*at - '0');
  }
  return size > 0;
}

// Accepts nothing, or a point and one to three digits.
bool parse_thousandths(const char* point, const char* end, std::uint64_t& value) {
  const std::ptrdiff_t size = end - point;
  if (size == 0) return true;
  if (size < 2 || size > 4) return false;
  const unsigned tenths = static_cast<unsigned char>(point[1] - '0');
  const unsigned hundredths = size > 2 ? static_cast<unsigned char>(point[2] - '0') : 0U;
  const unsigned last = size > 3 ? static_cast<unsigned char>(point[3] - '0') : 0U;
  if (tenths > 9 || hundredths > 9 || last > 9) return false;
  value = tenths * 100 + hundredths * 10 + last;
  return true;
}

// Writes the number without leading zeros; may write up to 8 characters after its end.
char* write_first_digits(char* out, std::uint32_t number) {
  const std::uint64_t digits = split_eight(number);
  constexpr std::uint64_t kLastDigit = std::uint64_t{1} << 56;
  const int zeros = std::countr_zero(digits | kLastDigit) / 8;
  store_eight(out, digits >> (8 * zeros));
  return out + (8 - zeros);
}

// Writes a number below 10^16.
char* write_digits(char* out, std::uint64_t number) {
  if (number < kEightDigits) return write_first_digits(out, static_cast<std::uint32_t>(number));
  out = write_first_digits(out, static_cast<std::uint32_t>(number / kEightDigits));
  return write_eight_digits(out, static_cast<std::uint32_t>(number % kEightDigits));
}

}  // namespace

bool parse_plain_time(std::string_view json_value, std::int64_t& ns) {
  const char* at = json_value.data();
  const char* const end = at + json_value.size();
  const bool negative = at != end && *at == '-';
  at += negative ? 1 : 0;
  if (at == end) return false;
  // Three decimals are the most common, no decimals come next.
  const bool has_three_decimals = end - at > 4 && end[-4] == '.';
  const char* const point = has_three_decimals ? end - 4 : std::find(at, end, '.');
  if (point - at > 16 || (*at == '0' && point - at > 1)) return false;
  std::uint64_t value = 0;
  std::uint64_t thousandths = 0;
  if (!parse_digits(at, point, value) || !parse_thousandths(point, end, thousandths)) return false;
  // At most 16 + 3 digits are below 10^19 and fit uint64. A value that does not fit int64 takes the
  // slow way.
  value = value * 1000 + thousandths;
  if (value > kMaxNs) return false;
  ns = static_cast<std::int64_t>(value);
  if (negative) ns = -ns;
  return true;
}

std::optional<ParsedTime> add(const ParsedTime& a, const ParsedTime& b) {
  ParsedTime sum;
  sum.atto = a.atto + b.atto;  // below 2 * 10^18, fits
  std::int64_t carry = 0;
  if (sum.atto >= kAttoPerNs) {
    sum.atto -= kAttoPerNs;
    carry = 1;
  }
  if (__builtin_add_overflow(a.floor_ns, b.floor_ns, &sum.floor_ns)) return std::nullopt;
  if (__builtin_add_overflow(sum.floor_ns, carry, &sum.floor_ns)) return std::nullopt;
  if (sum.floor_ns == std::numeric_limits<std::int64_t>::max() && sum.atto != 0)
    return std::nullopt;
  return sum;
}

std::optional<ParsedTime> parse_time(std::string_view json_value) {
  std::int64_t ns = 0;
  if (parse_plain_time(json_value, ns)) return ParsedTime{ns, 0, true};
  const std::optional<DecimalText> number = split(without_quotes(json_value));
  return number ? evaluate(*number) : std::nullopt;
}

bool is_nanoseconds(std::string_view json_value) {
  const std::optional<DecimalText> number = split(without_quotes(json_value));
  const std::size_t digits = number && !number->negative ? number->integer.size() : 0;
  return (digits == 18 || digits == 19) && number->exponent == 0;
}

std::optional<bool> is_negative_number(std::string_view json_value) {
  const std::optional<DecimalText> number = split(without_quotes(json_value));
  return number ? std::optional(number->negative) : std::nullopt;
}

char* write_microseconds(char* out, std::int64_t ns) {
  std::uint64_t magnitude = static_cast<std::uint64_t>(ns);
  if (ns < 0) {
    *out++ = '-';
    magnitude = 0 - magnitude;
  }
  out = write_digits(out, magnitude / 1000);
  const unsigned rest = static_cast<unsigned>(magnitude % 1000);
  if (rest == 0) return out;
  // The code writes all three digits; the end excludes trailing zeros.
  out[0] = '.';
  out[1] = static_cast<char>('0' + rest / 100);
  out[2] = static_cast<char>('0' + rest / 10 % 10);
  out[3] = static_cast<char>('0' + rest % 10);
  return out + (rest % 10 != 0 ? 4 : rest % 100 != 0 ? 3 : 2);
}

char* write_eight_digits(char* out, std::uint32_t number) {
  store_eight(out, split_eight(number));
  return out + 8;
}

void append_microseconds(std::string& out, std::int64_t ns) {
  char buffer[24];
  out.append(buffer, write_microseconds(buffer, ns));
}

namespace {

bool is_whole_microsecond(std::int64_t ns) {
  return ns % 1000 == 0;
}

bool is_missing(std::string_view duration) {
  return duration.empty() || duration == "null";
}

// True also for a negative duration.
bool is_too_long(std::int64_t duration_ns) {
  return static_cast<std::uint64_t>(duration_ns) > std::uint64_t{kLongestDurationNs};
}

// Finds the duration of an X event that starts at `start`.
void time_duration(const Event& event, const ParsedTime& start, EventTiming& timing,
                   ProblemCounts& problems) {
  const std::string_view text = event.text(Key::dur);
  if (is_missing(text)) {
    problems.add(Problem::missing_duration, event.offset);
    timing.rewrite = true;
    timing.slice_end = SliceEnd::missing;
    return;
  }
  const std::optional<ParsedTime> duration = parse_time(text);
  const std::optional<bool> negative =
      duration ? std::optional(duration->floor_ns < 0) : is_negative_number(text);
  if (!negative) {
    problems.add(Problem::bad_duration, event.offset);
    timing.rewrite = true;
    return;
  }
  if (*negative) {
    problems.add(Problem::negative_duration, event.offset);
    timing.rewrite = true;
    return;
  }
  const std::optional<ParsedTime> end = duration ? add(start, *duration) : std::nullopt;
  if (!end || is_too_long(duration->floor_ns)) {
    problems.add(Problem::never_ended, event.offset);
    timing.rewrite = true;
    timing.slice_end = SliceEnd::never;
    return;
  }
  timing.duration_ns = end->rounded_ns() - start.rounded_ns();
  timing.rewrite |= start.is_fractional() || !duration->is_plain;
}

}  // namespace

bool lacks_duration(const Event& event) {
  return event.phase == 'X' && is_missing(event.text(Key::dur));
}

bool is_unclosed(const Event& event, const EventTiming& timing) {
  if (event.phase != 'X') return false;
  return timing.slice_end == SliceEnd::never ||
         (event.has(Key::unclosed) && event.text(Key::unclosed) != kNoDuration);
}

std::optional<std::int64_t> known_duration(const Event& event, const EventTiming& timing,
                                           ProblemCounts& problems) {
  if (timing.slice_end == SliceEnd::never) return std::nullopt;
  if (!event.has(Key::unclosed)) return timing.duration_ns;
  const std::string_view unclosed = event.text(Key::unclosed);
  if (unclosed == kNoDuration) {
    problems.add(Problem::missing_duration, event.offset);
    return 0;
  }
  if (!is_cut_slice(event))
    problems.add(unclosed == kNeverEnded ? Problem::never_ended : Problem::begin_without_end,
                 event.offset);
  return std::nullopt;
}

bool is_known_phase(char phase) {
  static constexpr std::array<bool, 256> kKnown = [] {
    std::array<bool, 256> known{};
    for (const char c : std::string_view("BEXiIRCbneSTpFstfNODPMVvc()="))
      known[static_cast<unsigned char>(c)] = true;
    return known;
  }();
  return kKnown[static_cast<unsigned char>(phase)];
}

namespace {

// Returns false, and leaves nothing valid in `timing`, if the event needs the exact path.
bool time_usual_event(const Event& event, EventTiming& timing) {
  if (event.phase == 'M' || !is_known_phase(event.phase) ||
      !parse_plain_time(event.text(Key::ts), timing.start_ns))
    return false;
  std::int64_t end_ns = 0;
  if (event.phase == 'X' && (!parse_plain_time(event.text(Key::dur), timing.duration_ns) ||
                             is_too_long(timing.duration_ns) ||
                             __builtin_add_overflow(timing.start_ns, timing.duration_ns, &end_ns)))
    return false;
  timing.usable = timing.timed = true;
  timing.sub_microsecond =
      !is_whole_microsecond(timing.start_ns) || !is_whole_microsecond(timing.duration_ns);
  return true;
}

// Returns what time_start() returns, and the exact start in `start`.
EventTiming time_start_exactly(const Event& event, ProblemCounts& problems, ParsedTime& start) {
  EventTiming timing;
  if (event.phase == 0) {
    problems.add(Problem::no_phase, event.offset);
    return timing;
  }
  if (event.phase == 'M') {
    timing.usable = true;
    return timing;
  }
  const std::optional<ParsedTime> parsed = parse_time(event.text(Key::ts));
  if (!parsed) {
    problems.add(Problem::bad_timestamp, event.offset);
    return timing;
  }
  if (!is_known_phase(event.phase)) problems.add(Problem::unknown_phase, event.offset);
  start = *parsed;
  timing.usable = timing.timed = true;
  timing.start_ns = start.rounded_ns();
  timing.rewrite = !start.is_plain;
  timing.sub_microsecond = !is_whole_microsecond(timing.start_ns);
  return timing;
}

EventTiming time_exactly(const Event& event, ProblemCounts& problems) {
  ParsedTime start;
  EventTiming timing = time_start_exactly(event, problems, start);
  if (!timing.timed || event.phase != 'X') return timing;
  time_duration(event, start, timing, problems);
  timing.sub_microsecond |= !is_whole_microsecond(timing.duration_ns);
  return timing;
}

}  // namespace

EventTiming time_start(const Event& event, ProblemCounts& problems) {
  ParsedTime start;
  return time_start_exactly(event, problems, start);
}

EventTiming time_event(const Event& event, ProblemCounts& problems) {
  // Nearly all events have a known phase and plain times; they need no exact addition and no
  // rounding. Both paths fill one variable, so that it is built in the caller's place and never
  // copied.
  EventTiming timing;
  if (!time_usual_event(event, timing)) timing = time_exactly(event, problems);
  return timing;
}

}  // namespace traceloom
