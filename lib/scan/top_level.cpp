#include "scan/top_level.h"

#include "base/ascii.h"
#include "base/json_string.h"
#include "base/json_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace traceloom {
namespace {

constexpr std::uint64_t kMaxKeptBytes = std::uint64_t{64} << 20;
constexpr std::size_t kMaxKeyBytes = std::size_t{1} << 20;

std::size_t count_spaces(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && is_space(text[count])) ++count;
  return count;
}

// Returns ", whose keys are "a" and "b"": the keys show a reader who knows the producer what the
// file is.
std::string shown_keys(const std::vector<TopLevelEntry>& entries) {
  constexpr std::size_t kMostShown = 4;
  constexpr std::size_t kLongestShown = 40;
  std::string shown;
  for (std::size_t i = 0; i < std::min(entries.size(), kMostShown); ++i)
    shown += (i == 0 ? ", whose keys are " : ", ") +
             json_string(std::string_view(entries[i].key).substr(0, kLongestShown));
  return entries.size() > kMostShown ? shown + ", ..." : shown;
}

std::string_view kind_of_value(char first) {
  switch (first) {
    case '"':
      return "a string";
    case '{':
      return "an object";
    case '[':
      return "a list";
    case 'n':
      return "null";
    case 't':
    case 'f':
      return "a boolean";
    default:
      return "a number";
  }
}

}  // namespace

// Before the list, nothing can be saved. After it, the events are safe and the rest is ignored.
void TopLevelParser::fail(const std::string& problem) {
  if (!had_list_) throw Error(path_, offset_, problem);
  problems_.add(Problem::trailing_garbage, offset_);
  state_ = State::done;
  ignores_rest_ = true;
}

std::size_t TopLevelParser::feed(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (ignores_rest_) {
      offset_ += text.size() - i;
      return text.size();
    }
    if (state_ == State::before || state_ == State::done) {
      const std::size_t spaces = count_spaces(text.substr(i));
      i += spaces;
      offset_ += spaces;
      if (i == text.size()) break;
    }
    switch (state_) {
      case State::before:
        start_document(text[i]);
        break;
      case State::members:
        read_member(text[i]);
        break;
      case State::done:
        after_document(text[i]);
        break;
      case State::in_list:
        break;
    }
    ++offset_;
    if (state_ == State::in_list) return i + 1;
  }
  return text.size();
}

void TopLevelParser::start_document(char c) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (offset_ < 3 && c == kByteOrderMark[offset_]) return;
  if (c == '[') {
    state_ = State::in_list;
    had_list_ = has_list_ = true;
  } else if (c == '{') {
    state_ = State::members;
    step_ = Step::key;
    is_object_ = true;
  } else if (c == '"' || c == '-' || (c >= '0' && c <= '9')) {
    fail(fmt::format("not a trace: the text is {}, not a list of events", kind_of_value(c)));
  } else {
    fail("not a trace: the text is not JSON; a trace starts with [ or {");
  }
}

void TopLevelParser::read_member(char c) {
  switch (step_) {
    case Step::key:
      if (c == '"') {
        step_ = Step::key_text;
        key_.clear();
      } else if (c == '}') {
        state_ = State::done;
      } else if (c == ',') {
        problems_.add(Problem::extra_comma, offset_);
      } else if (!is_space(c)) {
        fail("not JSON: expected a key in quotes");
      }
      break;
    case Step::key_text:
      read_key(c);
      break;
    case Step::colon:
      if (c == ':') {
        step_ = Step::value;
      } else if (!is_space(c)) {
        fail(fmt::format("not JSON: expected ':' behind the key \"{}\"", key_));
      }
      break;
    case Step::value:
      if (!is_space(c)) read_value_start(c);
      break;
    case Step::quoted:
    case Step::nested:
      read_nested(c);
      break;
    case Step::plain:
      if (c != ',' && c != '}' && !is_space(c)) return keep(c);
      end_value();
      read_member(c);
      break;
    case Step::comma:
      if (c == ',') {
        step_ = Step::key;
      } else if (c == '}') {
        state_ = State::done;
      } else if (!is_space(c)) {
        fail(fmt::format("not JSON: expected ',' or '}}' behind the value of \"{}\"", key_));
      }
      break;
  }
}

void TopLevelParser::read_key(char c) {
  if (c == '"' && !escaped_) {
    key_ = decode_json_string(key_);
    step_ = Step::colon;
    return;
  }
  if (key_.size() == kMaxKeyBytes) return fail("not JSON: a key that does not end");
  key_.push_back(c);
  escaped_ = c == '\\' && !escaped_;
}

void TopLevelParser::read_value_start(char c) {
  if (c == ',' || c == ':' || c == '}' || c == ']')
    return fail(fmt::format("not JSON: expected a value behind the key \"{}\"", key_));
  if (key_ == "traceEvents") {
    if (c == '[') {
      if (has_list_) problems_.add(Problem::second_trace_events, offset_);
      state_ = State::in_list;
      had_list_ = has_list_ = true;
      return;
    }
    not_a_list_ = kind_of_value(c);
  }
  value_.clear();
  value_offset_ = offset_;
  value_dropped_ = false;
  in_string_ = c == '"';
  escaped_ = false;
  depth_ = c == '{' || c == '[' ? 1 : 0;
  step_ = c == '"' ? Step::quoted : depth_ > 0 ? Step::nested : Step::plain;
  keep(c);
}

