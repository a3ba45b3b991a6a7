// tries(): a long comparison over generated traces makes an eighth of its tries, or with
// TRACELOOM_ALL_TRIES in the environment (`./dev nightly` sets it) all. The seeds of the eighth
// are those of the first tries, so every day the same.
//
//   for (const std::string& path : of_today(list_traces(root)))   // each eighth, or at night all
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace traceloom {

inline bool is_night() {
  return std::getenv("TRACELOOM_ALL_TRIES") != nullptr;
}

inline constexpr std::size_t kShare = 8;

inline std::uint64_t tries(std::uint64_t all) {
  return is_night() ? all : (all + kShare - 1) / kShare;
}

template <typename T>
std::vector<T> of_today(const std::vector<T>& all, std::size_t stride = kShare) {
  if (is_night()) stride = 1;
  std::vector<T> some;
  for (std::size_t i = 0; i < all.size(); i += stride) some.push_back(all[i]);
  return some;
}

}  // namespace traceloom
