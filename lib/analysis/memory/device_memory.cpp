#include "analysis/memory/device_memory.h"

#include "analysis/numbers.h"
#include "analysis/operators.h"
#include "per_rank/per_rank.h"
#include "run/steps.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

namespace traceloom {
namespace {

struct Attributed {
  MemorySample sample;
  std::uint32_t node;  // kNoOperator if none ran
};

// Finds the operators of a rank by thread and time.
class OperatorFinder {
 public:
  OperatorFinder(const Run& run, const RankEvents& rank) : run_(run), operators_(run, rank) {
    for (const OperatorNode& node : operators_.nodes())
      if (!node.is_repeat) ++calls_[name_of(node)];
  }

  std::uint32_t find(std::uint32_t track, std::int64_t at_ns) const {
    const std::vector<OperatorNode>& nodes = operators_.nodes();
    const auto begin_of = [](const OperatorNode& node) {
      return std::pair(node.track, node.start_ns);
    };
    const auto after = std::ranges::upper_bound(nodes, std::pair(track, at_ns), {}, begin_of);
    if (after == nodes.begin() || (after - 1)->track != track) return kNoOperator;
    auto found = static_cast<std::uint32_t>(after - nodes.begin() - 1);
    while (found != kNoOperator && nodes[found].end_ns <= at_ns) found = nodes[found].parent;
    return found;
  }

  const OperatorNode& node(std::uint32_t index) const { return operators_.nodes()[index]; }
  std::string_view name_of(const OperatorNode& node) const { return run_.labels.name(node.label); }
  std::string_view name_of(std::uint32_t index) const {
    return index == kNoOperator ? kNoOperatorName : name_of(node(index));
  }
  std::int64_t calls(std::string_view name) const {
    const auto found = calls_.find(name);
    return found == calls_.end() ? 0 : found->second;
  }

