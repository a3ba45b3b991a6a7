#include "identity/capture/capture.h"

#include "identity/capture/clashes.h"
#include "identity/repeats/repeats.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace traceloom {
namespace {

void mark_repeats(const std::vector<Input>& inputs, const std::vector<FileReading*>& readings) {
  std::vector<InputEvidence> readable;
  std::vector<FileReading*> read;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (!readings[i]->error.empty()) continue;
    readable.push_back({inputs[i], readings[i]->evidence});
    read.push_back(readings[i]);
  }
  for (const Repeat& repeat : find_repeats(readable)) {
    read[repeat.file]->is_repeat = true;
    read[repeat.file]->problems = repeat.problems();
  }
}

void note_merged_ranks(const std::set<std::string>& merged, FileRank& rank) {
  if (merged.size() < 2) return;
  rank.problems.add(Problem::merged_elsewhere, 0);
  rank.problems.explain(Problem::merged_elsewhere,
                        fmt::format("its processes are of {} to {}, and all count as rank {}",
                                    *merged.begin(), *merged.rbegin(), rank.rank));
}

std::int64_t first_rank(const FileFacts& file) {
  if (file.rank) return *file.rank;
  return file.ranks.empty() ? std::numeric_limits<std::int64_t>::max() : file.ranks.front();
}

}  // namespace

RunInputs settle(const std::vector<Input>& inputs, const std::vector<FileReading*>& readings,
                 const SettleOptions& options) {
  mark_repeats(inputs, readings);
  return settle_samples(inputs, readings, options);
}

RunInputs settle_samples(const std::vector<Input>& inputs,
                         const std::vector<FileReading*>& readings, const SettleOptions& options) {
  std::vector<std::size_t> counted;
  std::vector<Input> paths;
  std::vector<FileEvidence> evidence;
  std::vector<StartTimes> starts;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (!readings[i]->counts()) continue;
    counted.push_back(i);
    paths.push_back(inputs[i]);
    // Collectives take up to 1.5 MB a file: they are lent, not copied.
    evidence.push_back(std::move(readings[i]->evidence));
    starts.push_back(readings[i]->starts);
  }
  std::vector<FileRank> ranks = assign_ranks(paths, evidence);
  ClockPlan clocks = plan_clocks(paths, evidence, ranks, starts, options.clock);
  RunInputs capture{std::vector<FileRank>(readings.size()), std::move(clocks)};
  const std::vector<ClockFacts> facts = std::move(capture.clocks.facts);
  const std::vector<FileClock> placed = std::move(capture.clocks.clocks);
  capture.clocks.facts.assign(readings.size(), ClockFacts{});
  capture.clocks.clocks.assign(readings.size(), FileClock{});
  for (std::size_t i = 0; i < counted.size(); ++i) {
    note_merged_ranks(evidence[i].threads.merged_ranks, ranks[i]);
    readings[counted[i]]->evidence = std::move(evidence[i]);
    capture.ranks[counted[i]] = std::move(ranks[i]);
    capture.clocks.facts[counted[i]] = facts[i];
    capture.clocks.clocks[counted[i]] = placed[i];
  }
  check_files_of_ranks(inputs, readings, capture, options.lists_clashes);
  return capture;
}

bool is_reported_before(const FileFacts& a, const FileFacts& b) {
  if (a.error.empty() != b.error.empty()) return a.error.empty();
  if (first_rank(a) != first_rank(b)) return first_rank(a) < first_rank(b);
  return natural_less(a.path, b.path);
}

}  // namespace traceloom
