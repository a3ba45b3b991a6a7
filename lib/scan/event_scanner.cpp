#include "scan/event_scanner.h"

#include <algorithm>

#include "base/json_string.h"

namespace traceloom {
namespace {

constexpr std::size_t kWindow = std::size_t{64} << 10;
constexpr std::size_t kNpos = TextIndex::npos;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

bool ends_scalar(char c) { return c == ',' || c == '}' || c == ']' || is_space(c); }

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

bool is_json_scalar(std::string_view text) {
  return is_number(text) || text == "true" || text == "false" || text == "null";
}

Key find_key(std::string_view name) {
  const auto is = [&](Key key) { return name == key_name(key); };
  switch (name.size()) {
    case 1: return name[0] == 's' ? Key::s : Key::count_;
    case 2:
      if (name == "ph") return Key::ph;
      if (name == "ts") return Key::ts;
      return name == "id" ? Key::id : Key::count_;
    case 3:
      if (name == "cat") return Key::cat;
      if (name == "pid") return Key::pid;
      if (name == "tid") return Key::tid;
      if (name == "dur") return Key::dur;
      return name == "id2" ? Key::id2 : Key::count_;
    case 4:
      if (name == "name") return Key::name;
      return name == "args" ? Key::args : Key::count_;
    case 5: return is(Key::scope) ? Key::scope : Key::count_;
    case 7: return is(Key::bind_id) ? Key::bind_id : Key::count_;
    default: return Key::count_;
  }
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
    Parse parse = parse_element(element);
    while (parse == Parse::cut && grow_window(element)) parse = parse_element(element);
    if (parse == Parse::cut) return finish(ScanEnd::cut, element);
    count_commas(element);
    if (parse == Parse::malformed) {
      resync(element);
    } else if (text_[element] != '{') {
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

EventScanner::Parse EventScanner::parse_element(std::size_t begin) {
  return text_[begin] == '{' ? parse_event(begin) : skip_other(begin);
}

std::size_t EventScanner::skip_space(std::size_t at) const {
  while (at < window_size_ && is_space(window_[at])) ++at;
  return at;
}

EventScanner::Parse EventScanner::parse_event(std::size_t begin) {
  event_.fields = {};
  event_.flags = {};
  event_.phase = 0;
  members_ = 0;
  const std::size_t event_begin = begin - window_begin_;
  std::size_t at = skip_space(event_begin + 1);
  while (at < window_size_ && window_[at] == '"') {
    if (const Parse parse = parse_member(at, event_begin); parse != Parse::done) return parse;
    at = skip_space(at);
    if (at >= window_size_) return Parse::cut;
    if (window_[at] == '}') return close_event(event_begin, at);
    if (window_[at] != ',') return Parse::malformed;
    at = skip_space(at + 1);
  }
  if (at >= window_size_) return Parse::cut;
  if (window_[at] != '}') return Parse::malformed;
  event_.flags.loose_syntax |= members_ > 0;  // a comma stands before this brace
  return close_event(event_begin, at);
}

EventScanner::Parse EventScanner::close_event(std::size_t event_begin, std::size_t at) {
  event_.raw = {window_ + event_begin, at + 1 - event_begin};
  event_.offset = offset_ + window_begin_ + event_begin;
  event_.flags.suspect_text = index_.is_suspect(event_begin, at + 1);
  if (event_.has(Key::ph)) event_.phase = first_character(event_.text(Key::ph));
  position_ = window_begin_ + at + 1;
  return Parse::done;
}

// From the opening quote of a key to behind its value.
EventScanner::Parse EventScanner::parse_member(std::size_t& at, std::size_t event_begin) {
  const std::size_t key_end = index_.next_quote(at + 1);
  if (key_end == kNpos) return Parse::cut;
  const std::string_view key(window_ + at + 1, key_end - at - 1);
  at = skip_space(key_end + 1);
  if (at >= window_size_) return Parse::cut;
  if (window_[at] != ':') return Parse::malformed;
  at = skip_space(at + 1);
  if (at >= window_size_) return Parse::cut;
  const std::size_t value_begin = at;
  if (const Parse parse = skip_value(at); parse != Parse::done) return parse;
  set_field(key, event_begin, value_begin, at);
  return Parse::done;
}

void EventScanner::set_field(std::string_view key_text, std::size_t event_begin,
                             std::size_t value_begin, std::size_t value_end) {
  ++members_;
  Key key = find_key(key_text);
  if (key == Key::count_) {
    if (key_text.find('\\') == std::string_view::npos) return;
    key = find_key(decode_json_string(key_text));
    if (key == Key::count_) return;
    event_.flags.escaped_key = true;
  }
  FieldRange& field = event_.fields[static_cast<std::size_t>(key)];
  event_.flags.duplicate_key |= field.end != 0;
  field.begin = static_cast<std::uint32_t>(value_begin - event_begin);
  field.end = static_cast<std::uint32_t>(value_end - event_begin);
}

// Each of the skip_ methods takes the position of a value's first character to behind its last.
EventScanner::Parse EventScanner::skip_value(std::size_t& at) {
  switch (window_[at]) {
    case '"':
      at = index_.next_quote(at + 1);
      if (at == kNpos) return Parse::cut;
      ++at;
      return Parse::done;
    case '{': return skip_braces(at);
    case '[': return skip_brackets(at);
    default: return skip_scalar(at);
  }
}

EventScanner::Parse EventScanner::skip_braces(std::size_t& at) const {
  std::size_t depth = 1;
  while (depth > 0) {
    at = index_.next_brace(at + 1);
    if (at == kNpos) return Parse::cut;
    depth = window_[at] == '{' ? depth + 1 : depth - 1;
  }
  ++at;
  return Parse::done;
}

// Brackets have no bitmap: lists are rare as direct values of an event.
EventScanner::Parse EventScanner::skip_brackets(std::size_t& at) const {
  std::size_t depth = 0;
  for (; at < window_size_; ++at) {
    const char c = window_[at];
    if (c == '"') {
      at = index_.next_quote(at + 1);
      if (at == kNpos) return Parse::cut;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']' && --depth == 0) {
      ++at;
      return Parse::done;
    }
  }
  return Parse::cut;
}

EventScanner::Parse EventScanner::skip_scalar(std::size_t& at) {
  const std::size_t begin = at;
  while (at < window_size_ && !ends_scalar(window_[at])) {
    if (window_[at] == '"' || window_[at] == '{' || window_[at] == ':') return Parse::malformed;
    ++at;
  }
  if (at >= window_size_) return Parse::cut;  // more of a number may follow
  if (at == begin) return Parse::malformed;
  event_.flags.loose_syntax |= !is_json_scalar({window_ + begin, at - begin});
  return Parse::done;
}

// An element that is no object: a string, a list, or anything up to what may begin the next element.
EventScanner::Parse EventScanner::skip_other(std::size_t begin) {
  std::size_t at = begin - window_begin_;
  if (window_[at] == '"' || window_[at] == '[') {
    if (const Parse parse = skip_value(at); parse != Parse::done) return parse;
  } else {
    do ++at;
    while (at < window_size_ && window_[at] != ',' && window_[at] != ']' && window_[at] != '{');
    if (at >= window_size_) return Parse::cut;
  }
  position_ = window_begin_ + at;
  return Parse::done;
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
