#include "analysis/devices/device_facts.h"

#include "analysis/work/work_type.h"
#include "base/ascii.h"
#include "base/saturating.h"
#include "per_rank/per_rank.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {
namespace {

bool names_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

// Adds the facts in the name of a kernel, for the time of all kernels with that name.
void add_kernel(std::string_view name, std::int64_t ns, DeviceFacts& facts) {
  const std::string lower = to_lower(name);
  if (names_any(lower, {"fp8", "e4m3", "e5m2", "float8", "f8f8", "mxfp4", "nvfp4", "e2m1"}))
    add_to(facts.fp8_ns, ns);
  const std::optional<bool> tensor_cores = uses_tensor_cores(name);
  const WorkType type = work_type("", name);
  const bool is_eligible = tensor_cores == true || type == WorkType::gemm ||
                           type == WorkType::conv || type == WorkType::conv_bwd ||
                           type == WorkType::attention || type == WorkType::attention_bwd;
  if (!is_eligible) return;
  add_to(facts.eligible_ns, ns);
  if (tensor_cores) add_to(*tensor_cores ? facts.tensor_ns : facts.plain_ns, ns);
}

void find_graphs(const Run& run, DeviceFacts& facts) {
  for (std::uint32_t label = 0; label < run.labels.size(); ++label) {
    const EventClass& kind = run.labels.kind(label);
    const std::string_view name = run.labels.name(label);
    if (kind.place == EventPlace::call) {
      facts.has_graphs |= name.starts_with("cu") || name.starts_with("hip");
      facts.replays_graphs |= names_any(name, {"GraphLaunch"});
      facts.captures_graphs |= names_any(name, {"BeginCapture", "EndCapture", "GraphInstantiate"});
    } else if (kind.place == EventPlace::host) {
      facts.captures_graphs |= names_any(name, {"capture_begin", "graph_capture", "capture_graph"});
      facts.has_torch |= kind.is_operator;
      facts.compiles |= names_any(name, {"Torch-Compiled Region", "CompiledFxGraph"});
    }
  }
}

}  // namespace

bool is_training(const Run& run) {
  for (std::uint32_t label = 0; label < run.labels.size(); ++label)
    if (names_any(run.labels.name(label), {"ackward", "ptimizer", "_bwd", "wgrad", "dgrad"}))
      return true;
  return false;
}

DeviceFacts find_device_facts(const Run& run, const std::vector<std::size_t>& ranks, bool kernels) {
  constexpr std::int64_t kLeastPart = 100;  // kernels below one hundredth are ignored
  DeviceFacts facts;
  find_graphs(run, facts);
  if (!kernels) return facts;
  std::vector<std::int64_t> label_ns(run.labels.size(), 0);
  using KernelTimes = std::map<std::uint32_t, std::int64_t>;  // by label
  const auto times_of = [&](std::size_t rank) {
    KernelTimes times;
    run.ranks[rank].for_each_device([&](const DeviceSpan& span) {
      if (run.labels.kind(span.label).role == Role::kernel)
        add_to(times[span.label], span.end_ns - span.start_ns);
    });
    return times;
  };
  for_each_rank<KernelTimes>(run, ranks, times_of, [&](std::size_t, const KernelTimes& times) {
    for (const auto& [label, ns] : times) {
      add_to(label_ns[label], ns);
      add_to(facts.kernel_ns, ns);
    }
  });
  for (std::uint32_t label = 0; label < run.labels.size(); ++label)
    if (label_ns[label] > facts.kernel_ns / kLeastPart)
      add_kernel(run.labels.name(label), label_ns[label], facts);
  return facts;
}

}  // namespace traceloom
