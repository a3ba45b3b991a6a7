// HostRecorder: samples what the machine and the process do besides the training, at an interval,
// and records it as counters in the trace of this process.
//
//   Session session(options);
//   const HostRecorder host(host_options_for(options));       // while it lives
//
// It reads /proc; a sample takes some 30 us of the sampler's thread.
//
//   counter          keys                                        of
//   cpu              cpu_percent                                 host: 100 is all CPUs
//   memory/virtual   used_gb, available_gb                       host; a GB is 1e9 bytes
//   memory/swap      used_gb, free_gb                            host
//   disk/DEV         read_mb_per_s, written_mb_per_s             disk; an MB is 1e6 bytes
//   disk/DEV/ops     reads_per_s, writes_per_s                   disk
//   disk/DEV/busy    busy_percent                                disk: time in which it had work
//   network/NIC      sent_mb_per_s, received_mb_per_s            network interface
//   gpu/N/memory     used_gb, free_gb                            NVIDIA's GPU N, by NVML
//   gpu/N/busy       busy_percent, memory_percent                GPU: time with kernels
//   gpu/N/power      watts                                       GPU
//   gpu/N/clock      sm_mhz, memory_mhz                          GPU
//   cpu/process      cpu_percent                                 process: 100 is one CPU
//   memory/rss       rss_mb                                      process
//   memory/vms       vms_mb                                      process
//
// Counters have the names that Composer's profiler gives them, if it has them, but not its units:
// it counts what it calls GB in 512 bytes, and sums up since the machine started what are rates
// here. Disks are whole disks: partitions, and devices made of other disks, would count twice.
#pragma once

#include "record/failure.h"
#include "record/session.h"

#include <string>
#include <vector>

namespace traceloom::record {

// traceloom.h describes the members.
struct HostOptions : traceloom_host_options {
  HostOptions() noexcept : traceloom_host_options TRACELOOM_HOST_OPTIONS_INIT {}
};

// Returns the options for one process: the first one of a node samples the host, the others only
// themselves. `place` says which one this is, or its launcher does.
inline HostOptions host_options_for(const Options& place) {
  HostOptions options;
  traceloom_host_share(&options, &detail::OptionsForC(place).get());
  return options;
}

class HostRecorder {
 public:
  // Throws std::runtime_error for an interval below 1 ms, and if there can be no more threads.
  explicit HostRecorder(const HostOptions& options = {}) : host_(traceloom_host_start(&options)) {
    if (host_ == nullptr) detail::fail();
  }
  // Reads once more, so that the end of the run is covered, and stops.
  ~HostRecorder() { traceloom_host_stop(host_); }
  HostRecorder(const HostRecorder&) = delete;
  HostRecorder& operator=(const HostRecorder&) = delete;

  // Returns the wanted files that cannot be read, such as "/proc/diskstats".
  std::vector<std::string> missing() const {
    std::vector<std::string> files;
    while (const char* const file = traceloom_host_missing(host_, files.size()))
      files.emplace_back(file);
    return files;
  }

 private:
  traceloom_host* host_;
};

}  // namespace traceloom::record
