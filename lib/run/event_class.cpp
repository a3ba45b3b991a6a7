#include "run/event_class.h"

#include "base/ascii.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <string>

namespace traceloom {
namespace {

struct CategoryRow {
  std::string_view category;  // category in lower case
  EventPlace place;
  Role role;
  SpanMark mark = SpanMark::none;
};

constexpr std::string_view kPythonCategory = "python_function";

// The categories of torch.profiler, including those of its older exporters ("Kernel", "Runtime",
// "Operator"). Any other category means a span of the host.
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
    // Python's frames surround everything that the host does; counted as work, they would claim all
    // time.
    {kPythonCategory, EventPlace::host, Role::other},
    // Copies of host ranges on device rows, waits that take no time of a device, and the profiler
    // itself.
    {"gpu_user_annotation", EventPlace::nowhere, Role::other},
    {"cuda_sync", EventPlace::nowhere, Role::other},
    {"critical_path", EventPlace::nowhere, Role::other},  // of trace-merge --critical-path
    {"cuda_event", EventPlace::nowhere, Role::other},
    {"cuda_profiler_range", EventPlace::nowhere, Role::other},
    {"mtia_insight", EventPlace::nowhere, Role::other},
    {"overhead", EventPlace::nowhere, Role::other, SpanMark::overhead},
    {"trace", EventPlace::nowhere, Role::other},
};

struct NameRow {
  std::string_view category;  // category in lower case
  std::string_view name;
  EventPlace place;
  Role role;
};

// Events that are no kernels although their category has kernels: copies of MTIA's devices, and
// marks and waits of their streams, which do no work. All other events of MTIA are a whole program
// ("merge"), or the part of one that ran before the recording began ("pe_exe").
constexpr NameRow kNames[] = {
    {"mtia_ccp_events", "dma_request", EventPlace::device, Role::memcpy},
    {"mtia_ccp_events", "event_wait", EventPlace::nowhere, Role::other},
    {"mtia_ccp_events", "event_record", EventPlace::nowhere, Role::other},
};
constexpr std::string_view kProgramCategory = "mtia_ccp_events";

// The categories of the host besides those of calls.
constexpr std::string_view kHostCategories[] = {
    "cpu_op", "operator", "user_annotation", "cpu_instant_event", "enqueue", "dequeue"};

struct RowNameRule {
  std::string_view start;  // beginning of the name, in lower case
  RowMaker maker;
  EventPlace place;
  Role role;
};

// Work on rows of devices that is no kernel. HLO has names of its own for transfers between
// devices.
constexpr RowNameRule kRowNames[] = {
    {"memcpy", RowMaker::xla, EventPlace::device, Role::memcpy},
    {"memset", RowMaker::xla, EventPlace::device, Role::memset},
    {"copy-start", RowMaker::xla, EventPlace::device, Role::memcpy},
    {"copy-done", RowMaker::xla, EventPlace::device, Role::memcpy},
    {"infeed", RowMaker::xla, EventPlace::device, Role::memcpy},
    {"outfeed", RowMaker::xla, EventPlace::device, Role::memcpy},
    {"all-reduce", RowMaker::xla, EventPlace::device, Role::communication},
    {"all-gather", RowMaker::xla, EventPlace::device, Role::communication},
    {"all-to-all", RowMaker::xla, EventPlace::device, Role::communication},
    {"ragged-all-to-all", RowMaker::xla, EventPlace::device, Role::communication},
    {"reduce-scatter", RowMaker::xla, EventPlace::device, Role::communication},
    {"collective-", RowMaker::xla, EventPlace::device, Role::communication},
    {"async-collective", RowMaker::xla, EventPlace::device, Role::communication},
    {"send.", RowMaker::xla, EventPlace::device, Role::communication},
    {"send-", RowMaker::xla, EventPlace::device, Role::communication},
    {"recv.", RowMaker::xla, EventPlace::device, Role::communication},
    {"recv-", RowMaker::xla, EventPlace::device, Role::communication},
    {"event_wait", RowMaker::ascend, EventPlace::nowhere, Role::other},
    {"event_record", RowMaker::ascend, EventPlace::nowhere, Role::other},
    {"event_reset", RowMaker::ascend, EventPlace::nowhere, Role::other},
    {"notify_wait", RowMaker::ascend, EventPlace::nowhere, Role::other},
    {"notify_record", RowMaker::ascend, EventPlace::nowhere, Role::other},
    {"memcpy", RowMaker::ascend, EventPlace::device, Role::memcpy},
    {"sdma", RowMaker::ascend, EventPlace::device, Role::memcpy},
    {"pcie_dma", RowMaker::ascend, EventPlace::device, Role::memcpy},
    {"memset", RowMaker::ascend, EventPlace::device, Role::memset},
    {"hcom_", RowMaker::ascend, EventPlace::device, Role::communication},
    {"[memcpy]", RowMaker::cupti, EventPlace::device, Role::memcpy},
    {"[cuda memcpy", RowMaker::cupti, EventPlace::device, Role::memcpy},
    {"memcpy", RowMaker::cupti, EventPlace::device, Role::memcpy},
    {"[memset]", RowMaker::cupti, EventPlace::device, Role::memset},
    {"[cuda memset", RowMaker::cupti, EventPlace::device, Role::memset},
    {"memset", RowMaker::cupti, EventPlace::device, Role::memset},
};

// How the names of what Horovod does for a tensor begin; its time line has no categories. A plain
// "ALLREDUCE" lasts from the begin of the operation to its end, the others are parts of it.
constexpr auto kHorovod = std::to_array<std::string_view>(
    {"NEGOTIATE_", "ALLREDUCE", "ALLGATHER", "BROADCAST", "ALLTOALL", "REDUCESCATTER", "ADASUM",
     "NCCL_", "MPI_", "GLOO_", "CCL_", "DDL_", "WAIT_FOR_", "MEMCPY_IN_", "MEMCPY_OUT_",
     "INIT_NCCL", "INIT_FUSION_BUFFER"});

// Statistics (event_side()) and analyses must agree on which categories are work of a device.
static_assert(std::ranges::all_of(kCategories, [](const CategoryRow& row) {
  return row.place == EventPlace::nowhere ||
         (row.place == EventPlace::device) == is_device_category(row.category);
}));

// Parts of kernel names, in lower case, that mean communication.
constexpr std::string_view kCommunicationKernels[] = {
    "nccl",        "rccl",        "hccl",           "mscclpp",        "msccl",
    "oneccl",      "nvshmem",     "rocshmem",       "deep_ep",        "deepep",
    "userbuffers", "allreduce",   "all_reduce",     "allgather",      "all_gather",
    "alltoall",    "all_to_all",  "reducescatter",  "reduce_scatter", "cross_device_reduce",
    "intranode::", "internode::", "internode_ll::", "multimem_",      "lamport"};

// The parts that begin with each character, one bit a part. Kernels have long names and are many:
// looking for one part after another took 9 % of `bottleneck` on recommendation models.
class PartsByLetter {
 public:
  constexpr PartsByLetter() {
    static_assert(std::size(kCommunicationKernels) <= 32);
    for (std::size_t i = 0; i < std::size(kCommunicationKernels); ++i)
      parts_[static_cast<unsigned char>(kCommunicationKernels[i].front())] |= std::uint32_t{1} << i;
  }
  constexpr std::uint32_t operator[](char letter) const {
    return parts_[static_cast<unsigned char>(letter)];
  }

