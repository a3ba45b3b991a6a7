#include "merge/merger.h"

#include "base/problems.h"
#include "input/byte_source.h"
#include "merge/archive_merge.h"
#include "merge/frame/frame.h"
#include "merge/order/merge_output.h"
#include "merge/passes/merge_inputs.h"
#include "merge/write/write_visitor.h"
#include "output/file_sink.h"
#include "output/sink.h"
#include "team/team.h"
#include "team/wire.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

void prepare_paths(const MergeOptions& options) {
  // A folder may contain the output of an earlier merge; such an input is left out, and MergeInputs
  // sees to that before the output is replaced.
  std::vector<Input> inputs = options.inputs;
  if (is_written_aside(options.output))
    std::erase_if(inputs, [](const Input& input) { return !input.is_named; });
  refuse_as_output(inputs, options.output);
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
  return inputs.summarize_plan();
}

// A process other than the first has written this.
struct Piece {
  PartSize size;
  WrittenFiles written;
};

// Writes one Chrome JSON trace. A process alone does so by a guess in one pass, and by a survey in
// a second one if need be. In a team all processes make the same plan, and each writes a piece of
// the files: process 0 to the output, the others to a file without a name in the output's folder,
// from which they copy the piece to its place once the sizes of the pieces before it are known.
class JsonMerge {
 public:
  explicit JsonMerge(const MergeOptions& options)
      : options_(options), team_(team_or_alone(options.team)), inputs_(options) {}

  // The summary of process 0 is that of the whole merge; the others return an empty one.
  MergeSummary run() {
    // The output is opened first: nobody wants to wait for the survey to hear that the folder does
    // not exist.
    team_.agree([this] { open_output(); });
    if (std::optional<MergeSummary> summary = merge_by_guess()) return std::move(*summary);
    if (!inputs_.is_planned()) inputs_.survey();
    if (!inputs_.select()) return inputs_.nothing_left();
    std::optional<WriteVisitor> visitor;
    team_.agree([&] { write_files(visitor.emplace(inputs_.plan(), output(), inputs_.memory())); });
    if (!team_.is_alone()) join_pieces(*visitor);
    return team_.is_first() ? finish(*visitor) : MergeSummary();
  }

 private:
  void open_output() {
    whole_.reset();  // removes its temporary file first: the names are the same
    if (team_.is_first())
      whole_ = pack_by_name(
          open_file_sink(options_.output, {.outlives_reader = options_.outlives_reader}),
          options_.output, options_.level);
    else
      part_ = std::make_unique<PartOutput>(options_.output, options_.level);
  }

  Sink& output() { return team_.is_first() ? *whole_ : part_->output(); }

  // Returns nullopt if nothing has been written.
  std::optional<MergeSummary> merge_by_guess() {
    if (!is_written_aside(options_.output)) return std::nullopt;
    const std::optional<MergePlan> guess = inputs_.guess();
    if (!guess) return std::nullopt;
    WriteVisitor visitor(*guess, output(), inputs_.memory());
    visitor.write_head();
    if (inputs_.write_by_guess(*guess, visitor)) return finish(visitor);
    open_output();  // what the wrong guess has written is thrown away
    return std::nullopt;
  }

  void write_files(WriteVisitor& visitor) {
    if (team_.is_first()) visitor.write_head();
    inputs_.scan_planned(visitor);
    inputs_.check_unchanged(visitor, inputs_.planned_files());
  }

  // Puts the pieces of the other processes after that of process 0.
  void join_pieces(WriteVisitor& visitor) {
    Piece own;
    team_.agree([&] {
      if (!team_.is_first()) own = {part_->complete(), visitor.take_part()};
    });
    std::vector<PartSize> sizes;
    team_.gather(to_wire(own), [&](std::size_t rank, const std::string& bytes) {
      const Piece piece = from_wire<Piece>(bytes);
      sizes.push_back(piece.size);
      if (rank > 0) visitor.add_part(piece.written);
    });
    const std::vector<FileGap> gaps =
        broadcast(team_, team_.is_first() ? leave_gaps(*whole_, sizes) : std::vector<FileGap>());
    team_.agree([&] {
      if (!team_.is_first()) part_->copy_to(gaps.at(team_.rank()));
    });
  }

  // Writes what stands after the events, and replaces the output. `visitor` has written all files,
  // or has taken the parts of those that have.
  MergeSummary finish(WriteVisitor& visitor) {
    std::uint64_t added = 0;
    std::set<std::int64_t> unplaced;
    for (const AddedRow& row : options_.added)
      if (const auto written = visitor.add_row(row))
        added += *written;
      else
        unplaced.insert(row.rank);
    visitor.finish();
    MergeSummary summary = inputs_.summarize(visitor.written());
    summary.added = added;
    summary.unplaced = std::move(unplaced);
    std::vector<ProblemCounts> problems;
    for (const MergedFile& file : summary.files) problems.push_back(file.problems);
    const auto events_of = [&](std::size_t file, std::int64_t rank) {
      return summary.files[file].events_of(rank);
    };
    write_tail(inputs_.plan(), events_of, problems, inputs_.left_out(),
               [this](std::string_view text) { whole_->write(text); });
    whole_->complete();
    if (options_.before_replacing) options_.before_replacing(summary);
    whole_->close();
    return summary;
  }

  const MergeOptions& options_;
  Team& team_;
  MergeInputs inputs_;
  std::unique_ptr<Sink> whole_;       // on process 0
  std::unique_ptr<PartOutput> part_;  // on the others
};

// Refuses what only a single process can do.
void refuse_in_team(const MergeOptions& options) {
  if (options.plan.sort_by_time) throw UsageError("--sort does not run with --mpi yet");
  if (options.format == MergeFormat::perfetto_tar)
    throw UsageError("--format perfetto-tar does not run with --mpi yet");
  if (!options.dry_run && !is_written_aside(options.output))
    throw UsageError(fmt::format(
        "-o {}: with --mpi several processes write the output, so it must be a regular file",
        options.output));
}

}  // namespace

MergeSummary merge_traces(const MergeOptions& options) {
  Team& team = team_or_alone(options.team);
  if (!team.is_alone()) refuse_in_team(options);
  team.agree([&] { prepare_paths(options); });
  if (options.dry_run) return plan_only(options);
  if (options.format == MergeFormat::perfetto_tar) return merge_to_archive(options);
  return JsonMerge(options).run();
}

}  // namespace traceloom
