#include "trace_record/demo_data.h"

#include "trace_record/demo_random.h"

#include <cmath>
#include <numbers>

namespace traceloom {
namespace {

// Returns the cosines by [frequency][position].
std::array<std::array<float, kDemoSide>, kDemoSide> make_cosines() {
  std::array<std::array<float, kDemoSide>, kDemoSide> table{};
  constexpr double kSide = kDemoSide;
  for (std::size_t k = 0; k < kDemoSide; ++k)
    for (std::size_t x = 0; x < kDemoSide; ++x) {
      const double scale = std::sqrt((k == 0 ? 1.0 : 2.0) / kSide);
      const double angle =
          std::numbers::pi * (static_cast<double>(x) + 0.5) * static_cast<double>(k) / kSide;
      table[k][x] = static_cast<float>(scale * std::cos(angle));
    }
  return table;
}

}  // namespace

DemoBlock decode_block(const DemoBlock& coefficients) {
  static const auto cosines = make_cosines();
  DemoBlock pixels{};
  for (std::size_t y = 0; y < kDemoSide; ++y)
    for (std::size_t x = 0; x < kDemoSide; ++x) {
      float sum = 0;
      for (std::size_t v = 0; v < kDemoSide; ++v)
        for (std::size_t u = 0; u < kDemoSide; ++u)
          sum += coefficients[v * kDemoSide + u] * cosines[v][y] * cosines[u][x];
      pixels[y * kDemoSide + x] = sum;
    }
  return pixels;
}

DemoLoader::DemoLoader(std::uint64_t seed, std::int64_t rank, std::size_t batch_size)
    : seed_(seed), rank_(rank), batch_size_(batch_size), kinds_{} {
  DemoRandom random(seed);
  for (DemoBlock& kind : kinds_)
    for (float& coefficient : kind) coefficient = static_cast<float>(random.normal() * 0.4);
}

DemoBatch DemoLoader::read(std::int64_t epoch, std::int64_t batch) const {
  DemoRandom which(seed_ ^ static_cast<std::uint64_t>(epoch) << 40 ^
                   static_cast<std::uint64_t>(batch) << 16 ^ static_cast<std::uint64_t>(rank_));
  DemoRandom random(which.next());
  DemoBatch stored;
  stored.pictures.reserve(batch_size_);
  stored.kinds.reserve(batch_size_);
  for (std::size_t i = 0; i < batch_size_; ++i) {
    const std::size_t kind = random.below(kDemoKinds);
    DemoBlock picture = kinds_[kind];
    for (float& coefficient : picture) coefficient += static_cast<float>(random.normal() * 0.6);
    stored.pictures.push_back(picture);
    stored.kinds.push_back(kind);
  }
  return stored;
}

void DemoLoader::decode(DemoBatch& batch) {
  for (DemoBlock& picture : batch.pictures) picture = decode_block(picture);
}

}  // namespace traceloom
