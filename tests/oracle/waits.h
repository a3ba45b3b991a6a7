// The slow, obvious answer to who waited for whom: every microsecond of every collective is looked
// at by itself, every collective is compared with every other one.
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

// Of one trace a rank: X events in whole microseconds, the same steps ProfilerStep#N everywhere, of
// category user_annotation, and kernels of collectives with a process group and Seq, one of each a
// rank; what has no args is work of the device, which hides communication. None when of some rank
// less than half of the time in them is in such that all ranks of the group have.
std::optional<Waits> find_waits(const std::vector<std::string>& traces);

}  // namespace traceloom::oracle
