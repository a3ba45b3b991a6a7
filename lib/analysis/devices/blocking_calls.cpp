#include "analysis/devices/blocking_calls.h"

#include "base/ascii.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

namespace traceloom {
namespace {

// HTA's limit for outliers: a call that only launches takes some microseconds.
constexpr std::int64_t kLongerThanLaunch = 50'000;

struct CallRow {
  std::string_view part;  // part of the name, in lower case
  std::int64_t least_ns;
};

// The runtimes and drivers of CUDA, HIP, Level Zero, Unified Runtime, MUSA and Ascend.
constexpr CallRow kCalls[] = {
    {"synchronize", 0},             // cudaDeviceSynchronize, hipStreamSynchronize, aclrt...
    {"queuefinish", 0},             // urQueueFinish
    {"ureventwait", 0},             //
    {"pieventswait", 0},            //
    {"memcpy", kLongerThanLaunch},  // cudaMemcpyAsync, hipMemcpyWithStream, urEnqueueUSMMemcpy
};

// Parts of the names of calls that give work to a device, in lower case. Copies and fills are work,
// too.
constexpr std::string_view kLaunchingCalls[] = {"launch", "memcpy", "memset"};

constexpr std::string_view kOperators[] = {"aten::item", "aten::_local_scalar_dense"};

}  // namespace

std::int64_t least_blocking_ns(std::string_view call) {
  const std::string lower = to_lower(call);
  const auto* const found =
      std::find_if(std::begin(kCalls), std::end(kCalls),
                   [&](const CallRow& row) { return lower.find(row.part) != std::string::npos; });
  return found == std::end(kCalls) ? std::numeric_limits<std::int64_t>::max() : found->least_ns;
}

bool is_launching(std::string_view call) {
  const std::string lower = to_lower(call);
  return std::any_of(std::begin(kLaunchingCalls), std::end(kLaunchingCalls),
                     [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

bool is_reading_operator(std::string_view op) {
  return std::find(std::begin(kOperators), std::end(kOperators), op) != std::end(kOperators);
}

}  // namespace traceloom
