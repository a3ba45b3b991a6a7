// Makes text from outside (names in traces, paths, words of a command line) fit for a line of a
// terminal.
//
//   one_line("a\x1b]0;owned\x07\nb")   // R"(a\x1b]0;owned\x07\nb)"
#pragma once

#include <string>
#include <string_view>

namespace traceloom {

// Returns `text` as valid UTF-8 on one line. Characters that a terminal would obey become escapes:
// control characters (\n, \x1b, \u007f, \u009b), ends of lines and paragraphs (\u2028), and
// characters that turn the direction of the text after them (\u202e). A second application changes
// nothing.
std::string one_line(std::string_view text);

// The same for a text of several lines: line feeds stay. A JSON text keeps its meaning.
std::string printable_lines(std::string_view text);

}  // namespace traceloom
