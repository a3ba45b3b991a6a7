#include "merge/survey/flow_starts.h"

#include "event/event_timing.h"
#include "merge/arrows/flow_binder.h"
#include "merge/ids/id_keys.h"
#include "merge/rows/track_cache.h"

#include <algorithm>
#include <string>
#include <utility>

namespace traceloom {
namespace {

// True for events that Perfetto makes a slice of the thread of. These include instants, except
// those of a process or of the whole trace.
bool begins_slice(const Event& event) {
  if (event.phase == 'X' || event.phase == 'B') return true;
  const bool is_instant = event.phase == 'i' || event.phase == 'I' || event.phase == 'R';
  const std::string_view scope = event.text(Key::s);
  return is_instant && scope != "\"p\"" && scope != "\"g\"";
}

}  // namespace

void FlowStarts::Found::add_slice(std::uint32_t row, std::int64_t ns) {
  std::int64_t& first_ns = first_slice_ns.try_emplace(row, ns).first->second;
  first_ns = std::min(first_ns, ns);
}

struct FlowStarts::Chunk : ChunkResult {
  Found found;
  TrackCache tracks;
  FlowLabel flow_label;
  std::string scratch;

  void reset() {
    found = {};
    tracks.reset();
    problems = {};
  }
};

FlowStarts::FlowStarts(const MergePlan& plan)
    : plan_(plan), pool_(std::make_unique<ResultPool<Chunk>>()), startless_(plan.files.size()) {}

FlowStarts::~FlowStarts() = default;

std::unique_ptr<ChunkResult> FlowStarts::make_result() {
  return pool_->take();
}

void FlowStarts::recycle(std::unique_ptr<ChunkResult> result) {
  pool_->give_back(std::move(result));
}

void FlowStarts::visit(ChunkResult& result, std::size_t file, const Event& event) {
  const bool is_slice = begins_slice(event);
  Chunk& chunk = static_cast<Chunk&>(result);
  const TrackTarget* const target = chunk.tracks.find(plan_.tracks, file, event);
  if (target == nullptr || (!is_slice && event.phase != 's' && event.phase != 'f')) return;
  const EventTiming timing = time_start(event, chunk.problems);
  std::int64_t ns = 0;
  if (!timing.timed || !plan_.files[file].times.map(timing.start_ns, ns)) return;
  if (is_slice) return chunk.found.add_slice(target->number, ns);
  const bool waits = binds_to_next_slice(event);
  if ((event.phase == 'f' && !waits) || is_shared_flow(event, plan_.files[file].shared_flows))
    return;
  const std::string_view id = flow_id_key(event, chunk.scratch);
  if (id.empty()) return;  // viewers draw no arrow for it
  const std::uint64_t flow = chunk.flow_label.hash(event) + plan_.files[file].flow_ids.number(id);
  if (waits)
    chunk.found.ends.push_back({flow, ns, event.offset});
  else
    chunk.found.starts.push_back({flow, ns, target->number});
}

void FlowStarts::take(ChunkResult& result, std::size_t) {
  const Found& found = static_cast<Chunk&>(result).found;
  for (const auto& [row, ns] : found.first_slice_ns) file_.add_slice(row, ns);
  file_.starts.insert(file_.starts.end(), found.starts.begin(), found.starts.end());
  file_.ends.insert(file_.ends.end(), found.ends.begin(), found.ends.end());
}

void FlowStarts::end_file(std::size_t file, const FileEnd&) {
  std::unordered_map<std::uint64_t, std::int64_t> first_start_ns;
  for (const Start& start : file_.starts) {
    const auto slice = file_.first_slice_ns.find(start.row);
    if (slice == file_.first_slice_ns.end() || slice->second > start.ns) continue;
    const auto [known, is_new] = first_start_ns.try_emplace(start.flow, start.ns);
    known->second = std::min(known->second, start.ns);
  }
  for (const End& end : file_.ends) {
    const auto start = first_start_ns.find(end.flow);
    if (start == first_start_ns.end() || start->second > end.ns)
      startless_[file].push_back(end.offset);
  }
  file_ = {};
}

}  // namespace traceloom
