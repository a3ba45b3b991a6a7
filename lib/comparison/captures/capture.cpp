#include "comparison/captures/capture.h"

#include "analysis/memory/device_memory.h"
#include "analysis/waits/rank_waits.h"
#include "analysis/waits/step_lengths.h"
#include "analysis/waits/step_phases.h"
#include "comparison/captures/row_times.h"
#include "comparison/judge/capture_value.h"
#include "per_rank/per_rank.h"
#include "run/details.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace traceloom {
namespace {

std::vector<StepKey> chosen_steps(const std::vector<StepLength>& steps) {
  std::vector<std::size_t> chosen = middle_steps(lengths_ns(steps));
  if (chosen.empty() && !steps.empty()) chosen.push_back(0);
  if (steps.size() > 1 && steps.size() < kLeastSteps + 1) {
    chosen.resize(steps.size() - 1);
    std::iota(chosen.begin(), chosen.end(), std::size_t{1});
  }
  std::vector<StepKey> keys;
  keys.reserve(chosen.size());
  for (const std::size_t step : chosen) keys.push_back(steps[step].first);
  std::sort(keys.begin(), keys.end());
  return keys;
}

// Returns the times of the chosen steps on a rank; of several with one key, the longest.
Intervals windows_of(const RankRoles& rank, const std::vector<StepKey>& chosen) {
  std::map<StepKey, Interval> times;
  for (const StepRoles& step : rank.steps) {
    const StepKey key = key_of(step.step);
    if (!step.step.counted || !std::binary_search(chosen.begin(), chosen.end(), key)) continue;
    Interval& time = times[key];
    if (length_ns(step.step.time) > length_ns(time)) time = step.step.time;
  }
  Intervals windows;
  for (const auto& [key, time] : times) windows.push_back(time);
  std::sort(windows.begin(), windows.end(),
            [](const Interval& a, const Interval& b) { return a.from_ns < b.from_ns; });
  return windows;
}

std::vector<std::uint32_t> find_sequence(const RowSources& sources, const Interval& window,
                                         const std::vector<CaptureRow>& rows) {
  using Place = std::pair<std::int64_t, std::uint32_t>;  // start, row
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Place>> streams;
  for_each_device_role(sources.run, sources.events(), [&](Role role, const DeviceSpan& span) {
    if (role != Role::kernel || span.start_ns < window.from_ns || span.start_ns >= window.to_ns)
      return;
    const RowKey key = device_key(sources, role, span);
    const auto row = std::lower_bound(
        rows.begin(), rows.end(), key,
        [](const CaptureRow& one, const RowKey& wanted) { return one.key < wanted; });
    if (row != rows.end() && row->key == key)
      streams[{span.device, span.stream}].emplace_back(
          span.start_ns, static_cast<std::uint32_t>(row - rows.begin()));
  });
  std::vector<Place> longest;
  for (auto& [stream, places] : streams)
    if (places.size() > longest.size()) longest = std::move(places);
  std::sort(longest.begin(), longest.end());
  std::vector<std::uint32_t> sequence;
  sequence.reserve(longest.size());
  for (const auto& [start_ns, row] : longest) sequence.push_back(row);
  return sequence;
}

using ShapeTimes = std::map<std::pair<std::string, std::string>, std::int64_t>;

void add_shapes(const Run& run, const Operators& operators, ShapeTimes& times) {
  for (const OperatorNode& node : operators.nodes()) {
    if (node.arguments == kNoDetail || node.device_self_ns <= 0) continue;
    const std::string_view shapes = find_detail(run.details[node.arguments], kShapes);
    if (!shapes.empty())
      add_to(times[{std::string(run.labels.name(node.label)), std::string(shapes)}],
             node.device_self_ns);
  }
}

// RankPart holds what one rank gives to a capture.
struct RankPart {
  CaptureRank rank;
  ShapeTimes shapes;

  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    wire(rank, shapes);
  }
};

