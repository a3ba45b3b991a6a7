#include "analysis/waits/step_roles.h"

#include "oracle/roles.h"
#include "support/run_texts.h"
#include "support/trace_text.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

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
  CHECK(step.exclusive[Role::communication] == 30'000);  // the host's range is its launch
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
  for (std::uint32_t seed = 0; seed < tries(300); ++seed) {
    CAPTURE(seed);
    const std::string text = random_steps(seed);
    const Run run = read_texts({{"rank0.json", text}}, {.threads = 1 + seed % 3});
    const RankRoles roles = find_roles(run, run.ranks.at(0));
    const std::vector<oracle::StepRoles> expected = oracle::find_step_roles(text);
    REQUIRE(roles.steps.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const StepRoles step = roles.steps.at(i);
      std::int64_t sum = 0;
      for (std::size_t r = 0; r < kRoleCount; ++r) {
        const Role role = static_cast<Role>(r);
        CAPTURE(role_name(role));
        CHECK(step.exclusive[role] == expected[i].exclusive_ns[r]);
        CHECK(step.raw[role] == expected[i].raw_ns[r]);
        sum += step.exclusive[role];
      }
      CHECK(sum == step.total_ns);
    }
  }
}

TEST_CASE("step roles: thousands of steps are what the sets say as a whole") {
  constexpr int kSteps = 9000;
  TraceText trace;
  // in the file before an event that begins earlier
  trace.cat("cpu_op").x("aten::later", 70 * 6000, 70 * 10);
  for (int i = 0; i < kSteps; ++i) {
    const int at = 70 * i;
    const std::string note = fmt::format(R"({{"epoch": 0, "batch": {}}})", i);
    trace.cat("dataloader").b("dataloader/train", at, note).e("dataloader/train", at + 3 + i % 7);
    trace.cat("").b("event/batch", at + 12, note).b("event/forward", at + 13).e(at + 20 + i % 11);
    trace.b("event/backward", at + 33).e("event/backward", at + 40 + i % 13);
    trace.e("event/batch", at + 60);
  }
  trace.tid("2").cat("kernel").x("gemm", 30, 70 * kSteps);  // around nearly all, to the end
  trace.tid("3").cat("gpu_memcpy").x("Memcpy", 70 * 4090, 70 * 20);
  const Run run = read_texts({{"rank0.json", trace.array()}});
  const RankRoles roles = find_roles(run, run.ranks.at(0));
  REQUIRE(roles.steps.size() == kSteps);
  const Intervals times = run.ranks.at(0).steps.times();
  Intervals left = unite(times);
  for (std::size_t r = 0; r + 1 < kRoleCount; ++r) {
    const Role role = static_cast<Role>(r);
    CAPTURE(role_name(role));
    const Intervals set = unpacked(roles.sets[role]);
    const std::vector<std::int64_t> raw = totals_in(set, times);
    const std::vector<std::int64_t> taken = totals_in(intersect(left, set), times);
    std::size_t i = 0;
    for (const StepRoles& step : roles.steps) {
      CHECK(step.raw[role] == raw[i]);
      CHECK(step.exclusive[role] == taken[i++]);
    }
    left = subtract(left, set);
  }
  CHECK(roles.steps.at(0).exclusive[Role::dataloader] == 3'000);
  CHECK(roles.steps.at(1).exclusive[Role::kernel] == 60'000);
  CHECK(roles.steps.at(1).raw[Role::dataloader] == 4'000);
}

TEST_CASE("step roles: the id of a collective means nothing in another file of the rank") {
  const auto run_of = [](const char* range, int at) {
    TraceText trace;
    trace.cat("user_annotation").x(range, at, 10, R"({"External id": 57})");
    return trace.cat("kernel").x("custom", at + 20, 5, R"({"External id": 57})").array();
  };
  const Run run = read_texts(
      {{"rank0-a.json", run_of("nccl:all_to_all", 0)}, {"rank0-b.json", run_of("forward", 1000)}});
  const RoleSets sets = find_role_sets(run, run.ranks.at(0));
  CHECK(total_ns(sets[Role::communication]) == 5'000);
  CHECK(total_ns(sets[Role::kernel]) == 5'000);
}

TEST_CASE("step roles: the mean of no steps is nothing, and no division by it") {
  CHECK(StepSum().mean().total_ns == 0);
  CHECK(StepSum().mean().exclusive[Role::other] == 0);
}