void TopLevelParser::read_nested(char c) {
  keep(c);
  if (in_string_) {
    if (c == '"' && !escaped_) in_string_ = false;
    escaped_ = c == '\\' && !escaped_;
    if (step_ == Step::quoted && !in_string_) end_value();
    return;
  }
  if (c == '"') in_string_ = true;
  if (c == '{' || c == '[') ++depth_;
  if ((c == '}' || c == ']') && --depth_ == 0) end_value();
}

void TopLevelParser::keep(char c) {
  if (value_dropped_) return;
  if (kept_bytes_ + sizeof(TopLevelEntry) + key_.size() + value_.size() >= kMaxKeptBytes) {
    value_dropped_ = true;
    value_ = std::string();
    problems_.add(Problem::top_level_dropped, value_offset_);
    return;
  }
  value_.push_back(c);
}

void TopLevelParser::end_value() {
  if (!value_dropped_) {
    kept_bytes_ += sizeof(TopLevelEntry) + key_.size() + value_.size();
    // The spare room of a large value was never touched, so the value is moved; that of a small
    // value can be reused, so the value is copied.
    constexpr std::size_t kLarge = std::size_t{1} << 20;
    if (value_.size() > kLarge)
      entries_.push_back({key_, std::move(value_), value_offset_});
    else
      entries_.push_back({key_, value_, value_offset_});
  }
  value_.clear();
  step_ = Step::comma;
}

void TopLevelParser::after_document(char c) {
  if (c != '[' && c != '{') return fail("not a trace: text behind the end of the document");
  if (!had_list_)
    throw Error(
        path_, offset_,
        "not a trace: looks like JSON lines, one object after the other; put the lines into one "
        "list: [ ..., ... ]");
  check_document();
  problems_.add(Problem::second_document, offset_);
  state_ = c == '[' ? State::in_list : State::members;
  step_ = Step::key;
  is_object_ = c == '{';
  has_list_ = !is_object_;
  document_offset_ = offset_;
  document_entry_ = entries_.size();
}

// A document without a list has no events, so that what it says is said of all.
void TopLevelParser::check_document() {
  // Members of these values, or the values, are what FileEvidence knows of rank and clock.
  struct Said {
    std::string_view key;
    std::string_view member = {};
  };
  static constexpr std::array<Said, 7> kSaid{{{"distributedInfo", "rank"},
                                              {"global_rank"},
                                              {"baseTimeNanoseconds"},
                                              {"viztracer_metadata", "baseTimeNanoseconds"},
                                              {"beginningOfTime"},
                                              {"clock_sync_timestamp_us"},
                                              {"otherData", "traceloom"}}};
  if (!has_list_ || other_document_) return;
  std::vector<std::string> said(kSaid.size());
  for (std::size_t i = document_entry_; i < entries_.size(); ++i)
    for (std::size_t k = 0; k < kSaid.size(); ++k)
      if (entries_[i].key == kSaid[k].key)
        said[k] = kSaid[k].member.empty() ? entries_[i].value
                                          : find_member(entries_[i].value, kSaid[k].member);
  if (first_said_.empty()) first_said_ = said;
  const auto other = std::ranges::mismatch(said, first_said_).in1 - said.begin();
  if (static_cast<std::size_t>(other) == said.size()) return;
  const Said& differs = kSaid[static_cast<std::size_t>(other)];
  other_document_ = Error(
      path_, document_offset_,
      fmt::format("a document of another rank or clock begins here (its {}{}{} is not that of the "
                  "first); split the unpacked text into one file a document: head -c {} gives what "
                  "is before this one, tail -c +{} the rest",
                  differs.key, differs.member.empty() ? "" : ".", differs.member, document_offset_,
                  document_offset_ + 1));
}

void TopLevelParser::resume(std::uint64_t offset) {
  offset_ = offset;
  state_ = is_object_ ? State::members : State::done;
  step_ = Step::comma;
}

void TopLevelParser::finish(std::uint64_t offset, bool cut_inside_event) {
  check_document();
  if (other_document_) throw *other_document_;
  offset_ = offset;
  if (state_ == State::before) fail("the file holds nothing but white space");
  if (state_ == State::in_list && !is_object_ && !cut_inside_event)
    problems_.add(Problem::missing_bracket, offset_);
  const bool in_object = state_ == State::members || (state_ == State::in_list && is_object_);
  if (in_object && had_list_) problems_.add(Problem::cut_object, offset_);
  if (had_list_) return;
  if (state_ == State::members) fail("the file is cut before its events begin");
  if (!not_a_list_.empty())
    throw Error(path_, fmt::format("not a trace: traceEvents is {}, not a list", not_a_list_));
  throw Error(path_, "not a trace: no traceEvents in the object" + shown_keys(entries_));
}

std::string_view TopLevelParser::value(std::string_view key) const {
  for (std::size_t i = entries_.size(); i-- > 0;)
    if (entries_[i].key == key) return entries_[i].value;
  return {};
}

}  // namespace traceloom
