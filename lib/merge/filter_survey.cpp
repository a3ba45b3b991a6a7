#include "merge/filter_survey.h"

#include "event/event_timing.h"
#include "merge/gpu_rows.h"
#include "merge/id_keys.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace traceloom {

struct FilterSurveyVisitor::Chunk : ChunkResult {
  std::unique_ptr<ChunkResult> survey;
  FilterFacts facts;
  ProblemCounts ignored;  // counted where events are written, not here
  std::string scratch;
  GpuRowFinder gpu_rows;

  // pid, '\0', tid, and '\0' and the GPU of an event that would be on its row.
  void add_flow(const Event& event, std::int64_t ns, const std::optional<std::string>& gpu) {
    scratch.assign(event.text(Key::pid));
    scratch.push_back('\0');
    scratch.append(event.text(Key::tid));
    if (gpu) scratch.append(1, '\0').append(*gpu);
    facts.places.push_back({ns, facts.tracks.intern(scratch), binds_to_next_slice(event)});
  }
};

const TrackTarget* find_flow_track(const TrackPlan& plan, std::size_t file, std::string_view text,
                                   std::string& scratch) {
  const std::size_t pid_end = text.find('\0');
  const std::size_t tid_end = std::min(text.find('\0', pid_end + 1), text.size());
  const std::string_view pid = text.substr(0, pid_end);
  const std::string_view tid = text.substr(pid_end + 1, tid_end - pid_end - 1);
  if (tid_end < text.size() && plan.has_gpu_tracks(file))
    if (const TrackTarget* const target =
            plan.gpu_target(file, pid, tid, text.substr(tid_end + 1), scratch))
      return target;
  return plan.target(file, pid, tid, scratch);
}

std::unique_ptr<ChunkResult> FilterSurveyVisitor::make_result() {
  auto chunk = std::make_unique<Chunk>();
  chunk->survey = survey_.make_result();
  return chunk;
}

void FilterSurveyVisitor::visit(ChunkResult& result, std::size_t file, const Event& event) {
  Chunk& chunk = static_cast<Chunk&>(result);
  survey_.visit(*chunk.survey, file, event);
  const bool is_flow = is_flow_phase(event.phase);
  std::optional<std::string> gpu;
  if (is_flow || event.phase == 'X') gpu = chunk.gpu_rows.find(event);
  if (!is_flow && !looks_for_steps_) return;
  const EventTiming timing = time_event(event, chunk.ignored);
  if (!timing.timed) return;
  if (is_flow) return chunk.add_flow(event, timing.start_ns, gpu);
  chunk.facts.steps.add(event, timing.start_ns, timing.duration_ns);
}

void FilterSurveyVisitor::take(ChunkResult& result, std::size_t file) {
  Chunk& chunk = static_cast<Chunk&>(result);
  survey_.take(*chunk.survey, file);
  FilterFacts& facts = facts_[file];
  facts.steps.append(chunk.facts.steps);
  std::vector<std::uint32_t> tracks;
  for (std::uint32_t i = 0; i < chunk.facts.tracks.size(); ++i)
    tracks.push_back(facts.tracks.intern(chunk.facts.tracks[i]));
  for (FlowPlace place : chunk.facts.places) {
    place.row = tracks[place.row];
    facts.places.push_back(place);
  }
}

void FilterSurveyVisitor::end_file(std::size_t file, const FileEnd& end) {
  survey_.end_file(file, end);
  std::vector<FlowPlace>& places = facts_[file].places;
  std::sort(places.begin(), places.end(), [](const FlowPlace& a, const FlowPlace& b) {
    return std::tie(a.row, a.ns, a.binds_next) < std::tie(b.row, b.ns, b.binds_next);
  });
  places.erase(std::unique(places.begin(), places.end()), places.end());
  places.shrink_to_fit();
}

void FilterSurveyVisitor::fail_file(std::size_t file, const Error& error) {
  survey_.fail_file(file, error);
  facts_[file] = {};
}

}  // namespace traceloom
