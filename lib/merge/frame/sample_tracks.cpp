#include "merge/frame/sample_tracks.h"

#include "base/json_walk.h"
#include "event/event.h"
#include "event/trace_time.h"
#include "merge/frame/top_level_rules.h"

#include <optional>
#include <utility>

namespace traceloom {

const TrackTarget* SampleTracks::find(std::string_view pid, std::string_view tid) const {
  const std::optional<std::size_t> track = known_.find(pid, tid);
  if (!track) return nullptr;
  std::string scratch;
  return plan_.tracks.target(file_, tracks_[*track].pid, tracks_[*track].tid, scratch);
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
