#include "run/event_class.h"

#include "base/ascii.h"
#include "event/event_side.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

namespace traceloom {
namespace {

struct CategoryRow {
  std::string_view category;  // in lower case
  EventPlace place;
  Role role;
};

// torch.profiler's categories, those of its older exporters ("Kernel", "Runtime", "Operator") too.
// What is not here is a span of the host.
constexpr CategoryRow kCategories[] = {
    {"kernel", EventPlace::device, Role::kernel},
    {"concurrent_kernel", EventPlace::device, Role::kernel},
    {"mtia_ccp_events", EventPlace::device, Role::kernel},
    {"hpu_op", EventPlace::device, Role::kernel},
    {"privateuse1_kernel", EventPlace::device, Role::kernel},
    {"gpu_memcpy", EventPlace::device, Role::memcpy},
    {"memcpy", EventPlace::device, Role::memcpy},
    {"gpu_memset", EventPlace::device, Role::memset},
    {"memset", EventPlace::device, Role::memset},
    {"collective_comm", EventPlace::device, Role::communication},
    {"cuda_runtime", EventPlace::call, Role::runtime},
    {"cuda_driver", EventPlace::call, Role::runtime},
    {"runtime", EventPlace::call, Role::runtime},
    {"mtia_runtime", EventPlace::call, Role::runtime},
    {"glow_runtime", EventPlace::call, Role::runtime},
    {"xpu_runtime", EventPlace::call, Role::runtime},
    {"xpu_driver", EventPlace::call, Role::runtime},
    {"privateuse1_runtime", EventPlace::call, Role::runtime},
    {"privateuse1_driver", EventPlace::call, Role::runtime},
    // Python's frames are around all that the host does: with them nothing would be left over.
    {"python_function", EventPlace::host, Role::other},
    // Copies of host ranges on device rows, waits that take no time of a device, the profiler.
    {"gpu_user_annotation", EventPlace::nowhere, Role::other},
    {"cuda_sync", EventPlace::nowhere, Role::other},
    {"cuda_event", EventPlace::nowhere, Role::other},
    {"cuda_profiler_range", EventPlace::nowhere, Role::other},
    {"mtia_insight", EventPlace::nowhere, Role::other},
    {"overhead", EventPlace::nowhere, Role::other},
    {"trace", EventPlace::nowhere, Role::other},
};

struct NameRow {
  std::string_view category;  // in lower case
  std::string_view name;
  EventPlace place;
  Role role;
};

// Of a category that has more than one thing in it, what is no kernel: copies of MTIA's devices,
// and marks and waits of their streams, in which no work is done.
constexpr NameRow kNames[] = {
    {"mtia_ccp_events", "dma_request", EventPlace::device, Role::memcpy},
    {"mtia_ccp_events", "event_wait", EventPlace::nowhere, Role::other},
    {"mtia_ccp_events", "event_record", EventPlace::nowhere, Role::other},
};

// What statistics keep apart from the host (event_side.h) is what analyses take for device work.
static_assert(std::all_of(std::begin(kCategories), std::end(kCategories),
                          [](const CategoryRow& row) {
                            return row.place == EventPlace::nowhere ||
                                   (row.place == EventPlace::device) ==
                                       is_device_category(row.category);
                          }));

// Found anywhere in the name of a kernel, in lower case.
constexpr std::string_view kCommunicationKernels[] = {
    "nccl",        "rccl",        "hccl",           "mscclpp",        "msccl",
    "oneccl",      "nvshmem",     "rocshmem",       "deep_ep",        "deepep",
    "userbuffers", "allreduce",   "all_reduce",     "allgather",      "all_gather",
    "alltoall",    "all_to_all",  "reducescatter",  "reduce_scatter", "cross_device_reduce",
    "intranode::", "internode::", "internode_ll::", "multimem_",      "lamport"};

// What torch.distributed calls its backends in the names of host ranges; shm: is the demo of
// trace-record, whose ranks meet in shared memory.
constexpr std::string_view kBackends[] = {
    "nccl:", "gloo:", "mpi:", "ucc:", "hccl:", "xccl:", "rccl:", "shm:"};

// Around whole steps, or the frame of one: what is left of them is nobody's.
constexpr std::string_view kContainers[] = {
    "event/epoch",           "event/fit",    "event/iteration", "event/eval", "event/eval_batch",
    "event/eval_standalone", "event/predict"};

// What is done with a category, of a comma list the first that is known.
const CategoryRow* find_category(std::string_view list) {
  const std::string lower = to_lower(list);
  std::string_view rest = lower;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view category = rest.substr(0, comma);
    for (const CategoryRow& row : kCategories)
      if (row.category == category) return &row;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return nullptr;
}

template <typename List>
bool starts_with_any(std::string_view name, const List& starts) {
  return std::any_of(std::begin(starts), std::end(starts),
                     [&](std::string_view start) { return name.starts_with(start); });
}

bool is_loader(std::string_view name) {
  return name.starts_with("enumerate(DataLoader)#") || name.starts_with("enumerate(DataPipe)#") ||
         name.starts_with("dataloader/") || name == "event/dataloader";
}

bool read_step(std::string_view name, std::int64_t& step) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  if (!name.starts_with(kPrefix)) return false;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, step);
  return error == std::errc{} && stop == end && step >= 0;
}

