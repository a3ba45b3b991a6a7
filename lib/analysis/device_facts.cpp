#include "analysis/device_facts.h"

#include "analysis/work_type.h"
#include "base/ascii.h"
#include "base/saturating.h"

#include <algorithm>
#include <array>
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

// What a label of a kernel says.
struct KernelFacts {
  bool computes = false;
  bool is_fp8 = false;
  bool is_eligible = false;
  std::optional<bool> tensor_cores;
};

KernelFacts read_kernel(std::string_view name) {
  const std::string lower = to_lower(name);
  KernelFacts facts;
  facts.computes = true;
  facts.is_fp8 =
      names_any(lower, {"fp8", "e4m3", "e5m2", "float8", "f8f8", "mxfp4", "nvfp4", "e2m1"});
  facts.tensor_cores = uses_tensor_cores(name);
  const WorkType type = work_type("", name);
  facts.is_eligible = facts.tensor_cores == true || type == WorkType::gemm ||
                      type == WorkType::conv || type == WorkType::conv_bwd ||
                      type == WorkType::attention || type == WorkType::attention_bwd;
  return facts;
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
    }
  }
}

}  // namespace

DeviceFacts find_device_facts(const Run& run, const std::vector<std::size_t>& ranks) {
  DeviceFacts facts;
  find_graphs(run, facts);
  std::vector<std::optional<KernelFacts>> kernels(run.labels.size());
  for (const std::size_t rank : ranks)
    run.ranks[rank].for_each_device([&](const DeviceSpan& span) {
      std::optional<KernelFacts>& kernel = kernels[span.label];
      if (!kernel)
        kernel = run.labels.kind(span.label).role == Role::kernel
                     ? read_kernel(run.labels.name(span.label))
                     : KernelFacts{};
      if (!kernel->computes) return;
      const std::int64_t ns = span.end_ns - span.start_ns;
      add_to(facts.kernel_ns, ns);
      if (kernel->is_fp8) add_to(facts.fp8_ns, ns);
      if (!kernel->is_eligible) return;
      add_to(facts.eligible_ns, ns);
      if (kernel->tensor_cores)
        add_to(*kernel->tensor_cores ? facts.tensor_ns : facts.plain_ns, ns);
    });
  return facts;
}

}  // namespace traceloom
