// The model of the demo: a perceptron with two hidden layers that classifies pictures.
//
//   DemoModel model(seed);
//   double loss = model.forward(batch);
//   model.backward(batch);
//   ... model.gradients() are averaged over all ranks ...
//   model.step(0.05F);
#pragma once

#include "trace_record/demo_data.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace traceloom {

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
