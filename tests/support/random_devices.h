// Random traces of a rank with devices: host threads with operators and calls, and what these
// launch. A seed always gives the same text. In whole microseconds, X events only.
//
//   Run run = read_texts({{"rank0.json", random_devices(seed, 0)}});
//
// They contain the oddities of real traces: graphs (one call, several pieces), calls that launch
// nothing, work without a launch or without a correlation, a repeated correlation, work that begins
// before its call, takes no time, overlaps on its stream or names none, copies without bytes, names
// of CUDA and of HIP. No two calls begin at the same time.
#pragma once

#include <cstdint>
#include <string>

namespace traceloom {

std::string random_devices(std::uint32_t seed, int rank);

}  // namespace traceloom
