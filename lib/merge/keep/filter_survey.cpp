#include "merge/keep/filter_survey.h"

#include "event/event_timing.h"
#include "merge/ids/id_keys.h"
#include "merge/rows/gpu_rows.h"
#include "merge/rows/track_key.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace traceloom {

struct FilterSurveyVisitor::Chunk : ChunkResult {
  std::unique_ptr<ChunkResult> survey;
  FilterFacts facts;
  ProblemCounts ignored;  // counted where events are written, not here
  std::string scratch;
  GpuRowFinder gpu_rows;

  void add_flow(const Event& event, std::int64_t ns, std::optional<std::string_view> gpu) {
    track_key(event.text(Key::pid), event.text(Key::tid), scratch);
    if (gpu) add_gpu(scratch, *gpu);
    const std::uint32_t row = facts.tracks.intern(scratch);
    facts.places.push_back({ns, row, false});
    // If the end has no start, it is bound to the slice around it, which is not known yet
    // (flow_starts.h).
    if (binds_to_next_slice(event)) facts.places.push_back({ns, row, true});
  }
};

std::unique_ptr<ChunkResult> FilterSurveyVisitor::make_result() {
  auto chunk = std::make_unique<Chunk>();
  chunk->survey = survey_.make_result();
  return chunk;
}

void FilterSurveyVisitor::visit(ChunkResult& result, std::size_t file, const Event& event) {
  Chunk& chunk = static_cast<Chunk&>(result);
  survey_.visit(*chunk.survey, file, event);
  const bool is_flow = is_flow_phase(event.phase);
  std::optional<std::string_view> gpu;
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
