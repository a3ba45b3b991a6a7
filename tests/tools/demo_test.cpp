#include "support/child_process.h"
#include "trace_record/demo_model.h"
#include "trace_record/demo_team.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <unistd.h>
#include <vector>

using namespace traceloom;

TEST_CASE("demo_data: a picture is the sum of its cosines") {
  DemoBlock coefficients{};
  coefficients[0] = 8;
  const DemoBlock flat = decode_block(coefficients);
  for (const float pixel : flat) CHECK(pixel == doctest::Approx(1));
  coefficients[0] = 0;
  coefficients[1] = 1;  // once from left to right
  const DemoBlock slope = decode_block(coefficients);
  CHECK(slope[0] == doctest::Approx(-slope[7]));
  CHECK(slope[0] == doctest::Approx(slope[56]));
  CHECK(slope[0] > slope[1]);
}

TEST_CASE("demo_data: the same for the same seed, another for each rank, epoch and batch") {
  const DemoLoader loader(1, 0, 8);
  const DemoBatch batch = loader.read(0, 0);
  CHECK(batch.pictures.size() == 8);
  CHECK(batch.pictures == DemoLoader(1, 0, 8).read(0, 0).pictures);
  CHECK(batch.pictures != DemoLoader(2, 0, 8).read(0, 0).pictures);
  CHECK(batch.pictures != DemoLoader(1, 1, 8).read(0, 0).pictures);
  CHECK(batch.pictures != loader.read(1, 0).pictures);
  CHECK(batch.pictures != loader.read(0, 1).pictures);
}

TEST_CASE("demo_model: gradients are the slope of the loss") {
  const DemoLoader loader(3, 0, 4);
  DemoBatch batch = loader.read(0, 0);
  DemoLoader::decode(batch);
  DemoModel model(3);
  const double before = model.forward(batch);
  model.backward(batch);
  double slope = 0;
  for (const float gradient : model.gradients()) slope += double{gradient} * gradient;
  CHECK(slope > 0.01);
  constexpr float kSmall = 1e-4F;
  model.step(kSmall);
  CHECK((before - model.forward(batch)) / kSmall == doctest::Approx(slope).epsilon(0.05));
}

TEST_CASE("demo_model: learns to tell pictures apart that it has not seen") {
  const DemoLoader loader(1, 0, 64);
  DemoModel model(1);
  const auto loss_of = [&](std::int64_t epoch, std::int64_t number) {
    DemoBatch batch = loader.read(epoch, number);
    DemoLoader::decode(batch);
    return model.forward(batch);
  };
  const double untrained = loss_of(7, 0);
  CHECK(untrained > 1.5);
  for (std::int64_t number = 0; number < 40; ++number) {
    DemoBatch batch = loader.read(0, number);
    DemoLoader::decode(batch);
    model.forward(batch);
    model.backward(batch);
    model.step(0.02F);
  }
  CHECK(loss_of(7, 0) < untrained / 4);
  CHECK(model.correct() > 48);
}

TEST_CASE("demo_team: every rank gets the mean of all, whatever its number") {
  constexpr std::size_t kRanks = 3;
  DemoTeam team(kRanks, 5);
  std::vector<pid_t> children;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    children.push_back(start_child([&] {
      bool right = true;
      for (int round = 0; round < 100; ++round) {
        std::vector<float> values(5);
        for (std::size_t i = 0; i < 5; ++i)
          values[i] = static_cast<float>(rank * 10 + i + static_cast<std::size_t>(round));
        team.all_reduce(rank, values);
        for (std::size_t i = 0; i < 5; ++i)
          right =
              right && values[i] == static_cast<float>(10 + i + static_cast<std::size_t>(round));
      }
      _exit(right ? 0 : 1);
    }));
  }
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
}
