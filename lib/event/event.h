// Event: one element of a trace's event list, as views into the text from which it was read.
//
//   if (event.phase == 'X') std::string_view duration = event.text(Key::dur);   // "12.345"
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// The keys of an event that our code reads. All other keys stay in `raw`, untouched.
enum class Key : std::uint8_t {
  name,
  cat,
  ph,
  ts,
  dur,
  pid,
  tid,
  id,
  id2,
  bind_id,
  scope,
  args,
  s,
  unclosed,
  tts,
  tdur,
  sf,
  esf,
  flow_in,
  flow_out,
  cname,
  cut_id,
  count_  // the number of keys, not a key
};
inline constexpr std::size_t kKeyCount = static_cast<std::size_t>(Key::count_);

constexpr std::string_view key_name(Key key) {
  constexpr std::array<std::string_view, kKeyCount> kNames{
      "name", "cat",     "ph",      "ts",       "dur",   "pid",      "tid", "id",
      "id2",  "bind_id", "scope",   "args",     "s",     "unclosed", "tts", "tdur",
      "sf",   "esf",     "flow_in", "flow_out", "cname", "cut_id"};
  return kNames[static_cast<std::size_t>(key)];
}

// Half-open range of a value in Event::raw.
struct FieldRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// Facts that the scanner noticed about the text of an event and on which a writer has to act.
struct EventFlags {
  bool strict : 1 = false;  // the text is strict JSON, no key of args stands twice, and no other
                            // flag is set, so the text may be copied. Some such texts lack the flag
  bool duplicate_key : 1 = false;  // a key of enum Key stands twice; the range is the last one's
  bool escaped_key : 1 = false;    // a key is written with escapes ("\u0070h")
  bool loose_syntax : 1 =
      false;  // a comma before '}', or a plain value that JSON does not have (NaN, 0x10)
  bool suspect_text : 1 = false;  // the text holds a backslash, a control character in a string or
                                  // a byte >= 0x80, so a writer has to check it before it copies it
  bool nested_value : 1 = false;  // a key outside enum Key has an object or a list as value, which
                                  // the scanner did not check
};

// Every view is valid as long as the text from which the event was read (for EventScanner: its
// window).
struct Event {
  std::string_view raw;      // the whole event, from '{' to '}'
  std::uint64_t offset = 0;  // offset of `raw` in the uncompressed text of the file, in bytes
  char phase = 0;            // first character of ph; 0 if ph is absent, empty or no string
  EventFlags flags;
  std::uint32_t present = 0;  // one bit a key, set if its entry in `fields` is valid
  std::array<FieldRange, kKeyCount> fields;

  static constexpr std::uint32_t bit(Key key) { return 1U << static_cast<unsigned>(key); }
  bool has(Key key) const { return (present & bit(key)) != 0; }
  void set(Key key, std::size_t begin, std::size_t end) {
    flags.duplicate_key |= has(key);
    present |= bit(key);
    fields[static_cast<std::size_t>(key)] = {static_cast<std::uint32_t>(begin),
                                             static_cast<std::uint32_t>(end)};
  }
  // Returns an empty range if the key is absent.
  FieldRange range(Key key) const {
    return has(key) ? fields[static_cast<std::size_t>(key)] : FieldRange{};
  }
  // Returns the JSON text of the value (strings with their quotes), or empty if the key is absent.
  std::string_view text(Key key) const {
    const FieldRange r = range(key);
    return {raw.data() + r.begin, r.end - r.begin};
  }
};

constexpr bool is_json_string(std::string_view value) {
  return !value.empty() && value.front() == '"';
}

// Returns the text between the quotes of a string value, or the value itself if it is no string.
constexpr std::string_view unquoted(std::string_view value) {
  return is_json_string(value) && value.size() >= 2 ? value.substr(1, value.size() - 2) : value;
}

// Returns the characters of a string value as UTF-8 (escapes decoded), or another value as written.
std::string decoded(std::string_view value);

// Returns one spelling for values that both viewers take for the same pid or tid: 7, 7.0, 7e0 and
// "7" all give "7" (a number without quotes). Other strings keep their quotes: "\"Spans\"". An
// absent value and null give an empty text.
std::string canonical_id(std::string_view value);

// Parses a whole number, also in quotes or written as 7.0.
std::optional<std::int64_t> json_integer(std::string_view value);

// label_text: name and category of an event as one text that can be looked up.
//
//   std::string scratch;
//   std::uint32_t number = labels.intern(label_text(event, scratch));

// Returns the value if it is a string, otherwise an empty view.
std::string_view string_or_nothing(std::string_view value);

// Returns the text that identifies the event's name and category. Most producers write one after
// the other; the text is then the piece of the event that holds both, and nothing is copied.
// Otherwise it is put together in `scratch`. Equal texts mean equal names and categories, but one
// pair may have several texts.
std::string_view label_text(const Event& event, std::string& scratch);

}  // namespace traceloom
