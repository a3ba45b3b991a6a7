// CommandSamples: host and the processes of a command, as counters in the trace of this process.
//
// Beside the host's (host_sampler.h):
//
//   command/cpu         cpu_percent   all processes together; 100 is one CPU
//   command/rss         rss_mb
//   command/processes   count
//   process/PID NAME/cpu, process/PID NAME/rss: of those that live for two samples at least
#pragma once

#include "record/host/host_recorder.h"
#include "record/host/process_tree.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

class CommandSamples {
 public:
  // Of what descends from this process.
  explicit CommandSamples(std::int64_t interval_ns);

  void take();
  // Until the next multiple of the interval since the start: samples do not drift, and those that
  // come too late are left out.
  std::int64_t ns_to_next() const;

  // Files of /proc that cannot be read.
  std::vector<std::string> missing() const { return host_.missing(); }
  // The most that all processes took together at a sample.
  std::uint64_t peak_bytes() const { return static_cast<std::uint64_t>(peak_mb_ * 1e6); }

 private:
  void take_processes(std::int64_t now_ns);
  void show(const record::ProcessTree::Process& process);
  void record(const std::string& name, std::string_view category, std::string_view key,
              double value);

  std::int64_t interval_ns_;
  std::int64_t start_ns_;
  bool is_first_ = true;
  record::HostReader host_;
  record::ProcessTree tree_;
  record::CounterTable table_;
  // Names of the counters of processes that were shown; whether they were there at the last sample.
  std::map<std::string, bool> shown_;
  double peak_mb_ = 0;
};

}  // namespace traceloom
