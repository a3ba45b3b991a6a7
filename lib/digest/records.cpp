#include "digest/records.h"

#include "base/ascii.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

namespace traceloom::digest {
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
