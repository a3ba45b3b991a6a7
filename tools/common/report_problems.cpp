#include "common/report_problems.h"

#include "base/units.h"
#include "common/say.h"

#include <fmt/format.h>

namespace traceloom {
namespace {

std::string where_and_what(std::uint64_t count, std::uint64_t offset, std::string_view sentence) {
  if (count == 1)
    return offset == 0 ? std::string(sentence) : fmt::format("byte {}: {}", offset, sentence);
  const std::string counted = fmt::format("{} × {}", format_count(count), sentence);
  return offset == 0 ? counted : fmt::format("{} (first at byte {})", counted, offset);
}

std::string more_words(std::string_view explanation) {
  return explanation.empty() ? "" : fmt::format(": {}", explanation);
}

}  // namespace

std::string problem_lines(std::string_view tool, std::string_view path,
                          const ProblemCounts& problems, Verbosity verbosity, const Paint& paint) {
  std::string lines;
  for (const Problem problem : problems.kinds()) {
    const ProblemKind& kind = describe(problem);
    if (kind.severity == Severity::info && verbosity == Verbosity::normal) continue;
    lines += said_line(
        tool, kind.severity == Severity::loss ? Tone::warning : Tone::note, path,
        where_and_what(problems.count(problem), problems.first_offset(problem), kind.sentence) +
            more_words(problems.explanation(problem)),
        paint);
  }
  return lines;
}

void report_problems(std::string_view tool, std::string_view path, const ProblemCounts& problems,
                     Verbosity verbosity) {
  const Paint paint(wants_colour(Stream::err));
  const std::string lines = problem_lines(tool, path, problems, verbosity, paint);
  if (!lines.empty()) write_to_stderr(lines);
}

}  // namespace traceloom
