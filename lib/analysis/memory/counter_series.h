// CounterSeries: what a counter of a rank measured over time, with a name and a unit that mean
// something.
//
//   for (const CounterSeries& series : find_counters(run, run.ranks[0]))
//     if (series.is_rate) use(series.values);
//
// Composer's system profiler writes totals since boot, and wrong units: its "_gb" are blocks of 512
// bytes, its "kb_" blocks of 8 bytes; others who write the same names mean GiB and KiB. Which it is
// is told by the values (see composer_units()).
#pragma once

#include "run/run.h"
#include "table/table.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// One value, and the time that it is about.
struct CounterValue {
  std::int64_t at_ns = 0;  // when it was written
  Interval time;           // of a rate or a load: since the one before; else until the next one
  double value = 0;
};

struct CounterSeries {
  std::string name;     // "cpu", "memory/virtual/used", "network/eth0/sent"
  std::string process;  // its pid, where several processes of the rank have a counter of the name
  QuantityUnit unit = QuantityUnit::none;
  bool is_rate = false;  // made of totals
  // By time. The first total gives no rate, nor does one that is less than the one before it (the
  // counter began anew).
  std::vector<CounterValue> values;
  std::uint64_t restarts = 0;  // of a total
};

// How the counters that Composer named count.
struct ComposerUnits {
  double gb = 0;  // bytes in one of "_gb"
  double kb = 0;  // and of "kb_"
};

// Blocks of 512 bytes when used or available memory is ever more than 32 Ki "GB": no machine has so
// much, and every one has as many blocks (16 MiB). "kb_" follows; without memory counters they are
// blocks of 8 bytes when all values are whole eighths, which KiB rarely are.
ComposerUnits composer_units(const Run& run, const RankEvents& rank);
// Whether the rank has counters of Composer, in blocks.
bool uses_blocks(const Run& run, const RankEvents& rank);

// By name, then process. The run must have been read with samples.
std::vector<CounterSeries> find_counters(const Run& run, const RankEvents& rank);

}  // namespace traceloom
