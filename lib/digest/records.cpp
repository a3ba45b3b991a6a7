#include "digest/records.h"

#include "base/ascii.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <system_error>

#define XXH_INLINE_ALL  // xxHash needs this macro to be used without its library
#include <xxhash.h>

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

namespace {

constexpr double kMostCount = 1099511627776;  // 2^40; a larger one would fit any number
constexpr std::size_t kLearned = 24;
constexpr unsigned kMostTrials = 4;

std::int64_t bits_of(double number) {
  return std::bit_cast<std::int64_t>(number);
}

// Euclid's algorithm; what is left below `least` is rounding.
double divisor_of(double a, double b, double least) {
  while (b > least) {
    const double rest = std::abs(a - b * std::round(a / b));
    a = b;
    b = rest;
  }
  return a;
}

// Returns how many of the numbers are exact multiples; 0 if one is none at all.
std::size_t exact_multiples(const std::vector<double>& numbers, double unit) {
  std::size_t exact = 1;
  for (const double number : numbers) {
    const std::optional<Multiple> multiple = multiple_of(number, unit);
    if (!multiple) return 0;
    if (multiple->ulps == 0) ++exact;
  }
  return exact;
}

}  // namespace

double number_of(const Multiple& multiple) {
  const double product = static_cast<double>(multiple.count) * multiple.unit;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(product) +
                               static_cast<std::uint64_t>(std::int64_t{multiple.ulps}));
}

std::optional<Multiple> multiple_of(double number, double unit) {
  const double count = std::round(number / unit);
  if (!(std::abs(count) >= 1 && std::abs(count) <= kMostCount)) return std::nullopt;
  const std::int64_t ulps = bits_of(number) - bits_of(count * unit);  // both have the same sign
  if (ulps < -kMostUlps || ulps > kMostUlps) return std::nullopt;
  return Multiple{unit, static_cast<std::int64_t>(count), static_cast<int>(ulps)};
}

std::optional<double> common_unit(std::vector<double> numbers) {
  constexpr double kRounding = 1e-9;
  for (double& number : numbers) number = std::abs(number);
  std::sort(numbers.begin(), numbers.end());
  if (numbers.empty() || numbers.front() == 0) return std::nullopt;
  double unit = numbers.front();
  for (const double number : numbers) unit = divisor_of(number, unit, kRounding * numbers.back());
  // The larger the number, the better it shows the unit.
  for (const double number : numbers) unit = number / std::max(1.0, std::round(number / unit));
  double best = 0;
  std::size_t most = 0;
  for (const double number : numbers) {
    const double near = number / std::max(1.0, std::round(number / unit));
    const std::size_t exact = exact_multiples(numbers, near);
    if (exact <= most) continue;
    most = exact;
    best = near;
  }
  return most > 0 ? std::optional(best) : std::nullopt;
}

std::optional<Multiple> Units::find(std::string_view key, double number) {
  auto found = states_.find(key);
  if (found == states_.end()) found = states_.try_emplace(std::string(key)).first;
  State& state = found->second;
  if (state.unit != 0)
    if (const std::optional<Multiple> multiple = multiple_of(number, state.unit)) return multiple;
  if (state.trials == kMostTrials) return std::nullopt;
  state.others.push_back(number);
  if (state.others.size() < kLearned) return std::nullopt;
  ++state.trials;
  const std::optional<double> unit = common_unit(std::move(state.others));
  state.others.clear();
  if (!unit) return std::nullopt;
  state.unit = *unit;
  return multiple_of(number, state.unit);
}

namespace {

std::uint64_t hash_of(std::string_view text, std::uint64_t seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

// The strings of a form name its kind, and the last key before each mark.
struct FormKeys {
  std::uint64_t kind = 0;
  std::vector<std::string_view> keys;
};

FormKeys keys_of(std::string_view text) {
  FormKeys result;
  std::string_view key;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_mark(text[i])) result.keys.push_back(key);
    if (text[i] != '"') continue;
    std::size_t end = i + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    const std::string_view inside = text.substr(i + 1, std::min(end, text.size()) - i - 1);
    if (inside == "\1") {
      result.keys.push_back(key);
    } else {
      if (key == "ph" || key == "cat") result.kind = hash_of(inside, result.kind + key.size());
      key = inside;
    }
    i = end;
  }
  return result;
}

