// What a tool says beside its output: lines on stderr. All words of all tools go this way.
//
//   say("trace-merge", Tone::warning, "rank3.json: is a directory");
//   // trace-merge: warning: rank3.json: is a directory
#pragma once

#include "common/terminal.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom {

enum class Tone : std::uint8_t { note, warning, error };

// One line, with its line feed. Whatever `path` and `text` hold, names from traces and of files
// too, comes out as one line that no terminal obeys (one_line()). `path` is painted, and none where
// it is empty.
std::string said_line(std::string_view tool, Tone tone, std::string_view path,
                      std::string_view text, const Paint& paint);

void say(std::string_view tool, Tone tone, std::string_view text);

// Lines made by said_line(), in one piece and after what has been printed to stdout. A stderr that
// cannot be written (closed, a full disk) changes nothing: words are no part of the answer.
void write_to_stderr(std::string_view lines);

}  // namespace traceloom
