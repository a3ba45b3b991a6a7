#include "analysis/step_roles.h"

#include "oracle/roles.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

#include <random>

using namespace traceloom;

namespace {

StepRoles first_step(const std::string& text) {
  const Run run = read_texts({{"rank0.json", text}});
  return find_roles(run, run.ranks.at(0)).steps.at(0);
}

// A few steps with everything that has a role, at random places.
std::string random_steps(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto number = [&](int from, int to) {
    return std::uniform_int_distribution(from, to)(random);
  };
  TraceText trace;
  trace.cat("user_annotation");
  const int steps = number(1, 4);
  for (int i = 0; i < steps; ++i) trace.x("ProfilerStep#" + std::to_string(i), 100 * i, 100);
  const std::vector<std::pair<const char*, const char*>> kinds{
      {"gemm", "kernel"},
      {"ncclDevKernel_AllReduce", "kernel"},
      {"Memcpy", "gpu_memcpy"},
      {"Memset", "gpu_memset"},
      {"cudaStreamSync", "cuda_runtime"},
      {"gloo:all_reduce", "user_annotation"},
      {"aten::mm", "cpu_op"},
      {"enumerate(DataLoader)#It.__next__", "user_annotation"}};
  for (int i = number(0, 40); i > 0; --i) {
    const auto& [name, category] = kinds[static_cast<std::size_t>(number(0, 7))];
    trace.cat(category).x(name, number(0, 430), number(0, 30));
  }
  return trace.array();
}

}  // namespace

TEST_CASE("step roles: each instant counts for the first role that has it") {
  const StepRoles step = first_step(TraceText()
                                        .cat("user_annotation")
                                        .x("ProfilerStep#1", 0, 100)
                                        .x("enumerate(DataLoader)#It.__next__", 0, 30)
                                        .cat("kernel")
                                        .x("gemm", 10, 10)
                                        .x("ncclDevKernel_AllReduce", 15, 20)
                                        .cat("cpu_op")
                                        .x("aten::mm", 30, 40)
                                        .array());
  CHECK(step.total_ns == 100'000);
  CHECK(step.exclusive[Role::kernel] == 10'000);
  CHECK(step.exclusive[Role::communication] == 15'000);
  CHECK(step.exclusive[Role::dataloader] == 10'000);
  CHECK(step.exclusive[Role::cpu] == 35'000);
  CHECK(step.exclusive[Role::other] == 30'000);
  CHECK(step.raw[Role::communication] == 20'000);
  CHECK(step.raw[Role::dataloader] == 30'000);
  CHECK(step.raw[Role::cpu] == 40'000);
}

TEST_CASE("step roles: a step full of kernels leaves nothing to others") {
  const StepRoles step = first_step(TraceText()
                                        .cat("user_annotation")
                                        .x("ProfilerStep#1", 0, 100)
                                        .cat("kernel")
                                        .x("gemm", 0, 100)
                                        .cat("gpu_memcpy")
                                        .x("Memcpy", 20, 30)
                                        .array());
  CHECK(step.exclusive[Role::kernel] == 100'000);
  CHECK(step.exclusive[Role::memcpy] == 0);
  CHECK(step.exclusive[Role::other] == 0);
}

TEST_CASE("step roles: a kernel of a collective counts as communication by its External id") {
  const StepRoles step = first_step(TraceText()
                                        .cat("user_annotation")
                                        .x("ProfilerStep#1", 0, 100)
                                        .cat("cpu_op")
                                        .x("nccl:all_reduce", 10, 5, R"({"External id": 5})")
                                        .cat("kernel")
                                        .x("reduce", 20, 30, R"({"external id": 5})")
                                        .array());
  CHECK(step.exclusive[Role::kernel] == 0);
  CHECK(step.exclusive[Role::communication] == 35'000);
}

TEST_CASE("step roles: a loader's span that goes on around the batch is a wait until it begins") {
  const StepRoles step = first_step(TraceText()
                                        .b("dataloader/train", 0, R"({"epoch": 0, "batch": 1})")
                                        .b("event/batch", 40, R"({"epoch": 0, "batch": 1})")
                                        .e("event/batch", 100)
                                        .e("dataloader/train", 101)
                                        .array());
  CHECK(step.exclusive[Role::dataloader] == 40'000);
  CHECK(step.total_ns == 100'000);
}

TEST_CASE("step roles: are those of every instant by itself, for random steps") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const std::string text = random_steps(seed);
    const Run run = read_texts({{"rank0.json", text}}, {.threads = 1 + seed % 3});
    const RankRoles roles = find_roles(run, run.ranks.at(0));
    const std::vector<oracle::StepRoles> expected = oracle::find_step_roles(text);
    REQUIRE(roles.steps.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      std::int64_t sum = 0;
      for (std::size_t r = 0; r < kRoleCount; ++r) {
        const Role role = static_cast<Role>(r);
        CAPTURE(role_name(role));
        CHECK(roles.steps[i].exclusive[role] == expected[i].exclusive_ns[r]);
        CHECK(roles.steps[i].raw[role] == expected[i].raw_ns[r]);
        sum += roles.steps[i].exclusive[role];
      }
      CHECK(sum == roles.steps[i].total_ns);
    }
  }
}

TEST_CASE("step roles: the mean of no steps is nothing, and no division by it") {
  CHECK(mean_of({}).total_ns == 0);
  CHECK(mean_of({}).exclusive[Role::other] == 0);
}
