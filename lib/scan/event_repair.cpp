#include "scan/event_repair.h"

#include "base/json_string.h"
#include "base/json_walk.h"
#include "event/event_timing.h"
#include "scan/event_key.h"
#include "scan/event_scanner.h"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <unordered_map>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

constexpr std::size_t kMaxValueDepth = kMaxJsonDepth - 1;  // the event itself is one level
constexpr std::string_view kSpace = " \n\t\r";

// The kinds of repair that an event needed, each noted once however often it was met.
class Repairs {
 public:
  void note(Problem problem) { met_.set(static_cast<std::size_t>(problem)); }
  void add(const Repairs& other) { met_ |= other.met_; }
  void count(ProblemCounts& problems, std::uint64_t offset) const {
    for (std::size_t kind = 0; kind < met_.size(); ++kind)
      if (met_[kind]) problems.add(static_cast<Problem>(kind), offset);
  }

 private:
  std::bitset<static_cast<std::size_t>(Problem::count_)> met_;
};

void append_string(std::string& out, std::string_view body, Repairs& repairs) {
  const StringFaults faults = find_string_faults(body);
  if (faults.control_character) repairs.note(Problem::control_character);
  if (faults.bad_escape) repairs.note(Problem::bad_escape);
  if (faults.invalid_utf8) repairs.note(Problem::invalid_utf8);
  append_json_string(out, decode_json_string(body));
}

// Appends a number, a literal, or the text in place of one.
void append_plain(std::string& out, std::string_view value, Repairs& repairs) {
  if (is_strict_json(value)) {
    out += value;
    return;
  }
  repairs.note(Problem::not_json_value);
  append_json_string(out, value);
}

// Appends a time as text; a time that is not strict JSON becomes a string, from which a later step
// writes it anew.
void append_time(std::string& out, std::string_view value, Repairs& repairs) {
  if (is_strict_json(value) || !parse_time(value)) return append_plain(out, value, repairs);
  repairs.note(Problem::broken_negative);
  append_json_string(out, value);
}

// Returns the position after the closing quote of the string that begins at `at`.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

// Writes an object or list anew, token by token and without recursion.
class NestedValue {
 public:
  NestedValue(std::string_view text, std::string& out, Repairs& repairs)
      : text_(text), out_(out), repairs_(repairs) {}

  // Returns false if the text cannot be understood; `out` then holds a part of it.
  bool append() {
    if (!append_value()) return false;
    while (!closers_.empty()) {
      skip_space();
      if (at_ == text_.size()) return false;
      const char c = text_[at_];
      if (c == closers_.back()) {
        close();
      } else if (c == ',' && place_ == Place::after_value) {
        place_ = Place::after_comma;
        ++at_;
      } else if (place_ == Place::after_value || !append_element()) {
        return false;
      }
    }
    return at_ == text_.size();
  }

 private:
  enum class Place { first, after_value, after_comma };  // position in the innermost container

  void skip_space() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }

  void close() {
    if (place_ == Place::after_comma) repairs_.note(Problem::trailing_comma);
    out_ += closers_.back();
    closers_.pop_back();
    place_ = Place::after_value;
    ++at_;
  }

  bool append_element() {
    if (place_ == Place::after_comma) out_ += ',';
    return (closers_.back() == ']' || append_key()) && append_value();
  }

  bool append_key() {
    if (text_[at_] != '"') return false;
    append_quoted();
    skip_space();
    if (at_ == text_.size() || text_[at_] != ':') return false;
    out_ += ':';
    ++at_;
    skip_space();
    return at_ < text_.size();
  }

  bool append_value() {
    const char c = text_[at_];
    if (c == '{' || c == '[') return open(c);
    place_ = Place::after_value;
    if (c == '"') {
      append_quoted();
      return true;
    }
    const std::size_t stop = std::min(text_.find_first_of(",:[]{}\"", at_), text_.size());
    const std::string_view word = text_.substr(at_, stop - at_);
    at_ = stop;
    if (word.empty()) return false;
    append_plain(out_, word.substr(0, word.find_last_not_of(kSpace) + 1), repairs_);
    return true;
  }

  bool open(char bracket) {
    if (closers_.size() == kMaxValueDepth) return false;
    out_ += bracket;
    closers_ += bracket == '{' ? '}' : ']';
    place_ = Place::first;
    ++at_;
    return true;
  }

  void append_quoted() {
    const std::size_t end = string_end(text_, at_);
    append_string(out_, unquoted(text_.substr(at_, end - at_)), repairs_);
    at_ = end;
  }

  std::string_view text_;
  std::string& out_;
  Repairs& repairs_;
  std::size_t at_ = 0;
  std::string closers_;  // closing brackets of the open containers, the innermost last
  Place place_ = Place::first;
};

