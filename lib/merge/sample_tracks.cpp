#include "merge/sample_tracks.h"

#include "base/json_walk.h"
#include "event/event.h"
#include "event/trace_time.h"
#include "merge/top_level_rules.h"

#include <algorithm>

namespace traceloom {

SampleTracks::SampleTracks(const MergePlan& plan, const std::vector<FileSurvey>& surveys,
                           std::size_t file) {
  std::string scratch;
  for (const TrackFacts& track : surveys[file].tracks) {
    const TrackTarget* const target = plan.tracks.target(file, track.pid, track.tid, scratch);
    Thread& thread = threads_[canonical_id(track.tid)][canonical_id(track.pid)];
    thread.events += track.events;
    if (thread.target == nullptr) thread.target = target;
  }
}

const TrackTarget* SampleTracks::find(std::string_view pid, std::string_view tid) const {
  const auto same_tid = threads_.find(canonical_id(tid));
  if (same_tid == threads_.end()) return nullptr;
  if (!pid.empty()) {
    const auto found = same_tid->second.find(canonical_id(pid));
    return found == same_tid->second.end() ? nullptr : found->second.target;
  }
  const auto busiest = std::max_element(
      same_tid->second.begin(), same_tid->second.end(),
      [](const auto& a, const auto& b) { return a.second.events < b.second.events; });
  return busiest->second.target;
}

bool writes_sample(std::string_view sample, const MergePlan& plan, std::size_t file,
                   const SampleTracks& tracks) {
  const FilePlan& of_file = plan.files[file];
  const TrackTarget* const track =
      tracks.find(find_member(sample, "pid"), find_member(sample, "tid"));
  if (!plan.writes(track != nullptr ? track->rank : of_file.rank.rank)) return false;
  std::int64_t ns = 0;
  return !plan.filter || track == nullptr ||
         !of_file.times.map(time_sample(sample).value_or(0), ns) ||
         plan.filter->is_in_time(*track, ns);
}

void append_sample(std::string& out, std::string_view sample, const FilePlan& file,
                   const SampleTracks& tracks) {
  const std::string_view pid = find_member(sample, "pid");
  const TrackTarget* const track = tracks.find(pid, find_member(sample, "tid"));
  char separator = '{';
  const auto append = [&](std::string_view key, std::string_view value) {
    out += std::exchange(separator, ',');
    out += '"';
    out += key;
    out += "\":";
    out += value;
  };
  for_each_member(sample, [&](std::string_view key, std::string_view value) {
    if (key == "ts") {
      append(key, {});
      std::int64_t ns = 0;
      if (!file.times.map(time_sample(sample).value_or(0), ns)) ns = 0;
      append_microseconds(out, ns);
    } else if (key == "sf" && value != "null") {
      append(key, {});
      file.frames.append_to(out, value);
    } else if (key == "tid" && track != nullptr) {
      append(key, track->tid);
    } else if (key == "pid" && track != nullptr) {
      append(key, track->pid);
    } else {
      append(key, value);
    }
  });
  if (pid.empty()) append("pid", track != nullptr ? track->pid : std::to_string(file.rank.rank));
  out += '}';
}

}  // namespace traceloom
