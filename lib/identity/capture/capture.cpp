#include "identity/capture/capture.h"

#include "base/units.h"
#include "identity/repeats/repeats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace traceloom {
namespace {

void mark_repeats(const std::vector<Input>& inputs, const std::vector<FileReading*>& readings) {
  std::vector<InputReading> readable;
  std::vector<FileReading*> read;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (!readings[i]->error.empty()) continue;
    readable.push_back({inputs[i], *readings[i]});
    read.push_back(readings[i]);
  }
  for (const Repeat& repeat : find_repeats(readable)) {
    read[repeat.file]->is_repeat = true;
    read[repeat.file]->problems = repeat.problems();
  }
}

void note_merged_ranks(const std::set<std::string>& merged, FileRank& rank) {
  if (merged.size() < 2) return;
  rank.problems.add(Problem::merged_elsewhere, 0, 1,
                    fmt::format("its processes are of {} to {}, and all count as rank {}",
                                *merged.begin(), *merged.rbegin(), rank.rank));
}

std::int64_t first_rank(const FileFacts& file) {
  if (file.rank) return *file.rank;
  return file.ranks.empty() ? std::numeric_limits<std::int64_t>::max() : file.ranks.front();
}

enum class Recorder { composer, torch, other };

Recorder recorder_of(const FileReading& reading) {
  if (!reading.evidence.rank_marks.empty()) return Recorder::composer;
  return reading.evidence.is_torch ? Recorder::torch : Recorder::other;
}

using Ids = std::vector<std::uint64_t>;  // ascend

// A file of one rank on the common clock.
struct Presence {
  std::size_t file;
  Recorder recorder;
  bool has_clock;
  bool says_rank;  // the file itself says it, and its recorder writes one file at a time
  CommonTimes starts;
  CommonTimes ends;
  std::uint64_t events;
  Ids threads;
  Ids processes;
};

Ids sorted_ids(const FileReading& reading, std::uint64_t ThreadTally::*id) {
  Ids ids;
  for (const ThreadTally& thread : reading.evidence.threads.all)
    if (thread.pid != 0) ids.push_back(thread.*id);
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// The processes that all of torch's files have: devices, which are called by their numbers, and
// rows of the profiler.
Ids shared_processes() {
  Ids shared{hash_of_id("\"Spans\""), hash_of_id("\"Traces\""), hash_of_id("\"\""), hash_of_id("")};
  for (int device = 0; device < 64; ++device) shared.push_back(hash_of_id(std::to_string(device)));
  std::ranges::sort(shared);
  return shared;
}

Ids own_processes(const Ids& processes) {
  static const Ids shared = shared_processes();
  Ids own;
  std::ranges::set_difference(processes, shared, std::back_inserter(own));
  return own;
}

bool share(const Ids& a, const Ids& b) {
  auto one = a.begin();
  auto other = b.begin();
  while (one != a.end() && other != b.end() && *one != *other) ++(*one < *other ? one : other);
  return one != a.end() && other != b.end();
}

bool overlap(const CommonTimes& a, const CommonTimes& b) {
  return std::max(a.first_ns, b.first_ns) < std::min(a.last_ns, b.last_ns);
}

// When recorders rotate files, an event still running at the rotation is written to the next file,
// so that file may start before the rotation. Events that ended before and after the rotation are
// in two files, so the ends do not overlap, and the files are no duplicates. Our recorder says when
// it began a file, and everything in the file before was earlier.
bool are_at_the_same_time(const Presence& a, const Presence& b) {
  const bool is_same = a.starts == b.starts && a.events == b.events;
  if (!a.has_clock || !b.has_clock) return is_same;
  return is_same || (overlap(a.starts, b.starts) && overlap(a.ends, b.ends));
}

// True for files of two jobs, or of two replicas of a model. A pid in Composer's files is the rank,
// and its workers may have pids of their own; torch.profiler runs in the process that is the rank.
bool claim_one_rank(const Presence& a, const Presence& b) {
  return a.says_rank && b.says_rank &&
         (a.recorder == Recorder::torch || share(a.processes, b.processes));
}

bool are_duplicates(const Presence& a, const Presence& b) {
  return a.recorder == b.recorder && are_at_the_same_time(a, b) &&
         (claim_one_rank(a, b) || share(a.threads, b.threads));
}

// Returns whether the file is from the rank's own process: there may be many other processes at a
// time.
bool says_rank(const FileRank& rank, const FileEvidence& evidence) {
  return !evidence.is_beside_rank &&
         (rank.source == RankSource::metadata_event || rank.source == RankSource::distributed_info);
}

CommonTimes since(std::optional<std::int64_t> opened_ns, CommonTimes times, const TimeMap& map) {
  if (opened_ns) times.first_ns = std::max(times.first_ns, map.mapped_or_same(*opened_ns));
  return times;
}

// An event that has no place on the time line may end before the first of the others starts.
CommonTimes common_ends(const FileReading& reading, const TimeMap& map) {
  CommonTimes ends;
  for (const CommonTimes& kind : {reading.ends.relative, reading.ends.unix_time})
    if (kind != CommonTimes{})
      ends.add({map.mapped_or_same(kind.first_ns), map.mapped_or_same(kind.last_ns)});
  ends.first_ns = std::max(ends.first_ns, common_times(reading.starts, map).first_ns);
  return ends;
}

Presence presence_of(std::size_t file, const FileReading& reading, const FileRank& rank,
                     const FileClock& clock) {
  const std::optional<std::int64_t> opened_ns = reading.evidence.recorder.opened_ns();
  return {file,
          recorder_of(reading),
          clock.method != ClockMethod::none,
          says_rank(rank, reading.evidence),
          since(opened_ns, common_times(reading.starts, clock.times), clock.times),
          common_ends(reading, clock.times),
          reading.evidence.tally.events,
          sorted_ids(reading, &ThreadTally::id),
          sorted_ids(reading, &ThreadTally::pid)};
}

std::string refusal(std::int64_t rank, const Presence& one, const Presence& other,
                    const std::vector<Input>& inputs) {
  return fmt::format(
      "rank {} {} at the same time in {}; leave one of the two out, or say whose it is with "
      "RANK={}",
      rank, share(one.threads, other.threads) ? "has the same threads" : "has other threads",
      inputs[other.file].path, inputs[one.file].path);
}

std::string list_of(const std::vector<const Presence*>& files, const std::vector<Input>& inputs) {
  constexpr std::size_t kMostNames = 8;
  std::string list;
  const std::size_t shown = std::min(files.size(), kMostNames);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) list += i + 1 == files.size() ? " and " : ", ";
    list += inputs[files[i]->file].path;
  }
  if (shown < files.size()) list += fmt::format(" and {} more", files.size() - shown);
  return list;
}

