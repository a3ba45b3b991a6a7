// The slow, obvious answers to what devices did, why they waited, and what was launched: they
// examine every microsecond by itself and compare every piece of work with every call.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace traceloom::oracle {

// All times here are nanoseconds.
struct BusyTimes {
  std::int64_t total = 0;
  std::int64_t compute = 0;
  std::int64_t exposed_comm = 0;
  std::int64_t exposed_memcpy = 0;
  std::int64_t idle = 0;
  std::int64_t kernel = 0;
  std::int64_t comm = 0;
  std::int64_t memcpy = 0;
  std::int64_t overlap = 0;
};

struct IdleTimes {
  std::int64_t total = 0;
  std::map<std::string, std::int64_t> kinds;  // "host wait", "turn-around", "queued", "blocked",
                                              // "not recorded"
  std::int64_t kernel_wait = 0;
  std::map<std::string, std::int64_t> hta;  // "host wait", "kernel wait", "other"
  std::vector<std::int64_t> gaps;           // ascending
};

struct LaunchTimes {
  std::int64_t work = 0;
  std::int64_t launches = 0;
  std::int64_t short_ones = 0;
  std::int64_t in_calls = 0;         // time of the calls
  std::vector<std::int64_t> delays;  // ascending
  std::vector<std::int64_t> queue;   // lengths after each change, ascending
  std::int64_t empty = 0;
  std::int64_t queue_time = 0;  // time from the first to the last change
};

struct TransferTimes {
  std::int64_t count = 0;
  std::int64_t total = 0;
  std::int64_t bytes = 0;
  std::int64_t exposed = 0;
  std::vector<double> gbps;  // ascending
};

struct DeviceFacts {
  std::map<int, BusyTimes> busy;                         // keyed by device
  std::map<std::string, std::int64_t> types;             // "computation overlapping memory"
  std::map<int, IdleTimes> idle;                         // keyed by device
  std::map<std::pair<int, int>, IdleTimes> stream_idle;  // keyed by device and stream, -1: not
                                                         // named
  std::map<std::pair<int, int>, LaunchTimes> launches;   // the same
  std::map<std::tuple<std::string, std::string, std::string>, std::int64_t>
      hosts;  // keyed by kind of gap, op and call
  std::map<std::string, std::int64_t> short_of_ops;
  std::map<std::string, std::int64_t> in_calls_of_ops;
  std::map<std::string, std::int64_t> launches_of_calls;
  std::map<std::string, TransferTimes> transfers;  // keyed by name
};

// `trace` holds one rank: X events in whole microseconds with the categories of torch.profiler.
DeviceFacts find_device_facts(const std::string& trace, std::int64_t kernel_gap_us);

}  // namespace traceloom::oracle
