#include "merge/write_end.h"

#include "merge/frame/frame.h"

#include <vector>

namespace traceloom {

MergeSummary write_end(const MergeOptions& options, const MergeInputs& inputs,
                       WriteVisitor& visitor, MergeOutput& output) {
  visitor.finish();
  MergeSummary summary = inputs.summarize(visitor.problems(), visitor.events());
  std::vector<ProblemCounts> problems;
  for (const MergedFile& file : summary.files) problems.push_back(file.problems);
  write_tail(
      inputs.plan(), inputs.surveys(),
      [&](std::size_t file, std::int64_t rank) { return summary.files[file].events_of(rank); },
      problems, inputs.left_out(), [&](std::string_view text) { output.write(text); });
  output.complete();
  if (options.before_replacing) options.before_replacing(summary);
  output.close();
  return summary;
}

}  // namespace traceloom
