// The data of the demo: small pictures of ten kinds, stored like the blocks of a JPEG, and a loader
// that decodes them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace traceloom {

inline constexpr std::size_t kDemoSide = 8;
inline constexpr std::size_t kDemoPixels = kDemoSide * kDemoSide;
inline constexpr std::size_t kDemoKinds = 10;

using DemoBlock = std::array<float, kDemoPixels>;

struct DemoBatch {
  std::vector<DemoBlock> pictures;
  std::vector<std::size_t> kinds;
};

// Turns the coefficients of a discrete cosine transform into pixels.
DemoBlock decode_block(const DemoBlock& coefficients);

// The part of the data set that belongs to one rank. Each epoch has other pictures. They are the
// same in every run with this seed, and the ten kinds are the same for all ranks.
class DemoLoader {
 public:
  DemoLoader(std::uint64_t seed, std::int64_t rank, std::size_t batch_size);

  // Returns the pictures as they are stored, like a real loader reads them from its disk.
  DemoBatch read(std::int64_t epoch, std::int64_t batch) const;
  // Decodes the pictures in place.
  static void decode(DemoBatch& batch);

 private:
  std::uint64_t seed_;
  std::int64_t rank_;
  std::size_t batch_size_;
  std::array<DemoBlock, kDemoKinds> kinds_;
};

}  // namespace traceloom
