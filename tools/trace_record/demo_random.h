// DemoRandom: numbers that look random and are the same on every machine, which those of the
// distributions of the standard library are not.
#pragma once

#include <cstdint>

namespace traceloom {

class DemoRandom {
 public:
  explicit DemoRandom(std::uint64_t seed) : state_(seed) {}

  // splitmix64
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  // From -1 to 1.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1.0; }
  // Mean 0, deviation 1, nearly normal: a sum of twelve.
  double normal() {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum / 2;
  }

 private:
  std::uint64_t state_;
};

}  // namespace traceloom
