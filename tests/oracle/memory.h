// The slow, obvious answers about memory and counters: every event is compared with every other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace traceloom::oracle {

struct OperatorBytes {
  std::int64_t self_increase = 0;
  std::int64_t self_alloc = 0;
  std::int64_t self_count = 0;
  std::int64_t increase = 0;
  std::int64_t alloc = 0;
  std::int64_t count = 0;
  std::int64_t at_peak = 0;
  std::int64_t unfreed = 0;

  friend bool operator==(const OperatorBytes&, const OperatorBytes&) = default;
};

struct DeviceBytes {
  std::int64_t start = 0;
  std::int64_t peak = 0;
  std::int64_t end = 0;
  std::map<std::string, OperatorBytes> operators;  // "(no operator)" for none
};

// `trace` is a list of X events (cat cpu_op) that nest on each tid, and of "[memory]" instants with
// Device Id, Bytes, Addr and Total Allocated. All times are whole microseconds; instants are in
// time order. The result is keyed by Device Id.
std::map<std::int64_t, DeviceBytes> find_memory(const std::string& trace);

struct CounterNumbers {
  std::size_t samples = 0;
  double mean = 0;
  double p50 = 0;
  double p99 = 0;
  double during = -1;  // -1: none of its time was so
  double elsewhere = -1;
};

enum class CounterKind { level, load, total };

// `trace` is a list of C events with one value, of X events "ProfilerStep#N" and of the loader's
// "enumerate(DataLoader)#...". All times are whole microseconds. A total becomes a rate a second.
CounterNumbers find_counter(const std::string& trace, const std::string& name, CounterKind kind);

}  // namespace traceloom::oracle
