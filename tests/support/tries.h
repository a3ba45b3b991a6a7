// tries(): a long comparison over generated traces makes a quarter of its tries, or with
// TRACELOOM_ALL_TRIES in the environment (`./dev nightly` sets it) all. The seeds of the quarter
// are those of the first tries, so every day the same.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace traceloom {

inline std::uint64_t tries(std::uint64_t all) {
  return std::getenv("TRACELOOM_ALL_TRIES") != nullptr ? all : (all + 3) / 4;
}

}  // namespace traceloom
