#include "base/problems.h"
#include "merge/write/write_visitor.h"
#include "support/merge_texts.h"
#include "support/random_trace.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::string error_of(std::uint64_t max_memory, bool sorts = false) {
  try {
    plan_memory(max_memory, 2, sorts);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::string merged_within(const NamedTexts& files, std::optional<std::uint64_t> max_memory,
                          MergeSummary* summary = nullptr) {
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, files, "out.json");
  options.max_memory = max_memory;
  options.threads = 3;
  const MergeSummary done = merge_traces(options);
  if (summary != nullptr) *summary = done;
  return without_other_data(read_file(options.output));
}

}  // namespace

TEST_CASE("memory_plan: without a limit there are three chunks a thread, and large events") {
  const MemoryPlan plan = plan_memory(std::nullopt, 5);
  CHECK(plan.threads == 5);
  CHECK(plan.chunks_in_flight == 15);
  CHECK(plan.max_event_bytes == 128 * kMiB);
  CHECK(plan.max_join_bytes == 32 * kMiB);
  CHECK(plan_memory(std::nullopt, 0).threads > 0);
}

TEST_CASE("memory_plan: less memory means fewer chunks, then fewer threads, and smaller events") {
  const MemoryPlan plan = plan_memory(128 * kMiB, 2);
  CHECK(plan.threads == 2);
  CHECK(plan.chunks_in_flight == 6);
  const MemoryPlan of_many = plan_memory(128 * kMiB, 64);
  CHECK(of_many.chunks_in_flight == 13);
  CHECK(of_many.threads == 13);
  CHECK(of_many.max_event_bytes < plan.max_event_bytes);
  const MemoryPlan least = plan_memory(31 * kMiB, 2);
  CHECK(least.threads == 1);
  CHECK(least.chunks_in_flight == 1);
  CHECK(least.max_event_bytes == kMiB);
  CHECK(least.max_join_bytes == kMiB / 2);
}

TEST_CASE("memory_plan: what it grants fits into what it was given") {
  for (std::uint64_t mib = 31; mib < 2000; mib += 7) {
    for (const unsigned threads : {1U, 2U, 16U, 100U}) {
      const MemoryPlan plan = plan_memory(mib * kMiB, threads);
      CHECK(12 * kMiB + plan.chunks_in_flight * 4 * kMiB + 2 * plan.max_join_bytes +
                6 * plan.max_event_bytes <=
            mib * kMiB);
      CHECK(plan.threads <= plan.chunks_in_flight);
      CHECK(plan.max_event_bytes >= kMiB);
    }
  }
}

TEST_CASE("memory_plan: too little names the least") {
  CHECK(error_of(31 * kMiB) == "no error");
  CHECK(error_of(31 * kMiB - 1) ==
        "--max-memory: 31.0 MiB is too little; a merge needs 31.0 MiB at least");
  CHECK(error_of(1'000'000) ==
        "--max-memory: 976.6 KiB is too little; a merge needs 31.0 MiB at least");
  CHECK(error_of(0) == "--max-memory: 0 B is too little; a merge needs 31.0 MiB at least");
  CHECK(error_of(64 * kMiB, true) ==
        "--max-memory: 64.0 MiB is too little; a merge with --sort needs 95.0 MiB at least");
}

TEST_CASE("memory_plan: the same comes out of a merge in little memory") {
  NamedTexts files;
  for (std::int64_t rank = 0; rank < 2; ++rank)
    files.emplace_back(fmt::format("rank{}.json", rank),
                       random_trace({.seed = 3, .events = 15'000, .rank = rank}));
  REQUIRE(files[0].second.size() > 1'500'000);
  const std::string merged = merged_within(files, std::nullopt);
  CHECK((merged_within(files, 64 * kMiB) == merged));
  // Begin and end events are joined earlier, and stand elsewhere.
  const std::string narrow = merged_within(files, 31 * kMiB);
  CHECK((narrow != merged));
  CHECK((read_merged(narrow + "}") == read_merged(merged + "}")));
}

TEST_CASE("memory_plan: an event beyond its share is left out and counted") {
  const std::string text = TraceText()
                               .x("first", 1, 1)
                               .x("large", 2, 1, "{\"x\": \"" + std::string(3 << 20, 'x') + "\"}")
                               .x("last", 3, 1)
                               .array();
  MergeSummary summary;
  const std::string merged = merged_within({{"rank0.json", text}}, 31 * kMiB, &summary);
  CHECK(merged.find("first") != std::string::npos);
  CHECK(merged.find("large") == std::string::npos);
  CHECK(merged.find("last") != std::string::npos);
  CHECK(summary.files[0].problems.count(Problem::event_too_large) == 1);
  merged_within({{"rank0.json", text}}, 64 * kMiB, &summary);
  CHECK(summary.files[0].problems.empty());
}
