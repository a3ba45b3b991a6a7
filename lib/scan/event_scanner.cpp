#include "scan/event_scanner.h"

#include <algorithm>
#include <cstring>

#include "base/json_string.h"
#include "scan/event_key.h"

namespace traceloom {
namespace {

constexpr std::size_t kWindow = std::size_t{64} << 10;
constexpr std::size_t kNpos = std::string_view::npos;
// Results of the parsing methods that are no position.
constexpr std::size_t kCut = kNpos;
constexpr std::size_t kMalformed = kNpos - 1;

bool failed(std::size_t at) { return at >= kMalformed; }

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

bool is_number(std::string_view text) {
  std::size_t p = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t begin = p;
    while (p < text.size() && text[p] >= '0' && text[p] <= '9') ++p;
    return p - begin;
  };
  const std::size_t integer = p;
  const std::size_t integer_digits = digits();
  if (integer_digits == 0 || (integer_digits > 1 && text[integer] == '0')) return false;
  if (p < text.size() && text[p] == '.' && (++p, digits() == 0)) return false;
  if (p < text.size() && (text[p] == 'e' || text[p] == 'E')) {
    ++p;
    if (p < text.size() && (text[p] == '+' || text[p] == '-')) ++p;
    if (digits() == 0) return false;
  }
  return p == text.size();
}

bool is_scalar(char first) { return first != '"' && first != '{' && first != '['; }

bool is_json_scalar(std::string_view text) {
  return is_number(text) || text == "true" || text == "false" || text == "null";
}

// Ends at the '\0' behind the text at the latest, which may lie behind the window.
std::size_t skip_space(const char* window, std::size_t at) {
  while (is_space(window[at])) ++at;
  return at;
}

char first_character(std::string_view json_string) {
  const std::string_view body = unquoted(json_string);
  if (body.empty() || !is_json_string(json_string)) return 0;
  if (body.front() != '\\') return body.front();
  const std::string text = decode_json_string(body);
  return text.empty() ? '\0' : text.front();
}

}  // namespace

void EventScanner::start(std::string_view text, std::uint64_t offset, Position position,
                         ProblemCounts& problems) {
  text_ = text;
  offset_ = offset;
  problems_ = &problems;
  window_ = text.data();
  window_begin_ = window_size_ = position_ = 0;
  commas_ = position == Position::after_comma ? 1 : 0;
  after_element_ = position != Position::first;
}

Position EventScanner::next_position() const {
  if (commas_ > 0) return Position::after_comma;
  return after_element_ ? Position::after_event : Position::first;
}

const Event* EventScanner::finish(ScanEnd end, std::size_t position) {
  end_ = end;
  end_position_ = position;
  return nullptr;
}

// Indexes text_[begin, begin + size); false when nothing is left there.
bool EventScanner::open_window(std::size_t begin, std::size_t size) {
  window_begin_ = begin;
  window_size_ = std::min(size, text_.size() - begin);
  window_ = text_.data() + begin;
  index_.build({window_, window_size_});
  return window_size_ > 0;
}

// The element at `element` does not fit the window: a new one from there, larger when it already began
// there. False when the text itself ends inside the element.
bool EventScanner::grow_window(std::size_t element) {
  if (window_begin_ + window_size_ == text_.size()) return false;
  return open_window(element, element == window_begin_ ? window_size_ * 2 : kWindow);
}

const Event* EventScanner::next() {
  while (find_element()) {
    const std::size_t element = position_;
    std::size_t end = parse_element(element);
    while (end == kCut && grow_window(element)) end = parse_element(element);
    if (end == kCut) return finish(ScanEnd::cut, element);
    count_commas(element);
    if (end == kMalformed) {
      resync(element);
      continue;
    }
    position_ = window_begin_ + end;
    if (text_[element] != '{') {
      problems_->add(Problem::not_an_object, offset_ + element);
    } else if (members_ == 0) {
      problems_->add(Problem::empty_object, offset_ + element);
    } else {
      return &event_;
    }
  }
  return nullptr;
}

// Moves position_ to the next element; false, and finished, when there is none.
bool EventScanner::find_element() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == ',') {
      comma_position_ = position_;
      ++commas_;
    } else if (!is_space(c)) {
      break;
    }
    ++position_;
  }
  if (position_ == text_.size()) return finish(ScanEnd::text, position_) != nullptr;
  if (text_[position_] == ']') {
    if (commas_ > 0) problems_->add(Problem::trailing_comma, offset_ + comma_position_);
    return finish(ScanEnd::array, position_ + 1) != nullptr;
  }
  return position_ < window_begin_ + window_size_ || open_window(position_, kWindow);
}

