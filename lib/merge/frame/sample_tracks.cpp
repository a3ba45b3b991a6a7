#include "merge/frame/sample_tracks.h"

#include "base/json_walk.h"
#include "event/event.h"
#include "event/event_timing.h"
#include "merge/frame/top_level_values.h"

#include <algorithm>
#include <utility>

namespace traceloom {
namespace {

// Returns the pid for samples that name no process: they most likely belong to the busiest one.
std::string busiest_pid(const std::vector<TrackFacts>& tracks) {
  const auto busiest = std::max_element(
      tracks.begin(), tracks.end(),
      [](const TrackFacts& a, const TrackFacts& b) { return a.events < b.events; });
  return busiest == tracks.end() ? "" : busiest->pid;
}

}  // namespace

SampledTracks::SampledTracks(const std::vector<TrackFacts>& tracks) {
  for (const TrackFacts& track : tracks) add(track);
}

void SampledTracks::add(const TrackFacts& track) {
  const auto [found, is_new] = threads_[canonical_id(track.tid)].try_emplace(
      canonical_id(track.pid), Thread{tracks_, track.events});
  if (!is_new) found->second.events += track.events;
  ++tracks_;
}

std::optional<std::size_t> SampledTracks::find(std::string_view pid, std::string_view tid) const {
  const auto same_tid = threads_.find(canonical_id(tid));
  if (same_tid == threads_.end()) return std::nullopt;
  if (!pid.empty()) {
    const auto found = same_tid->second.find(canonical_id(pid));
    if (found == same_tid->second.end()) return std::nullopt;
    return found->second.track;
  }
  const auto busiest = std::max_element(
      same_tid->second.begin(), same_tid->second.end(),
      [](const auto& a, const auto& b) { return a.second.events < b.second.events; });
  return busiest->second.track;
}

void mark_sampled_tracks(std::string_view samples, std::vector<TrackFacts>& tracks) {
  SampledTracks known(tracks);
  const std::string usual_pid = busiest_pid(tracks);
  for_each_element(samples, [&](std::string_view sample) {
    if (!time_sample(sample)) return;
    const std::string_view pid = find_member(sample, "pid");
    const std::string_view tid = find_member(sample, "tid");
    if (const std::optional<std::size_t> track = known.find(pid, tid)) {
      tracks[*track].has_samples = true;
      return;
    }
    TrackFacts& track = tracks.emplace_back();
    track.pid = pid.empty() ? usual_pid : pid;
    track.tid = tid;
    track.has_samples = true;
    known.add(track);
  });
}

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
