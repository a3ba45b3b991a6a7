// is_strict_json: may this piece of text be copied into strict JSON as it is?
//
//   if (!is_strict_json(event.text(Key::args))) repair(event);
#pragma once

#include <cstddef>
#include <string_view>

namespace traceloom {

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

}  // namespace traceloom