// One comma belongs between two elements; more or fewer are counted.
void EventScanner::count_commas(std::size_t element) {
  const unsigned expected = after_element_ ? 1 : 0;
  if (commas_ < expected) problems_->add(Problem::missing_comma, offset_ + element);
  if (commas_ > expected)
    problems_->add(Problem::extra_comma, offset_ + comma_position_, commas_ - expected);
  commas_ = 0;
  after_element_ = true;
}

std::size_t EventScanner::parse_element(std::size_t begin) {
  const std::size_t at = begin - window_begin_;
  if (window_[at] == '{') return parse_event(at);
  if (window_[at] == '"' || window_[at] == '[') {
    TextIndex::Tokens tokens(index_, at);
    return skip_value(at, tokens);
  }
  // Anything up to what may begin the next element.
  std::size_t end = at + 1;
  while (end < window_size_ && window_[end] != ',' && window_[end] != ']' && window_[end] != '{')
    ++end;
  return end < window_size_ ? end : kCut;
}

// Goes from token to token (quotes and braces) and looks at the text between two of them only to check
// that it is what JSON wants there; numbers are not read here.
std::size_t EventScanner::parse_event(std::size_t begin) {
  event_.present = 0;
  event_.flags = {};
  members_ = 0;
  TextIndex::Tokens tokens(index_, begin + 1);
  std::size_t token = tokens.next();
  std::size_t value_end = begin + 1;
  while (token < window_size_ && window_[token] == '"') {
    if (const std::size_t bad = check_gap(value_end, token); failed(bad)) return bad;
    const std::size_t key_end = tokens.next();
    if (key_end >= window_size_) return kCut;
    const std::size_t value = find_value(key_end);
    if (failed(value)) return value;
    if (is_scalar(window_[value])) {
      const std::size_t key = token;
      token = tokens.next();
      value_end = scalar_end(value, token);
      if (failed(value_end)) return value_end;
      set_field({window_ + key + 1, key_end - key - 1}, begin, value, value_end);
    } else {
      value_end = skip_value(value, tokens);
      if (failed(value_end)) return value_end;
      set_field({window_ + token + 1, key_end - token - 1}, begin, value, value_end);
      token = tokens.next();
    }
  }
  if (token >= window_size_) return kCut;
  if (window_[token] != '}') return kMalformed;
  const std::size_t gap_end = skip_space(window_, value_end);
  if (gap_end == token) return close_event(begin, token);
  if (window_[gap_end] != ',' || skip_space(window_, gap_end + 1) != token) return kMalformed;
  event_.flags.loose_syntax = true;
  return close_event(begin, token);
}

// Between the end of a member, or the opening brace, and the next key: one comma, or none, and white space.
inline std::size_t EventScanner::check_gap(std::size_t at, std::size_t token) const {
  if (members_ > 0 && token - at == 2 && window_[at] == ',' && window_[at + 1] == ' ') return token;
  at = skip_space(window_, at);
  if (members_ > 0) {
    if (window_[at] != ',') return kMalformed;
    at = skip_space(window_, at + 1);
  }
  return at == token ? token : kMalformed;
}

// The first character of the value behind a key's closing quote.
inline std::size_t EventScanner::find_value(std::size_t key_end) const {
  const char* const text = window_ + key_end + 1;
  if (text[0] == ':' && text[1] == ' ' && !is_space(text[2]))
    return key_end + 3 < window_size_ ? key_end + 3 : kCut;
  std::size_t at = skip_space(window_, key_end + 1);
  if (at >= window_size_) return kCut;
  if (window_[at] != ':') return kMalformed;
  at = skip_space(window_, at + 1);
  return at < window_size_ ? at : kCut;
}

// A number or literal ends before the comma, or the white space before it, that stands before the next
// token. What it holds is checked by whoever reads or copies it.
inline std::size_t EventScanner::scalar_end(std::size_t at, std::size_t token) const {
  if (token >= window_size_) return kCut;
  std::size_t end = token;
  while (end > at && is_space(window_[end - 1])) --end;
  if (end > at && window_[end - 1] == ',') {
    --end;
    while (end > at && is_space(window_[end - 1])) --end;
  }
  return end > at && window_[at] != ',' ? end : kMalformed;
}

