// The slow, obvious answer to who waited for whom: it examines every microsecond of every
// collective and compares every collective with every other one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom::oracle {

struct Waits {
  std::vector<std::vector<std::int64_t>> wait_ns;   // [rank][step]
  std::vector<std::vector<std::int64_t>> delay_ns;  // [rank][step]
};

// Takes one trace a rank: X events in whole microseconds, the same steps ProfilerStep#N of category
// user_annotation in all, and kernels of collectives with a process group and Seq, one of each a
// rank. An event without args is work of the device, which hides communication. Returns nothing if
// some rank spent less than half of its time in collectives in those that all ranks of the group
// have.
std::optional<Waits> find_waits(const std::vector<std::string>& traces);

}  // namespace traceloom::oracle
