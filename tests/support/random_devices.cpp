#include "support/random_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <string_view>
#include <vector>

namespace traceloom {
namespace {

struct Kind {
  std::string_view name;
  std::string_view category;
};
constexpr std::array<Kind, 8> kWork{{{"gemm", "kernel"},
                                     {"relu", "kernel"},
                                     {"ncclDevKernel_AllReduce_Sum_f32", "kernel"},
                                     {"Memcpy HtoD (Pageable -> Device)", "gpu_memcpy"},
                                     {"Memcpy DtoH (Device -> Pinned)", "gpu_memcpy"},
                                     {"CopyDeviceToDevice", "gpu_memcpy"},
                                     {"Memset (Device)", "gpu_memset"},
                                     {"gemm", "kernel"}}};
constexpr std::array<std::string_view, 6> kCalls{"cudaLaunchKernel", "hipLaunchKernel",
                                                 "cudaMemcpyAsync",  "cudaGraphLaunch",
                                                 "hipMemcpyAsync",   "cuLaunchKernel"};
constexpr std::array<std::string_view, 5> kOps{"aten::mm", "aten::add", "autograd::engine",
                                               "aten::copy_", "Optimizer.step#SGD.step"};

class Generator {
  int below(int limit) { return static_cast<int>(random_() % static_cast<std::uint32_t>(limit)); }

  template <typename Table>
  const auto& pick(const Table& table) {
    return table[static_cast<std::size_t>(below(static_cast<int>(table.size())))];
  }

 public:
  Generator(std::uint32_t seed, int rank)
      : random_(seed * 97 + static_cast<std::uint32_t>(rank)), rank_(rank) {}

  std::string text() {
    for (int i = below(30); i > 0; --i) {
      const char* const category = below(4) == 0 ? "user_annotation" : "cpu_op";
      const std::string_view name = pick(kOps);
      const int start = below(500);
      const int duration = below(60);
      add(category, name, start, duration, 100 + rank_, 1 + below(2), "");
    }
    std::vector<int> starts(500);
    for (int i = 0; i < 500; ++i) starts[static_cast<std::size_t>(i)] = i;
    std::shuffle(starts.begin(), starts.end(), random_);
    const int calls = below(25);
    for (int i = 0; i < calls; ++i) add_call(starts[static_cast<std::size_t>(i)], 1 + i);
    for (int i = below(6); i > 0; --i) {
      const int start = below(500);
      const int duration = below(90);
      add("cuda_runtime", "cudaStreamSynchronize", start, duration, 100 + rank_, 1 + below(2), "");
    }
    for (int i = below(4); i > 0; --i) {
      const int start = below(500);
      add_work(start, below(2) == 0 ? 0 : 1000 + i);
    }
    std::shuffle(events_.begin(), events_.end(), random_);
    return fmt::format(
        "{{\"distributedInfo\": {{\"rank\": {}, \"world_size\": 4}}, \"baseTimeNanoseconds\": {}, "
        "\"traceEvents\": [\n{}\n]}}\n",
        rank_, 1'700'000'000'000'000'000 + rank_ * std::int64_t{1'000'000}, joined());
  }

 private:
  void add(std::string_view category, std::string_view name, int ts, int dur, int pid, int tid,
           const std::string& args) {
    events_.push_back(fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": "{}", "ts": {}, "dur": {}, "pid": {}, "tid": {}, "args": {{{}}}}})",
        category, name, ts, dur, pid, tid, args));
  }

  void add_call(int start, int number) {
    const int correlation = below(12) == 0 ? std::max(1, number - 3) : number;
    const std::string_view name = pick(kCalls);
    const int duration = below(15);
    const int thread = 1 + below(2);
    add("cuda_runtime", name, start, duration, 100 + rank_, thread,
        below(15) == 0 ? "" : fmt::format("\"correlation\": {}", correlation));
    if (below(8) == 0) return;
    const int pieces = below(6) == 0 ? 2 + below(3) : 1;
    for (int i = 0; i < pieces; ++i) add_work(std::max(0, start - 3 + below(50)), correlation);
  }

  // The work gets no correlation if that is 0.
  void add_work(int start, int correlation) {
    const Kind& kind = pick(kWork);
    const int device = below(2);
    std::string args = fmt::format("\"device\": {}", device);
    if (below(10) != 0) args += fmt::format(", \"stream\": {}", below(2) == 0 ? 7 : 20);
    if (correlation != 0) args += fmt::format(", \"correlation\": {}", correlation);
    if (kind.category != "kernel" && below(3) != 0) {
      args += fmt::format(", \"bytes\": {}", 1000 * below(100));
      if (below(3) == 0) args += fmt::format(", \"memory bandwidth (GB/s)\": {}.5", below(100));
    }
    add(kind.category, kind.name, start, below(4) == 0 ? 0 : below(40), device, 7, args);
  }

  std::string joined() const {
    std::string text;
    for (const std::string& event : events_) {
      if (!text.empty()) text += ",\n";
      text += event;
    }
    return text;
  }

  std::mt19937 random_;
  int rank_;
  std::vector<std::string> events_;
};

}  // namespace

std::string random_devices(std::uint32_t seed, int rank) {
  return Generator(seed, rank).text();
}

}  // namespace traceloom