std::vector<const Presence*> by_time(const std::vector<Presence>& files) {
  std::vector<const Presence*> sorted;
  sorted.reserve(files.size());
  for (const Presence& file : files) sorted.push_back(&file);
  std::ranges::stable_sort(sorted, {}, [](const Presence* file) { return file->starts.first_ns; });
  return sorted;
}

// Returns files of a rank in the order of the inputs: the first one that has a twin, and all files
// that are duplicates of those already found.
std::vector<const Presence*> find_clash(const std::vector<Presence>& files) {
  const auto have_twin = [](const auto& others, const Presence& file) {
    return std::ranges::any_of(others, [&file](const Presence* other) {
      return other != &file && are_duplicates(*other, file);
    });
  };
  const std::vector<const Presence*> all = by_time(files);
  std::vector<const Presence*> clash;
  for (const Presence& file : files)
    if (have_twin(clash.empty() ? all : clash, file)) clash.push_back(&file);
  return clash;
}

Error refusal_of(std::int64_t rank, const std::vector<const Presence*>& clash,
                 const std::vector<Input>& inputs) {
  const Presence& first = *clash[0];
  const bool all_claim = std::ranges::all_of(
      clash, [&](const Presence* file) { return claim_one_rank(first, *file); });
  if (clash.size() == 2 || !all_claim)
    return {inputs[clash[1]->file].path, refusal(rank, *clash[1], first, inputs)};
  return {inputs[first.file].path,
          fmt::format("{} files say that they are of rank {}, and all are of the same time: {}; "
                      "say whose each is with RANK=path, and set the rank of each process where "
                      "they are recorded (RANK in its environment, or the recorder's option)",
                      clash.size(), rank, list_of(clash, inputs))};
}

// Whether some file is a duplicate of an earlier one. `files` are sorted by their first times, so
// that each is compared only with those that have not ended: cycles follow each other.
bool have_duplicates(const std::vector<const Presence*>& files) {
  std::vector<const Presence*> open;
  for (const Presence* file : files) {
    std::erase_if(
        open, [&](const Presence* other) { return other->starts.last_ns < file->starts.first_ns; });
    if (std::ranges::any_of(open,
                            [&](const Presence* other) { return are_duplicates(*other, *file); }))
      return true;
    open.push_back(file);
  }
  return false;
}

