// Jobs of which it is known what was slowed in them: ../shared/traces/multirank.
#include "analysis/bottleneck_report.h"
#include "analysis/loader_waits.h"
#include "analysis/straggler.h"
#include "input/input_list.h"
#include "run/run.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

const fs::path kSets = fs::path(TRACELOOM_SHARED_DIR) / "traces" / "multirank";

// The files of ranks, without facts, merges and lists.
std::optional<Run> read_set(const std::string& name) {
  const fs::path folder = kSets / name;
  if (!fs::is_directory(folder)) return std::nullopt;
  RunRequest request;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    const bool trace = path.ends_with(".json") || path.ends_with(".json.gz");
    if (trace && path.find("rank") != std::string::npos && path.find("facts") == std::string::npos)
      request.inputs.push_back({path, std::nullopt});
  }
  return read_run(request);
}

struct Truth {
  std::string set;
  Limit kind;
  std::optional<std::int64_t> rank = {};
  std::vector<std::int64_t> candidates = {};
};

}  // namespace

TEST_SUITE_BEGIN("corpus");

TEST_CASE("corpus: what was slowed in a job is named, or those that cannot be told apart") {
  const std::vector<Truth> truths{
      {"ddp4-cnn-w0-slowdata/composer", Limit::data_loading},
      {"ddp4-cnn-w0-slowdata/kineto", Limit::data_loading},
      {"ddp4-cnn-w0-slowdata/legacy", Limit::data_loading},
      {"composer082-4r-slowdata/traces", Limit::data_loading},
      {"ddp4-mlp-w0-straggler/composer", Limit::straggler, 1, {1}},
      {"ddp4-mlp-w0-straggler/kineto", Limit::straggler, 1, {1}},
      {"ddp4-mlp-w0-straggler/legacy", Limit::straggler, 1, {1}},
      {"ddp4-cnn-w0-straggler/kineto", Limit::straggler, 2, {2}},
      {"ddp4-cnn-w0-straggler/legacy", Limit::straggler, 2, {2}},
      // Rank 0 waits for rank 2 inside of forward, and nothing in these files tells it.
      {"ddp4-cnn-w0-straggler/composer", Limit::inconclusive, std::nullopt, {0, 2}},
  };
  for (const Truth& truth : truths) {
    CAPTURE(truth.set);
    const std::optional<Run> run = read_set(truth.set);
    if (!run) {
      fmt::print("skipped: no {} under {}\n", truth.set, kSets.string());
      continue;
    }
    const std::vector<RankRoles> roles = find_all_roles(*run);
    const Straggler straggler = find_straggler(*run, roles, find_waits(*run, roles));
    const Verdict verdict = find_verdict(Findings(*run));
    CHECK(limit_name(verdict.kind) == limit_name(truth.kind));
    CHECK(verdict.rank == truth.rank);
    CHECK(straggler.candidates == truth.candidates);
  }
}

TEST_CASE("corpus: in a job in which nothing was slowed nobody is named") {
  for (const char* set : {"ddp4-cnn-w0-base", "ddp4-cnn-w2-base", "ddp8-mlp-stack-ns"})
    for (const char* form : {"composer", "kineto", "legacy"}) {
      const std::string name = fmt::format("{}/{}", set, form);
      CAPTURE(name);
      const std::optional<Run> run = read_set(name);
      if (!run) continue;
      const std::vector<RankRoles> roles = find_all_roles(*run);
      CHECK_FALSE(find_straggler(*run, roles, find_waits(*run, roles)).rank);
      CHECK(find_verdict(Findings(*run)).kind != Limit::straggler);
    }
}

TEST_CASE("corpus: the share of the loader is that measured in the loop itself") {
  // By truth.json: the longest wait of any rank in each step, over the longest step.
  for (const auto& [set, share] :
       {std::pair{"ddp4-cnn-w0-slowdata", 0.7028}, std::pair{"ddp4-cnn-w2-base", 0.1615},
        std::pair{"ddp4-cnn-w0-base", 0.0342}}) {
    CAPTURE(set);
    const std::optional<Run> run = read_set(std::string(set) + "/kineto");
    if (!run) continue;
    const std::vector<RankRoles> roles = find_all_roles(*run);
    const LoaderJob job = judge_loader(*run, roles, find_waits(*run, roles));
    CHECK(job.share == doctest::Approx(share).epsilon(0.15));
  }
}

TEST_SUITE_END();
