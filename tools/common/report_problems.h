// What was wrong with an input and did not stop the work, as lines on stderr.
//
//   trace-merge: warning: rank3.json: byte 8812: the file is cut inside an event; everything before
//   it was kept trace-stats: rank0.json: 52 × end event (E) without a begin event (B); dropped
//   (first at byte 120)
#pragma once

#include "base/problems.h"
#include "common/terminal.h"

#include <string>
#include <string_view>

namespace traceloom {

enum class Verbosity : std::uint8_t {
  normal,   // notice and loss
  verbose,  // info too
};

// One line a kind of problem. Loss is a "warning:", the rest is told without such a word. A first
// offset of 0 means that the problem has no place in the file (a missing rank, say) and none is
// named.
std::string problem_lines(std::string_view tool, std::string_view path,
                          const ProblemCounts& problems, Verbosity verbosity, const Paint& paint);

// Prints them to stderr in one piece; nothing when there are none.
void report_problems(std::string_view tool, std::string_view path, const ProblemCounts& problems,
                     Verbosity verbosity);

}  // namespace traceloom