RankPart find_part(const Run& run, std::size_t index, const TransferTimes& transfers,
                   const RankRoles& roles, const std::vector<StepKey>& chosen) {
  const RankEvents& rank = run.ranks[index];
  RankPart part;
  part.rank.rank = rank.rank;
  const Operators operators(run, rank);
  add_shapes(run, operators, part.shapes);
  const Intervals windows = windows_of(roles, chosen);
  part.rank.steps = windows.size();
  if (windows.empty()) return part;
  const LaunchModules modules(run, rank, operators);
  const RowSources sources{run, index, operators, modules, transfers};
  part.rank.rows = find_row_times(sources, windows);
  for (const Interval& window : windows) add_to(part.rank.total_ns, length_ns(window));
  part.rank.sequence = find_sequence(sources, windows.front(), part.rank.rows);
  return part;
}

std::optional<std::int64_t> find_peak(const Run& run) {
  constexpr std::int32_t kHost = 0;
  struct Peaks {
    std::optional<std::int64_t> of_devices;
    std::optional<std::int64_t> of_host;

    void add(bool is_host, std::int64_t bytes) {
      std::optional<std::int64_t>& most = is_host ? of_host : of_devices;
      most = std::max(most.value_or(0), bytes);
    }
  };
  const auto find = [&](std::size_t rank) {
    Peaks peaks;
    for (const DeviceMemory& memory : find_device_memory(run, run.ranks[rank]))
      peaks.add(memory.type == kHost, memory.peak().allocated);
    return peaks;
  };
  Peaks all;
  for (const Peaks& peaks : per_rank<Peaks>(run, find)) {
    if (peaks.of_devices) all.add(false, *peaks.of_devices);
    if (peaks.of_host) all.add(true, *peaks.of_host);
  }
  return all.of_devices ? all.of_devices : all.of_host;
}

}  // namespace

std::vector<double> values_of(const std::vector<Capture>& captures) {
  std::vector<double> values;
  for (const Capture& capture : captures)
    if (capture.value_ns) values.push_back(*capture.value_ns);
  return values;
}

const Capture* median_capture(const std::vector<Capture>& captures) {
  std::vector<const Capture*> order;
  for (const Capture& capture : captures)
    if (capture.value_ns) order.push_back(&capture);
  if (order.empty()) return captures.empty() ? nullptr : &captures.front();
  std::stable_sort(order.begin(), order.end(),
                   [](const Capture* a, const Capture* b) { return *a->value_ns < *b->value_ns; });
  return order[(order.size() - 1) / 2];
}

Capture make_capture(const Run& run, const std::string& name) {
  Capture capture;
  capture.name = name;
  for (const RunFile& file : run.files) {
    capture.world_size = std::max(capture.world_size, file.world_size);
    capture.devices.insert(file.devices.begin(), file.devices.end());
    // A merge has the producers of its inputs.
    if (!file.producer.empty() && !file.producer.starts_with("traceloom"))
      capture.producers.insert(file.producer);
  }
  capture.peak_bytes = find_peak(run);
  const std::vector<RankRoles> roles = find_main_roles(run);
  const std::vector<StepLength> steps = longest_steps(roles);
  capture.steps_ns = lengths_ns(steps);
  capture.value_ns = capture_value(capture.steps_ns);
  const std::vector<StepKey> chosen = chosen_steps(steps);
  const TransferTimes transfers(run);
  std::vector<RankPart> parts = per_rank<RankPart>(
      run, [&](std::size_t rank) { return find_part(run, rank, transfers, roles[rank], chosen); });
  ShapeTimes shapes;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    capture.has_python |= run.ranks[i].has_frames();
    for (const auto& [shape, ns] : parts[i].shapes) add_to(shapes[shape], ns);
    capture.ranks.push_back(std::move(parts[i].rank));
  }
  for (const auto& [shape, ns] : shapes) capture.shapes.push_back({shape.first, shape.second, ns});
  return capture;
}

}  // namespace traceloom
