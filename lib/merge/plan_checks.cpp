#include "merge/plan_checks.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace traceloom {
namespace {

enum class Recorder { composer, torch, other };

Recorder recorder_of(const FileSurvey& survey) {
  if (!survey.evidence.rank_marks.empty()) return Recorder::composer;
  return survey.evidence.is_torch ? Recorder::torch : Recorder::other;
}

using Tracks = std::set<std::pair<std::string, std::string>>;

Tracks tracks_of(const FileSurvey& survey) {
  Tracks tracks;
  for (const TrackFacts& track : survey.tracks)
    if (track.events > 0) tracks.emplace(canonical_id(track.pid), canonical_id(track.tid));
  return tracks;
}

bool share_one(const Tracks& a, const Tracks& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& track) { return b.contains(track); });
}

// A file on the common clock.
struct Presence {
  std::size_t file;
  Recorder recorder;
  bool has_clock;
  CommonTimes times;
  const FileSurvey* survey;
};

bool are_at_the_same_time(const Presence& a, const Presence& b) {
  const bool is_same = a.times.first_ns == b.times.first_ns && a.times.last_ns == b.times.last_ns &&
                       a.survey->events == b.survey->events;
  if (!a.has_clock || !b.has_clock) return is_same;
  return is_same ||
         std::max(a.times.first_ns, b.times.first_ns) < std::min(a.times.last_ns, b.times.last_ns);
}

bool are_duplicates(const Presence& a, const Presence& b) {
  return a.recorder == b.recorder && are_at_the_same_time(a, b) &&
         share_one(tracks_of(*a.survey), tracks_of(*b.survey));
}

}  // namespace

void refuse_unknown_clocks(const std::vector<Input>& inputs, const std::vector<FileSurvey>& surveys,
                           const std::vector<FileRank>& ranks, const ClockPlan& clocks) {
  const auto is_known = [](const FileClock& clock) { return clock.method != ClockMethod::none; };
  if (std::none_of(clocks.clocks.begin(), clocks.clocks.end(), is_known)) return;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!is_known(clocks.clocks[i]) && !surveys[i].starts.empty())
      throw Error(
          inputs[i].path,
          fmt::format("rank {0} has no clock sync and no base time, while other files have; "
                      "give --offset {0}=0 (or what its clock is behind) to place it, or "
                      "--align none to leave all times as they are",
                      ranks[i].rank));
}

void refuse_duplicates(const std::vector<Input>& inputs, const std::vector<FileSurvey>& surveys,
                       const std::vector<FileRank>& ranks, const ClockPlan& clocks) {
  std::map<std::int64_t, std::vector<Presence>> files_of_rank;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (ranks[i].is_merged() || surveys[i].starts.empty()) continue;
    const Presence file{i, recorder_of(surveys[i]), clocks.clocks[i].method != ClockMethod::none,
                        common_times(surveys[i].starts, clocks.clocks[i].times), &surveys[i]};
    std::vector<Presence>& others = files_of_rank[ranks[i].rank];
    const auto twin = std::find_if(others.begin(), others.end(), [&](const Presence& other) {
      return are_duplicates(other, file);
    });
    if (twin != others.end())
      throw Error(inputs[i].path,
                  fmt::format("rank {} has the same threads at the same time in {}; leave one of "
                              "the two out, or say whose it is with RANK={}",
                              ranks[i].rank, inputs[twin->file].path, inputs[i].path));
    others.push_back(file);
  }
}

}  // namespace traceloom
