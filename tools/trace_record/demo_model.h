// The training of the demo: random numbers that are the same on every machine, its pictures, and
// its model.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace traceloom {

// DemoRandom makes random numbers that are the same on every machine. The distributions of the
// standard library differ between machines.

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

// The data of the demo: small pictures of ten kinds, stored like the blocks of a JPEG, and a loader
// that decodes them.

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

// The model of the demo: a perceptron with two hidden layers that classifies pictures.
//
//   DemoModel model(seed);
//   double loss = model.forward(batch);
//   model.backward(batch);
//   ... model.gradients() are averaged over all ranks ...
//   model.step(0.05F);

class DemoModel {
 public:
  // Sets the weights, which are the same for the same seed.
  explicit DemoModel(std::uint64_t seed);

  // Returns the mean cross entropy of the batch, and keeps what backward() needs.
  double forward(const DemoBatch& batch);
  // Computes the gradients for the batch of the last forward().
  void backward(const DemoBatch& batch);
  // Moves the weights down the gradients, with momentum.
  void step(float learning_rate);

  std::span<float> gradients() { return gradients_; }
  std::span<const float> weights() const { return weights_; }
  // Returns how many pictures of the last batch were classified correctly.
  std::size_t correct() const { return correct_; }

 private:
  static constexpr std::size_t kLayers = 3;
  static constexpr std::array<std::size_t, kLayers + 1> kWidths{kDemoPixels, 128, 128, kDemoKinds};

  // Returns the index of the first weight of a layer. Its biases follow its weights.
  static constexpr std::size_t offset_of(std::size_t layer) {
    std::size_t offset = 0;
    for (std::size_t i = 0; i < layer; ++i) offset += (kWidths[i] + 1) * kWidths[i + 1];
    return offset;
  }
  void forward_layer(std::size_t layer, std::size_t samples);
  void backward_layer(std::size_t layer, std::size_t samples);

  std::vector<float> weights_;
  std::vector<float> gradients_;
  std::vector<float> velocity_;
  // The inputs of each layer and the output of the last one, sample by sample.
  std::array<std::vector<float>, kLayers + 1> values_;
  std::array<std::vector<float>, kLayers + 1> errors_;
  std::size_t correct_ = 0;
};

}  // namespace traceloom
