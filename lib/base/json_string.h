// JSON strings to UTF-8 and back: the one place that knows escapes.
//
//   std::string name = decode_json_string(R"(caf\u00e9 \ud83d\ude00)");   // without the quotes
//   std::string text; append_json_string(text, name);                  // with the quotes
#pragma once

#include <string>
#include <string_view>

namespace traceloom {

// The characters that `body` (what stands between the quotes) means, as valid UTF-8. Takes what the
// field writes: an unknown escape \x becomes a backslash and x, half a surrogate pair and bytes
// that are not UTF-8 become U+FFFD, raw control characters stand for themselves. Never fails.
std::string decode_json_string(std::string_view body);

// Appends `text` as a JSON string with its quotes. Escapes only what JSON demands (quote,
// backslash, control characters); bytes that are not UTF-8 become U+FFFD, so that the result is
// always valid.
void append_json_string(std::string& out, std::string_view text);
// The same by itself.
std::string json_string(std::string_view text);

// True when `body` is already what append_json_string(decode_json_string(body)) would write, or a
// valid JSON string as it stands without surrogate escapes (which one viewer refuses).
bool is_clean_json_string(std::string_view body);

// What is wrong with a string and decode_json_string() puts right. A surrogate pair is not wrong.
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
