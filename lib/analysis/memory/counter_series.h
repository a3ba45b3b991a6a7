// CounterSeries: the measurements of a rank's counter over time, with a meaningful name and unit.
//
//   for (const CounterSeries& series : find_counters(run, run.ranks[0]))
//     if (series.is_rate) use(series.values);
//
// Composer's system profiler writes totals since boot, and wrong units: its "_gb" are blocks of 512
// bytes, its "kb_" blocks of 8 bytes. Other producers that use the same names mean GiB and KiB. The
// values show which it is.
#pragma once

#include "run/run.h"
#include "table/table.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

// One value, and the time that it describes.
struct CounterValue {
  std::int64_t at_ns = 0;  // when it was written
  Interval time;           // a rate or load: the time since the previous value; otherwise the time
                           // until the next one
  double value = 0;
};

struct CounterSeries {
  std::string name;     // "cpu", "memory/virtual/used", "network/eth0/sent"
  std::string process;  // pid, if several processes of the rank have a counter with the name
  QuantityUnit unit = QuantityUnit::none;
  bool is_rate = false;  // computed from totals
  // Sorted by time. The first total gives no rate, and neither does one that is less than the
  // previous one (the counter started again).
  std::vector<CounterValue> values;
  std::uint64_t restarts = 0;  // number of restarts of a total
};

// True if the rank has counters of Composer, in blocks.
bool uses_blocks(const Run& run, const RankEvents& rank);

// Sorted by name, then process. The run must have been read with samples.
std::vector<CounterSeries> find_counters(const Run& run, const RankEvents& rank);

}  // namespace traceloom
