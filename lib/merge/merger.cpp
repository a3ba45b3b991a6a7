#include "merge/merger.h"

#include "base/problems.h"
#include "input/byte_source.h"
#include "merge/archive_merge.h"
#include "merge/order/merge_output.h"
#include "merge/passes/merge_inputs.h"
#include "merge/team_merge.h"
#include "merge/write/write_visitor.h"
#include "output/file_sink.h"
#include "team/team.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

namespace traceloom {
namespace {

// Refuses an output that is also an input. A folder may contain the output of an earlier merge;
// such an input is left out, and MergeInputs sees to that before the output is replaced.
void refuse_output(const MergeOptions& options) {
  std::vector<Input> inputs = options.inputs;
  if (is_written_aside(options.output))
    std::erase_if(inputs, [](const Input& input) { return !input.is_named; });
  if (is_input(inputs, options.output))
    throw UsageError(
        fmt::format("the output {} is also an input; name another output", options.output));
}

void prepare_paths(const MergeOptions& options) {
  refuse_output(options);
  for (const Input& input : options.inputs) {
    if (input.path == "-")
      make_stdin_rereadable();
    else if (!can_be_reread(input.path))
      throw UsageError(
          fmt::format("{} is no regular file, and a merge may read its inputs twice; pass one pipe "
                      "as - (stdin)",
                      input.path));
  }
}

MergeSummary plan_only(const MergeOptions& options) {
  MergeInputs inputs(options);
  inputs.survey();
  if (!inputs.select()) return inputs.nothing_left();
  return inputs.summarize(std::vector<ProblemCounts>(inputs.size()), inputs.planned_events());
}

// Writes one Chrome JSON trace: by a guess in one pass, and by a survey in a second one if need be.
class JsonMerge {
 public:
  explicit JsonMerge(const MergeOptions& options) : options_(options), inputs_(options) {}

  MergeSummary run() {
    // The output is opened first: nobody wants to wait for the survey to hear that the folder does
    // not exist.
    open_output();
    if (std::optional<MergeSummary> summary = merge_by_guess()) return std::move(*summary);
    if (!inputs_.is_planned()) inputs_.survey();
    if (!inputs_.select()) {
      output_.reset();
      return inputs_.nothing_left();
    }
    WriteVisitor visitor(inputs_.plan(), *output_, inputs_.memory());
    visitor.write_head(inputs_.surveys());
    inputs_.scan_planned(visitor);
    inputs_.check_unchanged(visitor, inputs_.planned_files());
    return finish(visitor);
  }

 private:
  void open_output() {
    output_.reset();  // removes its temporary file first: the names are the same
    output_ = std::make_unique<MergeOutput>(options_.output, options_.level,
                                            StdoutUse{.outlives_reader = options_.outlives_reader});
  }

  // Returns nullopt if nothing has been written.
  std::optional<MergeSummary> merge_by_guess() {
    if (!is_written_aside(options_.output)) return std::nullopt;
    const std::optional<GuessedPlan> guess = inputs_.guess();
    if (!guess) return std::nullopt;
    WriteVisitor visitor(guess->plan, *output_, inputs_.memory());
    visitor.write_head(guess->surveys);
    if (inputs_.write_by_guess(*guess, visitor)) return finish(visitor);
    open_output();  // what the wrong guess has written is thrown away
    return std::nullopt;
  }

  MergeSummary finish(WriteVisitor& visitor) {
    return write_end(options_, inputs_, visitor, *output_);
  }

  const MergeOptions& options_;
  MergeInputs inputs_;
  std::unique_ptr<MergeOutput> output_;
};

}  // namespace

MergeSummary merge_traces(const MergeOptions& options) {
  Team& team = team_or_alone(options.team);
  if (!team.is_alone()) refuse_in_team(options);
  team.agree([&] { prepare_paths(options); });
  if (options.dry_run) return plan_only(options);
  if (!team.is_alone()) return merge_in_team(options);
  if (options.format == MergeFormat::perfetto_tar) return merge_to_archive(options);
  return JsonMerge(options).run();
}

}  // namespace traceloom
