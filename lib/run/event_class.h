// EventClass: what an event is for an analysis, decided once for each name and category.
//
//   EventClass kind = classify("ncclDevKernel_AllReduce_Sum_bf16", "kernel");
//   kind.place == EventPlace::device, kind.role == Role::communication
//
// The tables are in event_class.cpp: to teach all analyses a new kind of event, add a line there.
#pragma once

#include "event/device_rows.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace traceloom {

// What an instant of a step was spent on, in the order in which they claim it: an instant belongs
// to the first of those that hold it.
enum class Role : std::uint8_t {
  kernel,         // computation on a device
  memcpy,         // copies by a device
  memset,         // memory filled by a device
  communication,  // collectives and sends, on a device or (gloo) on the host
  runtime,        // calls of the device's runtime and driver
  dataloader,     // waiting for the next batch
  cpu,            // anything else the host says it did
  host_code,      // Python's functions, where the host says nothing else; see WantedColumns::python
  other,          // nothing of the above
  count_          // not a role: how many there are
};
inline constexpr std::size_t kRoleCount = static_cast<std::size_t>(Role::count_);
// "kernel", "memcpy", ...: JSON keys are made of these, see steps.
inline constexpr std::array<std::string_view, kRoleCount> kRoleNames{
    "kernel",     "memcpy", "memset",    "communication", "runtime",
    "dataloader", "cpu",    "host_code", "other"};
constexpr std::string_view role_name(Role role) {
  return kRoleNames[static_cast<std::size_t>(role)];
}

enum class EventPlace : std::uint8_t {
  nowhere,  // of no use here: copies of host ranges on device rows, marks of the profiler
  host,     // Role::other: kept only for its mark
  call,     // a call of the device's runtime, which may have launched something
  device,   // work of a device
};

// What a host span means to the steps of its rank.
enum class SpanMark : std::uint8_t {
  none,
  step,           // ProfilerStep#N; of JAX a range with step_num
  device_step,    // a step as a device's own row of steps has it
  prefill,        // an iteration of an inference engine that takes prompts in
  decode,         // one that makes a token for each request, and takes none in
  batch,          // event/batch of Composer: a step without its wait for data
  train_batch,    // event/train_batch, whose args hold the number of the step
  loader,         // a wait for data
  after_loader,   // a callback or algorithm of Composer once the data is there
  forward,        // event/forward of Composer, in which DDP sends rank 0's buffers to all
  barrier,        // ends on all ranks together: event/backward, in which gradients are reduced
  container,      // around steps: event/epoch, event/fit
  collective,     // a collective as the host sees it: "nccl:all_reduce", "gloo:broadcast"
  collective_op,  // torch's operator around it: "c10d::_allgather_base_"
};

// True for marks whose args say the tensors.
constexpr bool is_of_collective(SpanMark mark) {
  return mark == SpanMark::collective || mark == SpanMark::collective_op;
}

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
  // Of a device's kernel: a whole program, of which nothing tells how much is computing.
  bool is_program = false;

  friend bool operator==(const EventClass&, const EventClass&) = default;
};

// Both as they are, not as they are escaped in a file; `category` may be empty or a comma list.
// An iteration of vLLM, "execute_9_context_2(...)_generation_7(...)", that takes any context in is
// a prefill, as one of SGLang, "step[MIXED bs=...]", is: its length is that of its prompts.
EventClass classify(std::string_view name, std::string_view category);

// Whether only the row of an event can tell what it is: its category is none, or none that is
// known, and its name is not that of a mark.
bool is_told_by_row(const EventClass& kind, std::string_view category, bool has_category);

// What an event of a row is that has no category of its own. Nothing tells of unknown rows.
EventClass classify_on_row(const DeviceRow& row, std::string_view name);

// Whether a span of the host is an operator: what torch calls one, and no step, loader, optimizer
// or wrapper around the model.
bool is_operator(std::string_view name, std::string_view category);

// True for the kernels of NCCL, RCCL, oneCCL, HCCL, MSCCL++, NVSHMEM, DeepEP, and for the
// all-reduces and all-gathers that inference engines bring along.
bool is_communication_kernel(std::string_view name);

}  // namespace traceloom
