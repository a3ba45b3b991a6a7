// JSON strings to UTF-8 and back: the one place that knows escapes.
//
//   std::string name = decode_json_string(R"(caf\u00e9 \ud83d\ude00)");   // without the quotes
//   std::string text; append_json_string(text, name);                  // with the quotes
#pragma once

#include <string>
#include <string_view>

namespace traceloom {

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

// The faults of a string that decode_json_string() repairs. A surrogate pair is no fault.
struct StringFaults {
  bool control_character = false;
  bool bad_escape = false;  // an unknown one, or half a surrogate pair
  bool invalid_utf8 = false;
};
StringFaults find_string_faults(std::string_view body);

// `text` with every ill-formed UTF-8 sequence replaced by U+FFFD, as the Unicode standard
// recommends (one replacement for each maximal prefix of a sequence).
std::string to_valid_utf8(std::string_view text);

}  // namespace traceloom
