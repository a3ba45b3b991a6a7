#include "merge/frame/sample_tracks.h"

#include "base/json_walk.h"
#include "event/event.h"
#include "merge/frame/top_level_values.h"

#include <algorithm>

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

}  // namespace traceloom
