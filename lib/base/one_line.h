// Text from outside (names in traces, paths, words of a command line), made fit for a line of a
// terminal.
//
//   one_line("a\x1b]0;owned\x07\nb")   // R"(a\x1b]0;owned\x07\nb)"
#pragma once

#include <string>
#include <string_view>

namespace traceloom {

// `text` as valid UTF-8 on one line. What a terminal would obey is written as an escape: control
// characters (\n, \x1b, \u007f, \u009b), the ends of lines and paragraphs (\u2028) and what turns
// the direction of the text after it (\u202e). Applied twice it changes nothing more.
std::string one_line(std::string_view text);

// The same for a text of several lines: line feeds stay. JSON stays the same JSON.
std::string printable_lines(std::string_view text);

}  // namespace traceloom