std::size_t EventScanner::close_event(std::size_t event_begin, std::size_t at) {
  if (at >= window_size_) return kCut;
  event_.raw = {window_ + event_begin, at + 1 - event_begin};
  event_.offset = offset_ + window_begin_ + event_begin;
  event_.flags.suspect_text = index_.is_suspect(event_begin, at + 1);
  event_.phase = event_.has(Key::ph) ? first_character(event_.text(Key::ph)) : '\0';
  return at + 1;
}

inline void EventScanner::set_field(std::string_view key_text, std::size_t event_begin,
                                    std::size_t value_begin, std::size_t value_end) {
  ++members_;
  Key key = Key::count_;
  if (key_text.size() <= 8 && key_text.data() + 8 <= window_ + window_size_)
    key = kEventKeys.find(EventKeyTable::load(key_text.data(), key_text.size()));
  else if (key_text.size() <= 8)
    key = kEventKeys.find(EventKeyTable::pack(key_text));
  if (key == Key::count_) return set_other(key_text, event_begin, value_begin, value_end);
  store_field(key, event_begin, value_begin, value_end);
}

inline void EventScanner::store_field(Key key, std::size_t event_begin, std::size_t value_begin,
                                      std::size_t value_end) {
  event_.flags.duplicate_key |= event_.has(key);
  event_.present |= Event::bit(key);
  event_.fields[static_cast<std::size_t>(key)] = {
      static_cast<std::uint32_t>(value_begin - event_begin),
      static_cast<std::uint32_t>(value_end - event_begin)};
}

// A key that nobody asks for, but if it is one in disguise ("\u0070h").
void EventScanner::set_other(std::string_view key_text, std::size_t event_begin,
                             std::size_t value_begin, std::size_t value_end) {
  const std::string_view value(window_ + value_begin, value_end - value_begin);
  event_.flags.loose_syntax |= is_scalar(value.front()) && !is_json_scalar(value);
  event_.flags.nested_value |= value.front() == '{' || value.front() == '[';
  if (key_text.find('\\') == std::string_view::npos) return;
  const std::string plain = decode_json_string(key_text);
  const Key key = plain.size() <= 8 ? kEventKeys.find(EventKeyTable::pack(plain)) : Key::count_;
  if (key == Key::count_) return;
  event_.flags.escaped_key = true;
  store_field(key, event_begin, value_begin, value_end);
}

// A string, object or list. `tokens` stands at the first token >= at, and behind the value afterwards.
inline std::size_t EventScanner::skip_value(std::size_t at, TextIndex::Tokens& tokens) const {
  const char first = window_[at];
  if (first == '"') {
    if (tokens.next() != at) return kMalformed;
    const std::size_t end = tokens.next();
    return end < window_size_ ? end + 1 : kCut;
  }
  const std::size_t end = first == '{' ? skip_braces(at) : skip_brackets(at);
  if (!failed(end)) tokens.seek(end);
  return end;
}

std::size_t EventScanner::skip_braces(std::size_t at) const {
  std::size_t depth = 1;
  while (depth > 0) {
    at = index_.next_brace(at + 1);
    if (at >= window_size_) return kCut;
    depth = window_[at] == '{' ? depth + 1 : depth - 1;
  }
  return at + 1;
}

// Brackets have no bitmap: lists are rare as direct values of an event. A backslash outside strings is never
// JSON, and would make the quote behind it one that the index does not know.
std::size_t EventScanner::skip_brackets(std::size_t at) const {
  std::size_t depth = 0;
  for (; at < window_size_; ++at) {
    const char c = window_[at];
    if (c == '"') {
      TextIndex::Tokens tokens(index_, at + 1);
      at = tokens.next();
    } else if (c == '\\') {
      return kMalformed;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']' && --depth == 0) {
      return at + 1;
    }
  }
  return kCut;
}

// After text that is no JSON: goes on at the next place that looks like an event, or at the bracket that
// closes the list, or at the end of the text.
void EventScanner::resync(std::size_t element) {
  problems_->add(Problem::malformed_event, offset_ + element);
  commas_ = 1;
  position_ = find_event_start(text_, element + 1);
  if (position_ == kNpos) {
    position_ = text_.size();
    for (std::size_t bracket = text_.rfind(']'); bracket != kNpos && bracket > element;
         bracket = text_.rfind(']', bracket - 1)) {
      const std::size_t before = text_.find_last_not_of(" \n\t\r", bracket - 1);
      if (before == kNpos || before <= element || text_[before] != '}') continue;
      position_ = bracket;
      commas_ = 0;
      break;
    }
  }
  window_size_ = 0;  // the index is off from here on: find_element() opens a new window
  window_begin_ = position_;
}

}  // namespace traceloom
