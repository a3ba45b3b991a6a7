#include "trace_record/demo_model.h"

#include <algorithm>
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

DemoModel::DemoModel(std::uint64_t seed)
    : weights_(offset_of(kLayers)), gradients_(weights_.size()), velocity_(weights_.size()) {
  DemoRandom random(seed ^ 0x6d6f64656cU);
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    // The weights are random, and the biases begin at 0.
    const std::size_t count = kWidths[layer] * kWidths[layer + 1];
    const double scale = std::sqrt(2.0 / static_cast<double>(kWidths[layer]));
    for (std::size_t i = 0; i < count; ++i)
      weights_[offset_of(layer) + i] = static_cast<float>(random.normal() * scale);
  }
}

// The outputs of all layers but the last are cut at 0.
void DemoModel::forward_layer(std::size_t layer, std::size_t samples) {
  const std::size_t in = kWidths[layer];
  const std::size_t out = kWidths[layer + 1];
  const float* const weights = weights_.data() + offset_of(layer);
  const float* const biases = weights + in * out;
  values_[layer + 1].resize(samples * out);
  for (std::size_t s = 0; s < samples; ++s) {
    const float* const x = values_[layer].data() + s * in;
    float* const y = values_[layer + 1].data() + s * out;
    std::copy(biases, biases + out, y);
    for (std::size_t i = 0; i < in; ++i)
      for (std::size_t j = 0; j < out; ++j) y[j] += x[i] * weights[i * out + j];
    if (layer + 1 < kLayers)
      for (std::size_t j = 0; j < out; ++j) y[j] = std::max(0.0F, y[j]);
  }
}

double DemoModel::forward(const DemoBatch& batch) {
  const std::size_t samples = batch.pictures.size();
  values_[0].clear();
  values_[0].reserve(samples * kDemoPixels);
  for (const DemoBlock& picture : batch.pictures)
    values_[0].insert(values_[0].end(), picture.begin(), picture.end());
  for (std::size_t layer = 0; layer < kLayers; ++layer) forward_layer(layer, samples);

  // The last layer has softmax and cross entropy. Its error is averaged over the batch.
  double loss = 0;
  correct_ = 0;
  errors_[kLayers].resize(samples * kDemoKinds);
  for (std::size_t s = 0; s < samples; ++s) {
    const float* const y = values_[kLayers].data() + s * kDemoKinds;
    const float* const most = std::max_element(y, y + kDemoKinds);
    double sum = 0;
    for (std::size_t k = 0; k < kDemoKinds; ++k) sum += std::exp(double{y[k]} - *most);
    const std::size_t kind = batch.kinds[s];
    loss += std::log(sum) + *most - y[kind];
    if (y + kind == most) ++correct_;
    for (std::size_t k = 0; k < kDemoKinds; ++k) {
      const double share = std::exp(double{y[k]} - *most) / sum - (k == kind ? 1 : 0);
      errors_[kLayers][s * kDemoKinds + k] =
          static_cast<float>(share / static_cast<double>(samples));
    }
  }
  return loss / static_cast<double>(samples);
}

void DemoModel::backward_layer(std::size_t layer, std::size_t samples) {
  const std::size_t in = kWidths[layer];
  const std::size_t out = kWidths[layer + 1];
  const float* const weights = weights_.data() + offset_of(layer);
  float* const gradients = gradients_.data() + offset_of(layer);
  errors_[layer].resize(samples * in);
  for (std::size_t s = 0; s < samples; ++s) {
    const float* const x = values_[layer].data() + s * in;
    const float* const error = errors_[layer + 1].data() + s * out;
    for (std::size_t j = 0; j < out; ++j) gradients[in * out + j] += error[j];
    for (std::size_t i = 0; i < in; ++i) {
      float sum = 0;
      for (std::size_t j = 0; j < out; ++j) {
        gradients[i * out + j] += x[i] * error[j];
        sum += weights[i * out + j] * error[j];
      }
      errors_[layer][s * in + i] = layer > 0 && x[i] <= 0 ? 0 : sum;
    }
  }
}

void DemoModel::backward(const DemoBatch& batch) {
  std::fill(gradients_.begin(), gradients_.end(), 0.0F);
  for (std::size_t layer = kLayers; layer-- > 0;) backward_layer(layer, batch.pictures.size());
}

void DemoModel::step(float learning_rate) {
  constexpr float kMomentum = 0.9F;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    velocity_[i] = kMomentum * velocity_[i] + gradients_[i];
    weights_[i] -= learning_rate * velocity_[i];
  }
}

}  // namespace traceloom