double unit_of(std::string_view hex) {
  std::uint64_t bits = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
  return std::bit_cast<double>(bits);
}

}  // namespace

std::uint32_t Keys::find(std::uint64_t hash) {
  const auto [place, is_new] =
      numbers_.try_emplace(hash, static_cast<std::uint32_t>(states_.size()));
  if (is_new) states_.emplace_back();
  return place->second;
}

Form::Form(std::string_view text, std::uint32_t first_column, Keys& keys) {
  const FormKeys names = keys_of(text);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_mark(text[i])) continue;
    const std::size_t place = columns.size();
    const std::string_view name =
        place < names.keys.size() ? names.keys[place] : std::string_view();
    const char mark = text[i];
    columns.push_back(
        {.mark = mark,
         .literal = text.substr(begin, i - begin),
         .number = first_column + static_cast<std::uint32_t>(place),
         .key = keys.find(hash_of(name, names.kind + static_cast<std::uint64_t>(mark))),
         .name = keys.find(hash_of(name, mark <= kNumberMark ? 0 : static_cast<unsigned>(mark)))});
    if (mark == kMultipleMark) {
      columns.back().unit = unit_of(text.substr(i + 1, kUnitBytes));
      i = std::min(i + kUnitBytes, text.size() - 1);
    }
    begin = i + 1;
  }
  end = text.substr(begin);
}

namespace {

constexpr std::size_t kMaxListBytes = 2 * kMostListed;
constexpr std::size_t kMaxKeyBytes = 256;
// Decimals with more places would make the other numbers of their key long.
constexpr unsigned kMaxPlaces = 15;

bool is_of_number(char c) {
  return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
}

// Returns the position of the quote that closes the string whose first byte is at `position`, or
// the end of the text.
std::size_t string_end(std::string_view text, std::size_t position) {
  for (;;) {
    const std::size_t quote = text.find('"', position);
    if (quote == std::string_view::npos) return text.size();
    std::size_t slashes = 0;
    while (slashes < quote - position && text[quote - 1 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 0) return quote;
    position = quote + 1;
  }
}

// Returns the length of the list at the front of `text`, or 0 if it holds an object, is not closed
// or is long.
std::size_t list_length(std::string_view text) {
  text = text.substr(0, kMaxListBytes);
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' || text[i] == '}') return 0;
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth == 0) return i + 1;
    if (text[i] == '"') i = string_end(text, i + 1);
  }
  return 0;
}

// Appends the numbers of a list, which must all be whole, with nothing but commas between them.
bool read_whole_numbers(std::string_view list, std::vector<std::int64_t>& numbers) {
  for (std::size_t begin = 1; begin < list.size();) {
    const std::size_t end = list.find_first_of(",]", begin);
    const std::optional<Decimal> number = parse_decimal(list.substr(begin, end - begin));
    if (!number || number->places > 0) return false;
    numbers.push_back(number->digits);
    begin = end + 1;
  }
  return numbers.size() > 1;
}

// True if a list of objects goes on after the text that stands before `rest`.
bool next_is_object(std::string_view rest) {
  for (const char wanted : {',', '{'}) {
    while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
    if (!rest.starts_with(wanted)) return false;
    rest.remove_prefix(1);
  }
  return true;
}

class RecordReader {
 public:
  RecordReader(std::string_view text, Record& record) : text_(text), record_(record) {}