void append_nested(std::string& out, std::string_view value, Repairs& repairs) {
  const std::size_t begin = out.size();
  Repairs inner;
  if (NestedValue(value, out, inner).append()) {
    repairs.add(inner);
    return;
  }
  out.resize(begin);
  repairs.note(Problem::bad_args);
  out += "{\"unparsed\":";
  append_json_string(out, value);
  out += '}';
}

struct Member : EventMember {
  Key known;  // Key::count_ if the key is not in enum Key
};

std::vector<Member> known_members(std::string_view event, Repairs& repairs) {
  std::vector<Member> members;
  for (const EventMember& member : members_of_event(event))
    members.push_back({member, kEventKeys.find(decode_json_string(member.key))});
  const char* const last_end = members.back().value.data() + members.back().value.size();
  if (event.find(',', static_cast<std::size_t>(last_end - event.data())) != std::string_view::npos)
    repairs.note(Problem::trailing_comma);
  return members;
}

// Removes members whose key a later member repeats.
void drop_duplicates(std::vector<Member>& members, Repairs& repairs) {
  std::array<bool, kKeyCount> met{};
  const auto is_duplicate = [&](const Member& member) {
    if (member.known == Key::count_) return false;
    return std::exchange(met[static_cast<std::size_t>(member.known)], true);
  };
  std::vector<Member> kept;
  for (auto member = members.rbegin(); member != members.rend(); ++member)
    if (!is_duplicate(*member)) kept.push_back(*member);
  if (kept.size() < members.size()) repairs.note(Problem::duplicate_key);
  members.assign(kept.rbegin(), kept.rend());
}

// Removes members of args whose key a later member repeats. The args stand in `out` from `begin`
// on; their repaired keys have one spelling.
void drop_repeated_args(std::string& out, std::size_t begin, Repairs& repairs) {
  if (!repeats_key(std::string_view(out).substr(begin))) return;
  const std::string args = out.substr(begin);
  repairs.note(Problem::duplicate_key);
  std::unordered_map<std::string_view, std::size_t> last;
  std::size_t place = 0;
  for_each_member(args, [&](std::string_view key, std::string_view) { last[key] = place++; });
  out.resize(begin);
  JsonParts kept(out, '{');
  place = 0;
  for_each_member(args, [&](std::string_view key, std::string_view value) {
    if (last[key] == place++) kept.add(key, value);
  });
  kept.close();
}

bool has_strict_values(const Event& event) {
  const EventFlags flags = event.flags;
  if (flags.suspect_text || flags.nested_value) return is_strict_json(event.raw);
  for (unsigned rest = event.present; rest != 0; rest &= rest - 1) {
    const std::string_view value = event.text(static_cast<Key>(std::countr_zero(rest)));
    if (!is_json_string(value) && !is_strict_json(value, kMaxValueDepth)) return false;
  }
  return true;
}

}  // namespace

bool is_clean_event(const Event& event) {
  const EventFlags flags = event.flags;
  if (flags.strict) return true;
  if (flags.loose_syntax || flags.duplicate_key || flags.escaped_key) return false;
  return has_strict_values(event) && !repeats_key(event.text(Key::args));
}

std::string repair_event(const Event& event, ProblemCounts& problems) {
  Repairs repairs;
  std::vector<Member> members = known_members(event.raw, repairs);
  drop_duplicates(members, repairs);
  std::string out;
  out.reserve(event.raw.size());
  for (const Member& member : members) {
    out += out.empty() ? '{' : ',';
    append_string(out, member.key, repairs);
    out += ':';
    if (is_json_string(member.value)) {
      append_string(out, unquoted(member.value), repairs);
    } else if (member.value.front() == '{' || member.value.front() == '[') {
      const std::size_t begin = out.size();
      append_nested(out, member.value, repairs);
      if (member.known == Key::args) drop_repeated_args(out, begin, repairs);
    } else if (member.known == Key::ts || member.known == Key::dur) {
      append_time(out, member.value, repairs);
    } else {
      append_plain(out, member.value, repairs);
    }
  }
  out += '}';
  repairs.count(problems, event.offset);
  return out;
}

std::optional<std::string> repair_value(std::string_view value, std::uint64_t offset,
                                        ProblemCounts& problems) {
  if (value.empty()) return std::nullopt;
  Repairs repairs;
  std::string out;
  if (value.front() != '{' && value.front() != '[') {
    if (is_json_string(value))
      append_string(out, unquoted(value), repairs);
    else
      append_plain(out, value, repairs);
  } else if (!NestedValue(value, out, repairs).append()) {
    return std::nullopt;
  }
  repairs.count(problems, offset);
  return out;
}

std::optional<std::string> repair_value(std::string_view value) {
  ProblemCounts ignored;
  return repair_value(value, 0, ignored);
}

std::string_view strict_value(std::string_view value, std::string& scratch) {
  if (is_strict_json(value) && !repeats_key(value)) return value;
  scratch = repair_value(value).value_or("");
  Repairs ignored;
  drop_repeated_args(scratch, 0, ignored);
  return scratch;
}

}  // namespace traceloom
