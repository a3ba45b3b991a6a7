// The module and the collective in which the host launched the work of a device.
#pragma once

#include "analysis/operators.h"
#include "base/string_table.h"
#include "run/launches.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace traceloom {

// LaunchModules: finds the torch module in which the host launched work of a device.
//
//   const LaunchModules modules(run, rank, operators);
//   modules.name(modules.of_launch(span))                  // "BertIntermediate.Linear"
//
// torch.profiler records calls of modules as functions of Python ("nn.Module: Linear_12") if it was
// started with with_stack=True. Work belongs to the innermost module in which its launch began: on
// the thread of the launching call, or on that of the operator that launched the work if the call
// is not known. A module is named by its class, after the class of the module around it. The number
// of the instance is left out, because it depends on the order in which a process makes its
// modules.

inline constexpr std::uint32_t kNoModule = std::numeric_limits<std::uint32_t>::max();

// Returns "Linear" for "nn.Module: Linear_12".
std::string_view module_class(std::string_view label);

// The modules of one rank, which must have been read with python; the rank, the run and the
// operators must outlive them.
class LaunchModules {
 public:
  LaunchModules(const Run& run, const RankEvents& rank, const Operators& operators);

  bool empty() const { return calls_.empty(); }
  // These two return a number for name(), or kNoModule: of the module in which the work was
  // launched, and of the one in which the span of the host began.
  std::uint32_t of_launch(const DeviceSpan& work) const;
  std::uint32_t around(const HostSpan& span) const { return find(span.track, span.start_ns); }
  // Returns "" for kNoModule.
  std::string_view name(std::uint32_t module) const {
    return module == kNoModule ? std::string_view() : names_[module];
  }

 private:
  // A call of a module.
  struct Call {
    HostSpan span;
    std::uint32_t around;  // index in calls_; SpanStack::kNone at the top
    std::uint32_t module;  // number in names_
  };

  void nest(std::vector<HostSpan> spans);
  std::uint32_t find(std::uint32_t track, std::int64_t at_ns) const;

  const Run& run_;
  const Operators& operators_;
  StringTable names_;
  std::vector<Call> calls_;           // sorted by row and start, outer ones first
  std::optional<Launches> launches_;  // if there are calls
};

// LaunchingRanges: finds the host's collective that launched a piece of a device's communication.
//
//   LaunchingRanges ranges(run, rank);
//   const LaunchedBy by = ranges.find(part, span);
//   if (by.range != nullptr) use(run.labels.name(by.range->span.label));
//
// torch puts a range with the name and the tensors of the collective ("nccl:all_reduce") around the
// calls that launch its kernels; around that is the operator ("c10d::allreduce_"). They are found
// by the call that launched the kernel, or by the External id if that call was not recorded.

struct LaunchingRange {
  MarkedSpan span;
  std::size_t pieces = 0;          // number of pieces of communication that it launched
  std::int64_t latest_end_ns = 0;  // latest end of it and of earlier ranges on its row
};

// The innermost ranges around a launch; nullptr if none is known.
struct LaunchedBy {
  const LaunchingRange* range = nullptr;  // SpanMark::collective
  const LaunchingRange* op = nullptr;     // SpanMark::collective_op
};

// Serves one rank, which must outlive it.
class LaunchingRanges {
 public:
  LaunchingRanges(const Run& run, const RankEvents& rank);

  // `piece` must belong to `part`.
  LaunchedBy find(const EventColumns& part, const DeviceSpan& piece) const;

 private:
  void add_around(const HostSpan& span, LaunchedBy& found) const;

  Launches launches_;
  std::vector<LaunchingRange> ranges_;  // sorted by row and start
  IdIndex<std::size_t> externals_;
};

}  // namespace traceloom