 private:
  std::array<std::uint32_t, 256> parts_{};
};
constexpr PartsByLetter kPartsByLetter;

// The prefixes of torch.distributed's backends in the names of host ranges. shm: belongs to the
// demo of trace-record, whose ranks meet in shared memory.
constexpr std::string_view kBackends[] = {
    "nccl:", "gloo:", "mpi:", "ucc:", "hccl:", "xccl:", "rccl:", "shm:"};

// True for ranges around whole steps or frames of steps. Their own time belongs to no role.
bool is_container(std::string_view name) {
  return is_any_of(name, "event/epoch", "event/fit", "event/iteration", "event/eval",
                   "event/eval_batch", "event/eval_standalone", "event/predict");
}

// Returns the row of the first known category in a comma list.
const CategoryRow* find_category(std::string_view list) {
  const auto* found = std::end(kCategories);
  any_part(to_lower(list), [&](std::string_view category) {
    found = std::ranges::find(kCategories, category, &CategoryRow::category);
    return found != std::end(kCategories);
  });
  return found == std::end(kCategories) ? nullptr : found;
}

template <typename List>
bool starts_with_any(std::string_view name, const List& starts) {
  return std::ranges::any_of(starts,
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

// Reads a number at the start of `text` and removes it.
bool take_number(std::string_view& text, std::uint64_t& number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return true;
}
bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

// Parses "execute_9_context_2(...)_generation_7(...)"; vLLM also writes
// "execute_context_2(...)...".
SpanMark vllm_iteration(std::string_view name) {
  std::uint64_t number = 0;
  std::uint64_t context = 0;
  std::uint64_t generation = 0;
  if (!take(name, "execute_")) return SpanMark::none;
  if (take_number(name, number) && !take(name, "_")) return SpanMark::none;
  if (!take(name, "context_") || !take_number(name, context)) return SpanMark::none;
  constexpr std::string_view kGeneration = ")_generation_";
  const std::size_t at = name.find(kGeneration);
  if (!name.starts_with('(') || at == std::string_view::npos) return SpanMark::none;
  name.remove_prefix(at + kGeneration.size());
  if (!take_number(name, generation)) return SpanMark::none;
  if (context > 0) return SpanMark::prefill;
  return generation > 0 ? SpanMark::decode : SpanMark::rest;
}

// Parses "step[EXTEND bs=15 toks=15360]" by its forward mode.
SpanMark sglang_iteration(std::string_view name) {
  if (!take(name, "step[")) return SpanMark::none;
  for (const std::string_view mode : {"EXTEND", "MIXED", "SPLIT_PREFILL", "PREFILL"})
    if (name.starts_with(mode)) return SpanMark::prefill;
  for (const std::string_view mode : {"DECODE", "TARGET_VERIFY", "DRAFT_EXTEND"})
    if (name.starts_with(mode)) return SpanMark::decode;
  return SpanMark::rest;
}

SpanMark iteration_of(std::string_view name) {
  if (const SpanMark mark = vllm_iteration(name); mark != SpanMark::none) return mark;
  return sglang_iteration(name);
}

EventClass classify_host(std::string_view name) {
  EventClass found{EventPlace::host, Role::cpu};
  if (read_step(name, found.step)) {
    found.role = Role::other;
    found.mark = SpanMark::step;
  } else if (const SpanMark iteration = iteration_of(name); iteration != SpanMark::none) {
    found.role = Role::other;
    found.mark = iteration;
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
  } else if (is_container(name)) {
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

// True for the categories of torch's operators, in lower case.
bool is_operator_category(std::string_view lower) {
  return lower == "cpu_op" || lower == "operator";
}

// True for names that a program or torch itself gives to a time around operators.
bool is_annotation(std::string_view name, std::string_view category) {
  const std::string lower = to_lower(category);
  return lower == "user_annotation" ||
         (is_operator_category(lower) && !is_operator(name, category));
}

// JAX writes calls of the driver and frames of Python ("$file.py:12 run") among the spans of
// threads.
EventClass classify_xla_host(std::string_view name) {
  if (is_runtime_call(name)) return {EventPlace::call, Role::runtime};
  if (name.starts_with('$')) return {EventPlace::host, Role::other};
  return classify_host(name);
}

EventClass classify_work(const DeviceRow& row, std::string_view name) {
  EventClass found{EventPlace::device, Role::kernel};
  const std::string lower = to_lower(name);
  for (const RowNameRule& rule : kRowNames)
    if (rule.maker == row.maker && lower.starts_with(rule.start)) {
      found = {rule.place, rule.role};
      break;
    }
  if (found.role == Role::kernel && is_communication_kernel(name)) found.role = Role::communication;
  // Other events on these rows repeat ops of other rows while they are in flight.
  if (row.use == RowUse::transfers && found.role == Role::kernel) return {};
  found.is_program = row.is_program && found.role == Role::kernel;
  return found;
}

}  // namespace

std::optional<OperationKind> operation_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kAllOf<OperationKind>, name,
                                              [](OperationKind kind) { return to_string(kind); });
  return found == kAllOf<OperationKind>.end() ? std::nullopt : std::optional(*found);
}

bool is_runtime_call(std::string_view name) {
  for (const std::string_view start : {"cuda", "cu", "hip"})
    if (name.size() > start.size() && name.starts_with(start))
      return name[start.size()] >= 'A' && name[start.size()] <= 'Z';
  return false;
}

bool is_communication_kernel(std::string_view name) {
  const std::string lower = to_lower(name);
  for (std::size_t at = 0; at < lower.size(); ++at)
    for (std::uint32_t left = kPartsByLetter[lower[at]]; left != 0; left &= left - 1)
      if (std::string_view(lower).substr(at).starts_with(
              kCommunicationKernels[std::countr_zero(left)]))
        return true;
  return false;
}

bool is_operator(std::string_view name, std::string_view category) {
  if (!is_operator_category(to_lower(category))) return false;
  for (const std::string_view start :
       {"ProfilerStep#", "enumerate(DataLoader)#", "enumerate(DataPipe)#", "Optimizer."})
    if (name.starts_with(start)) return false;
  return name != "DataParallel.forward" && name != "DistributedDataParallel.forward";
}

EventClass classify(std::string_view name, std::string_view category) {
  if (const auto operation = name == category ? operation_kind(name) : std::nullopt)
    return {EventPlace::host, is_compute(*operation) ? Role::cpu : Role::communication,
            SpanMark::operation};
  const CategoryRow* const row = find_category(category);
  if (row == nullptr) {
    EventClass host = classify_host(name);
    host.is_operator = is_operator(name, category);
    if (category.empty() && starts_with_any(name, kHorovod)) {
      host.role = Role::communication;
      if (name.find('_') == name.npos) host.mark = SpanMark::collective;
    }
    if (host.role == Role::cpu && host.mark == SpanMark::none && is_annotation(name, category)) {
      host.role = Role::other;
      host.mark = SpanMark::annotation;
    }
    return host;
  }
  EventClass found{row->place, row->role, row->mark};
  for (const NameRow& known : kNames)
    if (known.category == row->category && known.name == name) found = {known.place, known.role};
  if (found.role == Role::kernel && is_communication_kernel(name)) found.role = Role::communication;
  found.is_program = found.role == Role::kernel && row->category == kProgramCategory;
  found.is_module = row->category == kPythonCategory && name.starts_with(kModulePrefix);
  return found;
}

bool is_known_by_row(const EventClass& kind, std::string_view category, bool has_category) {
  if (kind.place != EventPlace::host || kind.role != Role::cpu || kind.mark != SpanMark::none)
    return false;
  if (!has_category) return true;
  const std::string lower = to_lower(category);
  return !lower.empty() && std::ranges::find(kHostCategories, lower) == std::end(kHostCategories);
}

EventClass classify_on_row(const DeviceRow& row, std::string_view name) {
  switch (row.use) {
    case RowUse::host:
      return row.maker == RowMaker::xla ? classify_xla_host(name) : classify(name, "");
    case RowUse::calls:
      return {EventPlace::call, Role::runtime};
    case RowUse::communication:
      return {EventPlace::device, Role::communication};
    case RowUse::steps:
      return {EventPlace::host, Role::other, SpanMark::device_step};
    case RowUse::work:
    case RowUse::transfers:
      return classify_work(row, name);
    case RowUse::copy:
    case RowUse::check:
    case RowUse::unknown:
      break;
  }
  return {};
}

}  // namespace traceloom
