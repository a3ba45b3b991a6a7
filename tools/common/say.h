// Prints messages to stderr. All messages of all tools are printed by this.
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

// Returns the message as one line, with its line feed. `path` and `text` may hold any bytes, such
// as names from traces or of files: they are escaped so that they stay on one line and a terminal
// does not obey them (one_line()). An empty `path` is left out.
std::string said_line(std::string_view tool, Tone tone, std::string_view path,
                      std::string_view text, const Paint& paint);

void say(std::string_view tool, Tone tone, std::string_view text);

// From now on nothing is written to stderr: another process of the team says the same.
void say_nothing();

// Writes lines made by said_line() in one piece, after flushing stdout. If stderr cannot be written
// (closed, a full disk) nothing else changes, since messages are no part of the answer.
void write_to_stderr(std::string_view lines);

}  // namespace traceloom