  std::size_t read() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '"')
        take_string();
      else if (c == '-' || (c >= '0' && c <= '9'))
        take_number();
      else if (c == '[')
        take_list();
      else if (is_mark(c))
        take_value(position_ + 1);
      else if (take_mark(c))
        break;
    }
    record_.form.append(text_.substr(kept_to_, position_ - kept_to_));
    return position_;
  }

 private:
  // The text between two values goes into the form at once.
  void keep(std::size_t end) { position_ = end; }

  // Puts a mark in the place of the text up to `end`.
  void replace(std::size_t end, char mark) {
    record_.form.append(text_.substr(kept_to_, position_ - kept_to_));
    record_.form.push_back(mark);
    position_ = kept_to_ = end;
    last_ = 'v';
  }

  void take_value(std::size_t end) {
    record_.texts.push_back(text_.substr(position_, end - position_));
    replace(end, kTextMark);
  }

  void take_string() {
    const std::size_t end = string_end(text_, position_ + 1);
    const std::string_view inside = text_.substr(position_ + 1, end - position_ - 1);
    std::size_t next = std::min(end + 1, text_.size());
    while (next < text_.size() && is_space(text_[next])) ++next;
    const bool is_key = next < text_.size() && text_[next] == ':';
    const bool is_kind = key_ == "ph" || key_ == "cat";
    const bool has_mark = std::find_if(inside.begin(), inside.end(), is_mark) != inside.end();
    last_ = 'v';
    key_ = is_key ? inside : std::string_view();
    if ((is_key || is_kind) && inside.size() < kMaxKeyBytes && !has_mark)
      return keep(std::min(end + 1, text_.size()));
    keep(position_ + 1);
    take_value(end);
    if (end < text_.size()) keep(end + 1);
  }

  void take_number() {
    std::size_t end = position_ + 1;
    while (end < text_.size() && is_of_number(text_[end])) ++end;
    const std::string_view text = text_.substr(position_, end - position_);
    if (const std::optional<std::int64_t> tick = parse_tick(text)) {
      record_.numbers.push_back({*tick, 0});
      return replace(end, kTickMark);
    }
    if (const std::optional<double> number = parse_double(text))
      if (const std::optional<Multiple> multiple = record_.units.find(key_, *number))
        return take_multiple(end, *multiple);
    const std::optional<Decimal> number = parse_decimal(text);
    if (!number || number->places > kMaxPlaces) return take_value(end);
    record_.numbers.push_back(*number);
    replace(end, kNumberMark);
  }

  void take_multiple(std::size_t end, const Multiple& multiple) {
    record_.numbers.push_back({multiple.count, 0});
    record_.ulps.push_back(multiple.ulps);
    replace(end, kMultipleMark);
    std::array<char, kUnitBytes> digits;
    char* const end_of_digits = std::to_chars(digits.data(), digits.data() + digits.size(),
                                              std::bit_cast<std::uint64_t>(multiple.unit), 16)
                                    .ptr;
    const auto count = static_cast<std::size_t>(end_of_digits - digits.data());
    record_.form.append(kUnitBytes - count, '0');
    record_.form.append(digits.data(), count);
  }

  void take_list() {
    const std::size_t length = list_length(text_.substr(position_));
    const std::string_view list = text_.substr(position_, length);
    if (length > 2) {
      if (!read_whole_numbers(list, record_.lists.emplace_back())) {
        record_.lists.pop_back();
        return take_value(position_ + length);
      }
      return replace(position_ + length, kListMark);
    }
    last_ = '[';
    keep(position_ + 1);
  }

  // Takes a byte of the form; returns true after the end of the record.
  bool take_mark(char c) {
    if (c == '{' && (depth_ > 0 || last_ == '[' || last_ == ',' || last_ == '}')) ++depth_;
    if (!is_space(c)) last_ = c;
    keep(position_ + 1);
    const bool ends =
        c == '}' && ((depth_ > 0 && --depth_ == 0) || next_is_object(text_.substr(position_)));
    return ends;
  }

  std::string_view text_;
  Record& record_;
  std::size_t position_ = 0;
  std::size_t kept_to_ = 0;  // the text before it is in the record
  std::size_t depth_ = 0;
  char last_ = 0;  // the last byte that is no white space; 'v' after a value
  std::string_view key_;
};

}  // namespace

void read_record(std::string_view& text, Record& record) {
  record.form.clear();
  record.texts.clear();
  record.numbers.clear();
  record.ulps.clear();
  record.lists.clear();
  text.remove_prefix(RecordReader(text, record).read());
}

std::size_t end_of_records(std::string_view piece) {
  for (std::size_t brace = piece.rfind('{'); brace != std::string_view::npos && brace > 0;
       brace = piece.rfind('{', brace - 1)) {
    std::size_t end = brace;
    while (end > 0 && (is_space(piece[end - 1]) || piece[end - 1] == ',')) --end;
    if (end > 0 && end < brace && piece[end - 1] == '}') return end;
    if (brace == 0) break;
  }
  return piece.size();
}

}  // namespace traceloom::digest
