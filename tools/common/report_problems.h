// Lines on stderr about the problems of an input that did not stop the work.
//
//   trace-merge: warning: rank3.json: byte 8812: the file is cut inside an event; everything
//       before it was kept
//   trace-stats: rank0.json: 52 × end event (E) without a begin event (B); dropped (first at byte
//   120)
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

// Returns one line for each kind of problem. Only a loss begins with "warning:". A problem whose
// first offset is 0 has no place in the file (a missing rank, for example), so its line names none.
std::string problem_lines(std::string_view tool, std::string_view path,
                          const ProblemCounts& problems, Verbosity verbosity, const Paint& paint);

// Prints these lines to stderr in one piece.
void report_problems(std::string_view tool, std::string_view path, const ProblemCounts& problems,
                     Verbosity verbosity);

}  // namespace traceloom
