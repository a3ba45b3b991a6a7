// The model of the demo: a perceptron with two hidden layers that tells kinds of pictures apart.
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
  // The same weights for the same seed.
  explicit DemoModel(std::uint64_t seed);

  // Mean cross entropy of the batch; keeps what backward() needs.
  double forward(const DemoBatch& batch);
  // Of the batch that forward() has seen last.
  void backward(const DemoBatch& batch);
  // Down the gradients, with momentum.
  void step(float learning_rate);

  std::span<float> gradients() { return gradients_; }
  std::span<const float> weights() const { return weights_; }
  // Of the batch that forward() has seen last, how many it took for what they are.
  std::size_t correct() const { return correct_; }

 private:
  static constexpr std::size_t kLayers = 3;
  static constexpr std::array<std::size_t, kLayers + 1> kWidths{kDemoPixels, 128, 128, kDemoKinds};

  // Where the weights of a layer are, the biases behind them.
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
  // Of each layer's input and of the last one's output, sample by sample.
  std::array<std::vector<float>, kLayers + 1> values_;
  std::array<std::vector<float>, kLayers + 1> errors_;
  std::size_t correct_ = 0;
};

}  // namespace traceloom