 private:
  const Run& run_;
  Operators operators_;
  std::map<std::string_view, std::int64_t> calls_;
};

std::optional<std::int64_t> step_at(const StepsByTime& steps, std::int64_t at_ns) {
  const Step* const step = steps.at(at_ns);
  return step != nullptr ? std::optional(step->number) : std::nullopt;
}

void draw_curve(const std::vector<Attributed>& events, DeviceMemory& device) {
  device.is_relative = std::ranges::any_of(
      events, [](const Attributed& event) { return event.sample.allocated == kNotGiven; });
  const MemorySample& first = events.front().sample;
  std::int64_t allocated = device.is_relative ? 0 : first.allocated - first.bytes;
  device.curve.reserve(events.size() + 1);
  device.curve.push_back({first.start_ns, allocated, kNotGiven});
  for (const Attributed& event : events) {
    const MemorySample& sample = event.sample;
    allocated = device.is_relative ? allocated + sample.bytes : sample.allocated;
    device.curve.push_back({sample.start_ns, allocated, sample.reserved});
    ++(sample.bytes < 0 ? device.frees : device.allocations);
    device.has_addresses = device.has_addresses && sample.address != kNotGiven;
  }
  for (std::size_t i = 0; i < device.curve.size(); ++i)
    if (device.curve[i].allocated > device.peak().allocated) device.peak_index = i;
}

// Keyed by name.
using OperatorSums = std::map<std::string_view, OperatorMemory>;

void add_to_operators(const std::vector<Attributed>& events, const OperatorFinder& operators,
                      OperatorSums& sums) {
  for (const auto& [sample, innermost] : events) {
    const std::int64_t given = std::max<std::int64_t>(0, sample.bytes);
    const std::int64_t times = sample.bytes > 0 ? 1 : 0;
    OperatorMemory& self = sums[operators.name_of(innermost)];
    self.self_increase += sample.bytes;
    self.self_alloc += given;
    self.self_count += times;
    for (std::uint32_t node = innermost; node != kNoOperator; node = operators.node(node).parent) {
      if (operators.node(node).is_repeat) continue;
      OperatorMemory& total = sums[operators.name_of(node)];
      total.increase += sample.bytes;
      total.alloc += given;
      total.count += times;
    }
  }
  for (auto& [name, memory] : sums) memory.calls = operators.calls(name);
}

// Finds the memory that was allocated and not freed, at the peak and at the end.
void find_held(const std::vector<Attributed>& events, const OperatorFinder& operators,
               const StepsByTime& step_times, const DeviceMemory& device, OperatorSums& sums) {
  if (!device.has_addresses) return;
  std::unordered_map<std::int64_t, const Attributed*> held;
  const auto note_peak = [&] {
    for (const auto& [address, event] : held) {
      OperatorMemory& memory = sums[operators.name_of(event->node)];
      memory.at_peak += event->sample.bytes;
      ++memory.at_peak_count;
    }
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    const MemorySample& sample = events[i].sample;
    if (sample.bytes > 0)
      held[sample.address] = &events[i];
    else
      held.erase(sample.address);
    if (i + 1 == device.peak_index) note_peak();  // the curve has a point before the first event
  }
  std::map<std::string_view, std::set<std::optional<std::int64_t>>> steps;
  for (const auto& [address, event] : held) {
    const std::string_view name = operators.name_of(event->node);
    OperatorMemory& memory = sums[name];
    memory.unfreed += event->sample.bytes;
    ++memory.unfreed_count;
    steps[name].insert(step_at(step_times, event->sample.start_ns));
  }
  for (const auto& [name, numbers] : steps)
    sums[name].unfreed_steps =
        static_cast<std::int64_t>(numbers.size() - numbers.count(std::nullopt));
}

std::optional<std::int64_t> growth_of(const RankEvents& rank, const DeviceMemory& device) {
  const std::optional<double> slope = slope_at_ends(rank, device.curve, &MemoryPoint::allocated);
  return slope ? std::optional{static_cast<std::int64_t>(std::llround(*slope))} : std::nullopt;
}

}  // namespace

std::int64_t DeviceMemory::reserved_peak() const {
  std::int64_t most = kNotGiven;
  for (const MemoryPoint& point : curve) most = std::max(most, point.reserved);
  return most;
}

std::int64_t DeviceMemory::mean() const {
  Int128 sum = 0;  // bytes times ns
  std::int64_t all_ns = 0;
  for (std::size_t i = 0; i + 1 < curve.size(); ++i) {
    const Interval piece{curve[i].at_ns, curve[i + 1].at_ns};
    std::int64_t ns = length_ns(piece);
    if (holds_any(unrecorded, piece)) ns -= total_ns(intersect({piece}, unrecorded));
    sum += Int128{curve[i].allocated} * ns;
    all_ns += ns;
  }
  return all_ns > 0 ? static_cast<std::int64_t>(sum / all_ns) : curve.back().allocated;
}

std::vector<DeviceMemory> find_device_memory(const Run& run, const RankEvents& rank) {
  std::map<std::pair<std::int32_t, std::int64_t>, std::vector<Attributed>> by_device;
  rank.for_each_memory([&](const MemorySample& sample) {
    by_device[{sample.device_type, sample.device}].push_back({sample, kNoOperator});
  });
  std::vector<DeviceMemory> devices;
  if (by_device.empty()) return devices;
  const OperatorFinder operators(run, rank);
  const StepsByTime step_times(rank.steps);
  for (auto& [key, events] : by_device) {
    for (Attributed& event : events)
      event.node = operators.find(event.sample.track, event.sample.start_ns);
    std::ranges::stable_sort(events, {},
                             [](const Attributed& event) { return event.sample.start_ns; });
    DeviceMemory device;
    device.rank = rank.rank;
    device.type = key.first;
    device.device = key.second;
    device.unrecorded = rank.unrecorded;
    draw_curve(events, device);
    OperatorSums sums;
    add_to_operators(events, operators, sums);
    find_held(events, operators, step_times, device, sums);
    device.operators.insert(sums.begin(), sums.end());
    if (device.peak_index > 0) {
      const std::uint32_t node = events[device.peak_index - 1].node;
      if (node != kNoOperator) device.peak_operator = operators.name_of(node);
    }
    device.peak_step = step_at(step_times, device.peak().at_ns);
    device.growth_per_step = growth_of(rank, device);
    devices.push_back(std::move(device));
  }
  return devices;
}

const std::vector<DeviceMemory>& find_device_memory(const Run& run) {
  using Devices = std::vector<DeviceMemory>;
  const auto find = [&](std::size_t rank) { return find_device_memory(run, run.ranks[rank]); };
  return run.memo.get<Devices>([&] {
    Devices all;
    for_each_rank<Devices>(run, all_ranks(run), find, [&](std::size_t, Devices devices) {
      all.insert(all.end(), std::make_move_iterator(devices.begin()),
                 std::make_move_iterator(devices.end()));
    });
    return all;
  });
}

}  // namespace traceloom
