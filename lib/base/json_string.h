// The strings of JSON, whether a piece of text is strict JSON, and objects of such pieces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace traceloom {

// JSON strings to UTF-8 and back: the one place that knows escapes.
//
//   std::string name = decode_json_string(R"(caf\u00e9 \ud83d\ude00)");   // without the quotes
//   std::string text; append_json_string(text, name);                  // with the quotes

// Returns the characters that `body` (the text between the quotes) means, as valid UTF-8. It
// accepts the broken strings of real traces: an unknown escape \x becomes a backslash and x, half a
// surrogate pair and bytes that are not UTF-8 become U+FFFD, raw control characters stand for
// themselves. It never fails.
std::string decode_json_string(std::string_view body);

// Appends `text` as a JSON string with its quotes. It escapes only the characters for which JSON
// demands it (quote, backslash, control characters). Bytes that are not UTF-8 become U+FFFD, so the
// result is always valid.
void append_json_string(std::string& out, std::string_view text);
// The same, as a new string.
std::string json_string(std::string_view text);

// True if `body` is already what append_json_string(decode_json_string(body)) would write, or if it
// is a valid JSON string without surrogate escapes (which one viewer refuses).
bool is_clean_json_string(std::string_view body);

// Names what is_clean_json_string() refuses in a string. Repairs count the first three.
struct StringFaults {
  bool control_character = false;
  bool bad_escape = false;  // an unknown one, or half a surrogate pair
  bool invalid_utf8 = false;
  bool surrogate_pair = false;
  bool quote = false;
  bool operator==(const StringFaults&) const = default;
};
StringFaults find_string_faults(std::string_view body);

// `text` with every ill-formed UTF-8 sequence replaced by U+FFFD, as the Unicode standard
// recommends (one replacement for each maximal prefix of a sequence).
std::string to_valid_utf8(std::string_view text);

// is_strict_json: may this piece of text be copied into strict JSON as it is?
//
//   if (!is_strict_json(event.text(Key::args))) repair(event);

// is_strict_json() refuses deeper nesting because many readers recurse. Real args nest fewer than
// ten levels.
inline constexpr std::size_t kMaxJsonDepth = 512;

// True if `value` (without white space around it) is one JSON value by RFC 8259's grammar, nests at
// most `max_depth` deep, and every string in it is_clean_json_string(): valid UTF-8, no raw control
// character, no bad escape, no surrogate escape. Duplicate keys are allowed. The check does not
// recurse; it reads about 1.4 GB/s of the args of torch traces, which are all short tokens.
bool is_strict_json(std::string_view value, std::size_t max_depth = kMaxJsonDepth);

// The deepest nesting that skip_strict_value() accepts; real values nest less.
inline constexpr std::size_t kMaxSkippedDepth = 63;

// Returns the position after the value that begins at `at` if is_strict_json(value,
// kMaxSkippedDepth) accepts the value, otherwise nullptr. `end` must be the end of a string: a '\0'
// stands there.
const char* skip_strict_value(const char* at, const char* end);

// JsonParts: writes an object or a list of parts that are JSON text already.
//
//   JsonParts object(out, '{');
//   object.add("bytes", "4096");
//   append_microseconds(object.next("ts"), ns);
//   object.close();                               // {"bytes":4096,"ts":1.500}
class JsonParts {
 public:
  // Appends to `out`. `bracket` is '{' or '['.
  JsonParts(std::string& out, char bracket) : out_(out), bracket_(bracket) { out_ += bracket; }

  // Begins the next element of a list; returns the text to which it has to be appended.
  std::string& next() {
    if (!is_empty_) out_ += ',';
    is_empty_ = false;
    return out_;
  }
  // Does the same for the value of the next member. The key is written as it is.
  std::string& next(std::string_view key) { return next().append("\"").append(key).append("\":"); }
  void add(std::string_view key, std::string_view value) { next(key) += value; }
  // Writes the bracket at the end.
  void close() { out_ += bracket_ == '{' ? '}' : ']'; }

 private:
  std::string& out_;
  char bracket_;
  bool is_empty_ = true;
};

}  // namespace traceloom
