// DemoRandom makes random numbers that are the same on every machine. The distributions of the
// standard library differ between machines.
#pragma once

#include <cstdint>

namespace traceloom {

class DemoRandom {
 public:
  explicit DemoRandom(std::uint64_t seed) : state_(seed) {}

  // This is splitmix64.
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  // Returns a number from -1 to 1.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1.0; }
  // Returns a nearly normal number with mean 0 and deviation 1: a sum of twelve.
  double normal() {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum / 2;
  }

 private:
  std::uint64_t state_;
};

}  // namespace traceloom
