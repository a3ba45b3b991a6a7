// Event: one element of a trace's event list, as views into the text it was read from.
//
//   if (event.phase == 'X') std::string_view duration = event.text(Key::dur);   // "12.345"
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// The keys of an event that anything here looks at. All others stay in `raw`, untouched.
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
  count_  // not a key: how many there are
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

// What the scanner noticed about the text of an event and a writer has to act on.
struct EventFlags {
  bool strict : 1 = false;  // the text is strict JSON, no key of args stands twice and none of the
                            // other flags holds: it may be copied. Not set for every such text
  bool duplicate_key : 1 = false;  // a key of enum Key stands twice; the range is the last one's
  bool escaped_key : 1 = false;    // a key was written with escapes ("\u0070h")
  bool loose_syntax : 1 =
      false;  // a comma before '}', or a plain value that JSON does not have (NaN, 0x10)
  bool suspect_text : 1 = false;  // the text holds a backslash, a control character in a string or
                                  // a byte >= 0x80: it has to be looked at before it is copied
  bool nested_value : 1 = false;  // the value of a key outside enum Key is an object or a list, and
                                  // nobody has looked inside it
};

// Every view is valid as long as the text the event was read from (for EventScanner: its window).
struct Event {
  std::string_view raw;      // from '{' to '}'
  std::uint64_t offset = 0;  // of raw in the uncompressed text of the file
  char phase = 0;            // first character of ph; 0 when ph is absent, empty or no string
  EventFlags flags;
  std::uint32_t present = 0;  // one bit a key: which of `fields` mean something
  std::array<FieldRange, kKeyCount> fields;

  static constexpr std::uint32_t bit(Key key) { return 1U << static_cast<unsigned>(key); }
  bool has(Key key) const { return (present & bit(key)) != 0; }
  void set(Key key, std::size_t begin, std::size_t end) {
    flags.duplicate_key |= has(key);
    present |= bit(key);
    fields[static_cast<std::size_t>(key)] = {static_cast<std::uint32_t>(begin),
                                             static_cast<std::uint32_t>(end)};
  }
  // Empty when the key is absent.
  FieldRange range(Key key) const {
    return has(key) ? fields[static_cast<std::size_t>(key)] : FieldRange{};
  }
  // The JSON text of the value (strings with their quotes), or empty when the key is absent.
  std::string_view text(Key key) const {
    const FieldRange r = range(key);
    return {raw.data() + r.begin, r.end - r.begin};
  }
};

constexpr bool is_json_string(std::string_view value) {
  return !value.empty() && value.front() == '"';
}

// What stands between the quotes of a string value; the value itself when it is no string.
constexpr std::string_view unquoted(std::string_view value) {
  return is_json_string(value) && value.size() >= 2 ? value.substr(1, value.size() - 2) : value;
}

// The characters of a string value as UTF-8 (escapes decoded); other values as they are written.
std::string decoded(std::string_view value);

// One spelling for what both viewers take for the same pid or tid: 7, 7.0, 7e0 and "7" are all "7"
// (numbers without quotes), other strings keep their quotes: "\"Spans\"". Absent or null: empty.
std::string canonical_id(std::string_view value);

// A whole number, also in quotes or written as 7.0.
std::optional<std::int64_t> json_integer(std::string_view value);

}  // namespace traceloom
