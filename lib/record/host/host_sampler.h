// HostSampler: samples what the machine and the process do, at an interval, as the counters that
// host_recorder.h lists.
//
//   HostSampler sampler(options, [](const HostCounter& counter) { ... });    // while it lives
#pragma once

#include "record/host/proc.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <thread>
#include <utility>
#include <vector>

namespace traceloom::record {

struct HostSamplerOptions {
  std::int64_t interval_ns = 500'000'000;
  bool cpu = true;
  bool memory = true;
  bool disk = true;
  bool network = true;
  bool gpu = true;
  bool process = true;  // CPU time and memory of this process
  // The folders of the files; tests use others.
  std::string proc = "/proc";
  std::string block_devices = "/sys/block";
  std::string nvml = "libnvidia-ml.so.1";
};

inline constexpr double kMb = 1e6;  // an MB is 1e6 bytes

// One counter, valid during the call only.
struct HostCounter {
  std::string_view name;
  std::string_view category;                                // "cpu", "memory", "disk", "net"
  std::vector<std::pair<std::string_view, double>> values;  // by their keys
};
using HostSink = std::function<void(const HostCounter&)>;

// Records it in the trace, while the schedule records.
void record_counter(const HostCounter& counter);

// Returns what reads NVIDIA's GPUs by the library of their driver; nothing without that library.
std::function<void(const HostSink&)> nvml_reader(const std::string& library);

// Reads the counters once a call, without a thread. Rates and shares are those since the call
// before, so the first call gives none of them. Not thread-safe.
class HostReader {
 public:
  explicit HostReader(const HostSamplerOptions& options);

  // `now_ns` is a time on a clock that never steps back. A disk or network interface that stops
  // working is reported once more, and then not until it does something again.
  void read(std::int64_t now_ns, const HostSink& sink);

  // Returns the wanted files that cannot be read, such as "/proc/diskstats".
  std::vector<std::string> missing() const;

 private:
  bool is_whole_disk(const std::string& device);
  void read_cpu(const HostSink& sink);
  void read_memory(const HostSink& sink);
  void read_disks(double seconds, const HostSink& sink);
  void read_network(double seconds, const HostSink& sink);
  void read_process(double seconds, const HostSink& sink);
  void emit_if_busy(const HostCounter& counter, const HostSink& sink);

  std::string block_devices_;
  // A file that is not wanted has no path, and reads as empty.
  ProcFile stat_;
  ProcFile meminfo_;
  ProcFile diskstats_;
  ProcFile net_dev_;
  ProcFile self_;
  std::function<void(const HostSink&)> read_gpus_;  // empty if there are none
  double ticks_per_second_;
  double page_bytes_;
  std::optional<std::int64_t> last_ns_;
  std::optional<CpuTimes> cpu_;
  std::map<std::string, DiskCounters> disks_;
  std::map<std::string, NicCounters> nics_;
  std::map<std::string, bool> whole_disks_;
  std::map<std::string, bool> busy_;  // key: name of the counter; it was not 0 at the last read
  std::optional<std::uint64_t> process_ticks_;
};

// Runs a thread that reads at multiples of the interval since the start, so that samples do not
// drift. It reads at once when it starts. An exception of the sink ends the sampling.
class HostSampler {
 public:
  // Throws std::invalid_argument for an interval below 1 ms.
  HostSampler(const HostSamplerOptions& options, HostSink sink);
  // Reads once more, so that the end of the run is covered, and stops.
  ~HostSampler();
  HostSampler(const HostSampler&) = delete;
  HostSampler& operator=(const HostSampler&) = delete;

  const std::vector<std::string>& missing() const { return missing_; }

 private:
  void run();

  std::int64_t interval_ns_;
  HostReader reader_;
  HostSink sink_;
  std::vector<std::string> missing_;
  pid_t process_;  // the process that has the thread
  // Stops the thread; in a child of fork() it is left as it is.
  struct Stop {
    std::mutex mutex;
    std::condition_variable wake;
    bool is_wanted = false;
  };
  std::unique_ptr<Stop> stop_;
  std::thread thread_;
};

}  // namespace traceloom::record
