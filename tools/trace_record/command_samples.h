// CommandSamples records the host and the processes of a command as counters in the trace.
//
// Besides the counters of the host (host_sampler.h) there are:
//
//   command/cpu         cpu_percent   all processes together; 100 is one CPU
//   command/rss         rss_mb
//   command/processes   count
//   process/PID NAME/cpu, process/PID NAME/rss: for processes that live for at least two samples
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
  // Samples the host and all descendants of this process.
  explicit CommandSamples(std::int64_t interval_ns);

  void take();
  // Returns the time to the next multiple of the interval since the start. So samples do not drift,
  // and late ones are skipped.
  std::int64_t ns_to_next() const;

  // Returns the files of /proc that cannot be read.
  std::vector<std::string> missing() const { return host_.missing(); }
  // Returns the most memory that all processes had together in a sample.
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
  // The names of the counters of shown processes, and whether the last sample had them.
  std::map<std::string, bool> shown_;
  double peak_mb_ = 0;
};

}  // namespace traceloom
