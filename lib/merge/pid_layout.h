// PidLayout: what a process of the merged trace stands for.
#pragma once

#include <cstdint>

namespace traceloom {

enum class PidLayout : std::uint8_t {
  rank,   // pid = rank; GPUs, workers and the rest are rows of it
  split,  // every source process is a group of rows of its own, labelled with its rank
};

}  // namespace traceloom