EventClass classify_host(std::string_view name) {
  EventClass found{EventPlace::host, Role::cpu};
  if (read_step(name, found.step)) {
    found.role = Role::other;
    found.mark = SpanMark::step;
  } else if (is_loader(name)) {
    found.role = Role::dataloader;
    found.mark = SpanMark::loader;
  } else if (name == "event/batch" || name == "event/train_batch") {
    found.role = Role::other;
    found.mark = name == "event/batch" ? SpanMark::batch : SpanMark::train_batch;
  } else if (name.ends_with("/event/after_dataloader") || name.ends_with("/event/batch_start")) {
    found.mark = SpanMark::after_loader;
  } else if (name == "event/forward") {
    found.mark = SpanMark::forward;
  } else if (name == "event/backward") {
    found.mark = SpanMark::barrier;
  } else if (std::find(std::begin(kContainers), std::end(kContainers), name) !=
             std::end(kContainers)) {
    found.role = Role::other;
    found.mark = SpanMark::container;
  } else if (starts_with_any(name, kBackends)) {
    found.role = Role::communication;
    found.mark = SpanMark::collective;
  } else if (name.starts_with("c10d::")) {
    found.mark = SpanMark::collective_op;
  }
  return found;
}

}  // namespace

bool is_communication_kernel(std::string_view name) {
  const std::string lower = to_lower(name);
  return std::any_of(std::begin(kCommunicationKernels), std::end(kCommunicationKernels),
                     [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

bool is_operator(std::string_view name, std::string_view category) {
  const std::string lower = to_lower(category);
  if (lower != "cpu_op" && lower != "operator") return false;
  for (const std::string_view start :
       {"ProfilerStep#", "enumerate(DataLoader)#", "enumerate(DataPipe)#", "Optimizer."})
    if (name.starts_with(start)) return false;
  return name != "DataParallel.forward" && name != "DistributedDataParallel.forward";
}

EventClass classify(std::string_view name, std::string_view category) {
  const CategoryRow* const row = find_category(category);
  if (row == nullptr) {
    EventClass host = classify_host(name);
    host.is_operator = is_operator(name, category);
    return host;
  }
  EventClass found{row->place, row->role};
  for (const NameRow& known : kNames)
    if (known.category == row->category && known.name == name) found = {known.place, known.role};
  if (found.role == Role::kernel && is_communication_kernel(name)) found.role = Role::communication;
  return found;
}

}  // namespace traceloom
