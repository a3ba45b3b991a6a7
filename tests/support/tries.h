// tries(): a long comparison over generated traces makes a quarter of its tries, or with
// TRACELOOM_ALL_TRIES in the environment (`./dev nightly` sets it) all. The seeds of the quarter
// are those of the first tries, so every day the same.
//
//   for (const std::string& path : of_today(list_traces(root)))   // each fourth, or at night all
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace traceloom {

inline bool is_night() {
  return std::getenv("TRACELOOM_ALL_TRIES") != nullptr;
}

inline std::uint64_t tries(std::uint64_t all) {
  return is_night() ? all : (all + 3) / 4;
}

template <typename T>
std::vector<T> of_today(const std::vector<T>& all, std::size_t stride = 4) {
  if (is_night()) stride = 1;
  std::vector<T> some;
  for (std::size_t i = 0; i < all.size(); i += stride) some.push_back(all[i]);
  return some;
}

}  // namespace traceloom
