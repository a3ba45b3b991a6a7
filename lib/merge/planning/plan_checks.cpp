#include "merge/planning/plan_checks.h"

#include "base/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace traceloom {

void refuse_unknown_clocks(const std::vector<Input>& inputs, const std::vector<FileSurvey>& surveys,
                           const std::vector<FileRank>& ranks, const ClockPlan& clocks) {
  bool any_given = false;
  bool any_clock = false;
  for (const FileClock& clock : clocks.clocks) {
    const bool is_given = clock.method == ClockMethod::given;
    any_given = any_given || is_given;
    any_clock = any_clock || (clock.is_known && !is_given);
  }
  // A file that was merged without a clock keeps the times of its merge next to files that --offset
  // placed.
  const auto is_unknown = [&](const FileClock& clock) {
    return !clock.is_known && (any_clock || (any_given && clock.method == ClockMethod::none));
  };
  const auto is_known_by_another_file = [&](std::int64_t rank) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (ranks[i].rank == rank && !is_unknown(clocks.clocks[i])) return true;
    return false;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_unknown(clocks.clocks[i]) || surveys[i].starts.empty()) continue;
    const std::int64_t rank = ranks[i].rank;
    if (is_known_by_another_file(rank))
      throw Error(inputs[i].path,
                  fmt::format("its times do not say when they began, while those of other files "
                              "of rank {} do; leave it out, or give --align none to leave all "
                              "times as they are",
                              rank));
    throw Error(inputs[i].path,
                fmt::format("rank {0} has no clock sync and no base time, while other files have; "
                            "give --offset {0}=0 (or what its clock is behind) to place it, or "
                            "--align none to leave all times as they are",
                            rank));
  }
}

void refuse_vain_options(const std::vector<Input>& inputs, const std::vector<FileRank>& ranks,
                         const TrackPlan& tracks, const ClockPlan& clocks,
                         const ClockOptions& options) {
  for (const auto& [rank, offset_ns] : options.offsets) {
    const auto is_of = [rank = rank](const FileRank& file) { return file.rank == rank; };
    if (std::any_of(ranks.begin(), ranks.end(), is_of)) continue;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (const std::vector<std::int64_t>& in_file = tracks.ranks_of(i);
          std::binary_search(in_file.begin(), in_file.end(), rank))
        throw UsageError(fmt::format(
            "--offset {0}: rank {0} is in {1}, a merged file whose ranks are aligned already; it "
            "moves as a whole, with --offset {2}=TIME",
            rank, inputs[i].path, ranks[i].rank));
    throw UsageError(fmt::format("--offset {0}: no input belongs to rank {0}", rank));
  }
  const bool has_clock =
      std::any_of(clocks.clocks.begin(), clocks.clocks.end(), [](const FileClock& clock) {
        return clock.method != ClockMethod::none && clock.method != ClockMethod::merged;
      });
  if (options.align_by == AlignBy::sync && !has_clock)
    throw UsageError(
        "--align sync: no input has a clock sync; leave --align out, or give base or none");
}

}  // namespace traceloom
