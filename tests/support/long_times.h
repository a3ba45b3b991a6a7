// A trace whose spans are as long as possible, so that sums of them do not fit into int64
// nanoseconds.
#pragma once

#include "event/event_timing.h"
#include "support/trace_text.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>

namespace traceloom {

inline constexpr std::int64_t kLongUs = kLongestDurationNs / 1000;
inline constexpr std::int64_t kLongNs = kLongUs * 1000;

// Three threads on each of two devices, all busy for 146 years. Each piece of work has a stream of
// its own: on one stream work that overlaps is cut.
inline std::string long_trace() {
  TraceText trace;
  for (int i = 1; i <= 3; ++i) {
    const std::string thread = std::to_string(i);
    const std::string call = fmt::format(R"({{"correlation": {0}, "External id": {0}}})", i);
    const std::string copy = fmt::format(R"({{"correlation": {}}})", 10 + i);
    trace.tid(thread).cat("python_function").x("run.py(1): main", 0, kLongUs);
    trace.cat("user_annotation").x("enumerate(DataLoader)#It.__next__", 0, kLongUs);
    trace.cat("cpu_op").x("aten::mm", 0, kLongUs, fmt::format(R"({{"External id": {}}})", i));
    trace.cat("cuda_runtime").x("cudaLaunchKernel", 1, kLongUs - 2, call);
    trace.tid("1" + thread).x("cudaMemcpyAsync", 1, kLongUs - 2, copy);
    for (int device = 0; device < 2; ++device) {
      const auto where = [&](int stream) {
        trace.tid(fmt::format("{}{}", 7 + device, stream));
        return fmt::format(R"("device": {}, "stream": {})", device, stream);
      };
      const std::string on_stream = where(i);
      trace.cat("kernel").x("gemm", 2, kLongUs - 3,
                            fmt::format(R"({{{}, "correlation": {}}})", on_stream, i));
      const std::string on_other = where(3 + i);
      trace.cat("gpu_memcpy")
          .x("Memcpy HtoD", 2, kLongUs - 3,
             fmt::format(R"({{{}, "correlation": {}, "bytes": {}}})", on_other, 10 + i,
                         std::numeric_limits<std::int64_t>::max()));
    }
    trace.tid("99" + thread)
        .cat("kernel")
        .x("ncclDevKernel_AllReduce", i, kLongUs - 3,
           fmt::format(R"({{"device": 0, "stream": 9{0}, "Collective name": "allreduce",)"
                       R"( "Process Group Name": "0", "Seq": {0}, "Group size": 2}})",
                       i));
  }
  trace.tid("1").cat("user_annotation").x("ProfilerStep#1", 0, kLongUs);
  return trace.array();
}

}  // namespace traceloom
