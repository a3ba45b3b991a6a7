#include "merge/team_merge.h"

#include "base/problems.h"
#include "merge/frame/frame.h"
#include "output/file_sink.h"
#include "team/wire.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
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

namespace {

// A process other than the first has written this.
struct Piece {
  PartSize size;
  WrittenPart written;

  auto wired() { return std::tie(size, written); }
};

class TeamMerge {
 public:
  explicit TeamMerge(const MergeOptions& options)
      : options_(options), team_(*options.team), inputs_(options) {}

  MergeSummary run() {
    team_.agree([this] { open_output(); });
    inputs_.survey();
    if (!inputs_.select()) return inputs_.nothing_left();
    std::optional<WriteVisitor> visitor;
    team_.agree([&] { write_files(visitor.emplace(inputs_.plan(), output(), inputs_.memory())); });
    join_pieces(*visitor);
    return team_.is_first() ? write_end(options_, inputs_, *visitor, output()) : MergeSummary();
  }

 private:
  void open_output() {
    if (team_.is_first())
      whole_ = std::make_unique<MergeOutput>(options_.output, options_.level);
    else
      part_ = std::make_unique<PartOutput>(options_.output, options_.level);
  }

  MergeOutput& output() { return team_.is_first() ? *whole_ : part_->output(); }

  void write_files(WriteVisitor& visitor) {
    if (team_.is_first()) visitor.write_head(inputs_.surveys());
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

  const MergeOptions& options_;
  Team& team_;
  MergeInputs inputs_;
  std::unique_ptr<MergeOutput> whole_;  // on process 0
  std::unique_ptr<PartOutput> part_;    // on the others
};

}  // namespace

void refuse_in_team(const MergeOptions& options) {
  if (options.plan.sort_by_time) throw UsageError("--sort does not run with --mpi yet");
  if (options.format == MergeFormat::perfetto_tar)
    throw UsageError("--format perfetto-tar does not run with --mpi yet");
  if (!options.dry_run && !is_written_aside(options.output))
    throw UsageError(fmt::format(
        "-o {}: with --mpi several processes write the output, so it must be a regular file",
        options.output));
}

MergeSummary merge_in_team(const MergeOptions& options) {
  return TeamMerge(options).run();
}

}  // namespace traceloom
