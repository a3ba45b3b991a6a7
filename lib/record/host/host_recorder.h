// HostRecorder, memory_counters(): record what the samplers of host and memory find, as counters in
// the trace of this process.
//
//   Session session(options);
//   const HostRecorder host(host_options_for(place));               // while it lives
//   MemoryStats stats({.path = "m.yaml", .on_snapshot = memory_counters()});
//
// They record while the schedule does.
#pragma once

#include "record/host/host_sampler.h"
#include "record/host/memory_scope.h"
#include "record/recorder.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace traceloom::record {

// Counters by name, made when they first occur. Not thread-safe.
class CounterTable {
 public:
  void record(const HostCounter& counter);

 private:
  std::map<std::string, Counter, std::less<>> counters_;
};

class HostRecorder {
 public:
  explicit HostRecorder(const HostSamplerOptions& options)
      : sampler_(options, [this](const HostCounter& counter) { table_.record(counter); }) {}

  std::vector<std::string> missing() const { return sampler_.missing(); }

 private:
  CounterTable table_;  // used by the sampler's thread
  HostSampler sampler_;
};

// Returns a function for MemoryStatsOptions::on_snapshot. It records memory/rss and memory/vms in
// MB, and memory/bytes/NAME for each of the program's own counters.
std::function<void(const MemorySnapshot&)> memory_counters();

}  // namespace traceloom::record

#pragma GCC visibility pop
