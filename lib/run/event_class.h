// EventClass: the meaning of an event for analyses, decided once for each name and category.
//
//   EventClass kind = classify("ncclDevKernel_AllReduce_Sum_bf16", "kernel");
//   kind.place == EventPlace::device, kind.role == Role::communication
//
// The tables are in event_class.cpp: to teach all analyses a new kind of event, add a line there.
#pragma once

#include "base/by_enum.h"
#include "event/event.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace traceloom {

// The use of an instant of a step, in order of priority: an instant belongs to the first role that
// has an event at that instant.
enum class Role : std::uint8_t {
  kernel,         // computation on a device
  memcpy,         // copies by a device
  memset,         // memory filled by a device
  communication,  // collectives and sends, on a device or (gloo) on the host
  runtime,        // calls of the device's runtime and driver
  dataloader,     // waiting for the next batch
  cpu,            // any other work of the host
  host_code,      // Python's functions where no other host event is; see RunRequest::python
  other,          // none of the roles above
  count_          // the number of roles, not a role
};
inline constexpr std::size_t kRoleCount = static_cast<std::size_t>(Role::count_);
inline constexpr std::array kRoles = kAllOf<Role>;
// The names "kernel", "memcpy", ... are parts of JSON keys, see steps.
inline constexpr std::array<std::string_view, kRoleCount> kRoleNames{
    "kernel",     "memcpy", "memset",    "communication", "runtime",
    "dataloader", "cpu",    "host_code", "other"};
constexpr std::string_view role_name(Role role) {
  return kRoleNames[static_cast<std::size_t>(role)];
}

enum class EventPlace : std::uint8_t {
  nowhere,  // not used by analyses: copies of host ranges on device rows, marks of the profiler
  host,     // a span of the host; with Role::other kept only for its mark, or because nothing is
            // known about its file
  call,     // a call of the device's runtime, which may have launched something
  device,   // work of a device
};

// The meaning of a host span for the steps of its rank.
enum class SpanMark : std::uint8_t {
  none,
  step,           // ProfilerStep#N; for JAX a range with step_num
  device_step,    // a step on a device's own row of steps
  prefill,        // an iteration of an inference engine that processes prompts
  decode,         // an iteration that only makes a token for each request
  rest,           // an iteration of another mode: SGLang's step[IDLE ...], which does no work
  batch,          // event/batch of Composer: a step without its wait for data
  train_batch,    // event/train_batch, whose args hold the number of the step
  loader,         // a wait for data
  after_loader,   // a callback or algorithm of Composer once the data is there
  forward,        // event/forward of Composer, in which DDP sends rank 0's buffers to all
  barrier,        // ends on all ranks together: event/backward, in which gradients are reduced
  container,      // around steps: event/epoch, event/fit
  collective,     // a collective as the host sees it: "nccl:all_reduce", "gloo:broadcast"
  collective_op,  // torch's operator around it: "c10d::_allgather_base_"
  module,         // a call of a torch module; its label has no mark, see EventClass::is_module
  annotation,     // a name that a program gives to a time (record_function): it covers nothing
  overhead,       // the profiler's own time, at no place: "Activity Buffer Request"
  operation,      // an operation of a coarse time line (OperationKind), whose args number it
};

// True for marks whose args describe the tensors.
constexpr bool is_of_collective(SpanMark mark) {
  return mark == SpanMark::collective || mark == SpanMark::collective_op;
}
// True for marks that keep some of their args.
constexpr bool has_arguments(SpanMark mark) {
  return is_of_collective(mark) || mark == SpanMark::operation;
}

// The operations of a coarse time line: a job of tensor, pipeline and data parallel ranks as whole
// forward and backward passes of micro-batches, messages and collectives. Name and category of such
// an event are both the name of its kind.
enum class OperationKind : std::uint8_t {
  forward_compute,
  backward_compute,
  garbage_collection,
  optimizer,
  forward_send,
  forward_receive,
  backward_send,
  backward_receive,
  gather_parameters,
  scatter_gradients,
  reduce_separate,  // gradients that are reduced apart from the others
  clip_gradients,
  reduce_embedding,  // gradients of the embedding, in the first and the last stage
  reduce_layernorm,
  count_
};
constexpr std::string_view to_string(OperationKind kind) {
  return name_in({"forward-compute", "backward-compute", "gc", "optimizer", "forward-send",
                  "forward-recv", "backward-send", "backward-recv", "params-all-gather",
                  "grads-reduce-scatter", "separate-grads-all-reduce", "optimizer-clip-main-grad",
                  "embedding-grads-all-reduce", "layernorm-grads-all-reduce"},
                 kind);
}
static_assert(to_string(OperationKind::reduce_layernorm) == "layernorm-grads-all-reduce");
constexpr bool is_compute(OperationKind kind) {
  return kind <= OperationKind::optimizer;
}
constexpr bool is_collective(OperationKind kind) {
  return kind >= OperationKind::gather_parameters;
}
std::optional<OperationKind> operation_kind(std::string_view name);

// True for the iterations of vLLM and SGLang.
constexpr bool is_iteration(SpanMark mark) {
  return mark == SpanMark::prefill || mark == SpanMark::decode;
}

struct EventClass {
  EventPlace place = EventPlace::nowhere;
  Role role = Role::other;
  SpanMark mark = SpanMark::none;
  std::int64_t step = -1;    // N of ProfilerStep#N
  bool is_operator = false;  // see is_operator()
  // True for a kernel of a device that is a whole program; how much of it is computation is not
  // known.
  bool is_program = false;
  // True for Python's call of a torch module, "nn.Module: Linear_12". It stays a function of
  // Python.
  bool is_module = false;

  friend bool operator==(const EventClass&, const EventClass&) = default;
};

// Name and category are decoded; `category` may be empty or a comma list. An iteration of vLLM,
// "execute_9_context_2(...)_generation_7(...)", that processes any context is a prefill, and so is
// SGLang's "step[MIXED bs=...]": the prompts determine its length.
EventClass classify(std::string_view name, std::string_view category);

// True if only the row of an event shows what the event is: it has no category, or an unknown one,
// and its name is no mark.
bool is_known_by_row(const EventClass& kind, std::string_view category, bool has_category);

// Classifies an event on a row that has no category of its own. Events on unknown rows stay
// unknown.
EventClass classify_on_row(const DeviceRow& row, std::string_view name);

// True if a span of the host is an operator: torch calls it one, and it is no step, loader,
// optimizer or wrapper around the model.
bool is_operator(std::string_view name, std::string_view category);

// True for calls of the runtime and driver: "cuLaunchKernel", "cudaMemcpyAsync", "hipLaunchKernel",
// but not "cublas..." or "custom_call".
bool is_runtime_call(std::string_view name);

// Begins the names of Python's functions that are calls of a torch module.
inline constexpr std::string_view kModulePrefix = "nn.Module: ";

// True for the kernels of NCCL, RCCL, oneCCL, HCCL, MSCCL++, NVSHMEM, DeepEP, and for the
// all-reduces and all-gathers of inference engines.
bool is_communication_kernel(std::string_view name);

}  // namespace traceloom
