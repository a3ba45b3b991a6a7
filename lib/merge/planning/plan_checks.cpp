#include "merge/planning/plan_checks.h"

#include "base/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

enum class Recorder { composer, torch, other };

Recorder recorder_of(const FileSurvey& survey) {
  if (!survey.evidence.rank_marks.empty()) return Recorder::composer;
  return survey.evidence.is_torch ? Recorder::torch : Recorder::other;
}

using Tracks = std::set<std::pair<std::string, std::string>>;

// A file of one rank on the common clock.
struct Presence {
  std::size_t file;
  Recorder recorder;
  bool has_clock;
  bool says_rank;  // the file itself says it, and its recorder writes one file at a time
  CommonTimes starts;
  CommonTimes ends;
  std::uint64_t events;
  Tracks tracks;  // pid and tid
};

Tracks tracks_of(const FileSurvey& survey) {
  Tracks tracks;
  for (const TrackFacts& track : survey.tracks)
    if (track.events > 0) tracks.emplace(canonical_id(track.pid), canonical_id(track.tid));
  return tracks;
}

template <typename T>
bool share_one(const std::set<T>& a, const std::set<T>& b) {
  return std::any_of(a.begin(), a.end(), [&](const T& one) { return b.contains(one); });
}

std::set<std::string> source_pids(const Tracks& tracks) {
  std::set<std::string> pids;
  for (const auto& [pid, tid] : tracks) pids.insert(pid);
  return pids;
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
         (a.recorder == Recorder::torch || share_one(source_pids(a.tracks), source_pids(b.tracks)));
}

bool are_duplicates(const Presence& a, const Presence& b) {
  return a.recorder == b.recorder && are_at_the_same_time(a, b) &&
         (claim_one_rank(a, b) || share_one(a.tracks, b.tracks));
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

Presence presence_of(std::size_t file, const FileSurvey& survey, const FileRank& rank,
                     const FileClock& clock) {
  const std::optional<std::int64_t> opened_ns = survey.evidence.recorder.opened_ns();
  return {file,
          recorder_of(survey),
          clock.method != ClockMethod::none,
          says_rank(rank, survey.evidence),
          since(opened_ns, common_times(survey.starts, clock.times), clock.times),
          common_times(survey.end_times, clock.times),
          survey.events,
          tracks_of(survey)};
}

std::string refusal(std::int64_t rank, const Presence& one, const Presence& other,
                    const std::vector<Input>& inputs) {
  return fmt::format(
      "rank {} {} at the same time in {}; leave one of the two out, or say whose it is with "
      "RANK={}",
      rank, share_one(one.tracks, other.tracks) ? "has the same threads" : "has other threads",
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

// Returns files of a rank in the order of the inputs: the first one that has a twin, and all files
// that are duplicates of those already found.
std::vector<const Presence*> find_clash(const std::vector<Presence>& files) {
  const auto have_twin = [](const auto& others, const Presence& file) {
    return std::ranges::any_of(others, [&file](const Presence* other) {
      return other != &file && are_duplicates(*other, file);
    });
  };
  std::vector<const Presence*> all;
  all.reserve(files.size());
  for (const Presence& file : files) all.push_back(&file);
  std::vector<const Presence*> clash;
  for (const Presence& file : files)
    if (have_twin(clash.empty() ? all : clash, file)) clash.push_back(&file);
  return clash;
}

[[noreturn]] void refuse(std::int64_t rank, const std::vector<const Presence*>& clash,
                         const std::vector<Input>& inputs) {
  const Presence& first = *clash[0];
  const bool all_claim = std::ranges::all_of(
      clash, [&](const Presence* file) { return claim_one_rank(first, *file); });
  if (clash.size() == 2 || !all_claim)
    throw Error(inputs[clash[1]->file].path, refusal(rank, *clash[1], first, inputs));
  throw Error(
      inputs[first.file].path,
      fmt::format("{} files say that they are of rank {}, and all are of the same time: {}; say "
                  "whose each is with RANK=path, and set the rank of each process where they are "
                  "recorded (RANK in its environment, or the recorder's option)",
                  clash.size(), rank, list_of(clash, inputs)));
}

}  // namespace

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

void refuse_duplicates(const std::vector<Input>& inputs, const std::vector<FileSurvey>& surveys,
                       const std::vector<FileRank>& ranks, const ClockPlan& clocks) {
  const auto is_of_one_rank = [&](std::size_t file) {
    return !surveys[file].starts.empty() && !surveys[file].evidence.was_merged();
  };
  std::map<std::int64_t, std::size_t> files_with;  // key: rank
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (is_of_one_rank(i)) ++files_with[ranks[i].rank];
  std::map<std::int64_t, std::vector<Presence>> files_of_rank;
  std::optional<std::int64_t> refused;  // all of this rank's files are named in the error
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::int64_t rank = ranks[i].rank;
    if (!is_of_one_rank(i) || files_with[rank] < 2) continue;
    Presence file = presence_of(i, surveys[i], ranks[i], clocks.clocks[i]);
    std::vector<Presence>& others = files_of_rank[rank];
    const auto twin = std::ranges::find_if(
        others, [&](const Presence& other) { return are_duplicates(other, file); });
    if (twin != others.end() && !refused) refused = rank;
    others.push_back(std::move(file));
  }
  if (refused) refuse(*refused, find_clash(files_of_rank[*refused]), inputs);
}

}  // namespace traceloom