// The files of each rank that has several of its own, in the order of the inputs.
std::map<std::int64_t, std::vector<Presence>> files_of_ranks(
    const std::vector<FileReading*>& readings, const RunInputs& settled) {
  std::map<std::int64_t, std::vector<std::size_t>> numbers;
  for (std::size_t i = 0; i < readings.size(); ++i)
    if (readings[i]->counts() && !readings[i]->starts.empty() &&
        !readings[i]->evidence.was_merged())
      numbers[settled.ranks[i].rank].push_back(i);
  std::map<std::int64_t, std::vector<Presence>> files;
  for (const auto& [rank, of_rank] : numbers)
    if (of_rank.size() > 1)
      for (const std::size_t i : of_rank)
        files[rank].push_back(
            presence_of(i, *readings[i], settled.ranks[i], settled.clocks.clocks[i]));
  return files;
}

// Returns whether files of the rank are of several runs. `files` are sorted by their first times.
bool note_runs(std::int64_t rank, const std::vector<const Presence*>& files,
               const std::vector<Input>& inputs, const std::vector<FileReading*>& readings) {
  const Presence* last = nullptr;
  bool are_several = false;
  for (const Presence* file : files) {
    if (file->recorder != Recorder::torch || !file->has_clock) continue;
    const Presence* const before = std::exchange(last, file);
    if (before == nullptr || before->starts.last_ns >= file->starts.first_ns) continue;
    const Ids processes = own_processes(file->processes);
    const Ids earlier = own_processes(before->processes);
    if (processes.empty() || earlier.empty() || share(processes, earlier)) continue;
    readings[file->file]->problems.add(
        Problem::several_runs, 0, 1,
        fmt::format("rank {} is also in {}, {} before and by another process", rank,
                    inputs[before->file].path,
                    format_duration(file->starts.first_ns - before->starts.last_ns)));
    are_several = true;
  }
  return are_several;
}

// Looks at ranks with several files:
// - Files that claim one rank at one time and are no repeats: the rank of one is wrong, or they are
//   of independent processes. Throws Error with their names and what to do, for the first of the
//   inputs; with `lists_clashes` counts Problem::same_rank_at_once for all instead. Two recorders
//   of one process (Composer and torch) belong together, and so do cycles, which follow each other.
// - Files of torch that follow each other and are of different processes: they are of different
//   runs, since windows of one run are of one process. Counts Problem::several_runs for the first
//   file of each run but the earliest, of the lowest such rank.
void check_files_of_ranks(const std::vector<Input>& inputs,
                          const std::vector<FileReading*>& readings, const RunInputs& settled,
                          bool lists_clashes) {
  struct Clash {
    std::vector<const Presence*> files;
    Error error;
  };
  const auto files_of = files_of_ranks(readings, settled);
  std::vector<Clash> clashes;
  bool are_several = false;  // The other ranks have the same runs.
  for (const auto& [rank, files] : files_of) {
    const std::vector<const Presence*> sorted = by_time(files);
    are_several = are_several || note_runs(rank, sorted, inputs, readings);
    if (!have_duplicates(sorted)) continue;
    std::vector<const Presence*> clash = find_clash(files);
    Error error = refusal_of(rank, clash, inputs);
    clashes.push_back({std::move(clash), std::move(error)});
  }
  if (clashes.empty()) return;
  if (!lists_clashes)
    throw std::ranges::min_element(clashes, {}, [](const Clash& clash) {
      return clash.files[1]->file;
    })->error;
  for (const Clash& clash : clashes)
    for (const Presence* presence : clash.files)
      readings[presence->file]->problems.add(Problem::same_rank_at_once, 0, 1, clash.error.what());
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
  std::vector<InputReading> files;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (!readings[i]->counts()) continue;
    counted.push_back(i);
    files.push_back({inputs[i], *readings[i]});
  }
  std::vector<FileRank> ranks = assign_ranks(files);
  RunInputs capture{std::vector<FileRank>(readings.size()),
                    plan_clocks(files, ranks, options.clock)};
  const std::vector<ClockFacts> facts = std::move(capture.clocks.facts);
  const std::vector<FileClock> placed = std::move(capture.clocks.clocks);
  capture.clocks.facts.assign(readings.size(), ClockFacts{});
  capture.clocks.clocks.assign(readings.size(), FileClock{});
  for (std::size_t i = 0; i < counted.size(); ++i) {
    note_merged_ranks(files[i].reading.evidence.threads.merged_ranks, ranks[i]);
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
