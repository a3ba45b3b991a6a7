// Jobs in which a known rank or part was slowed: ../shared/traces/multirank.
#include "analysis/findings/loader_waits.h"
#include "analysis/findings/straggler.h"
#include "analysis/reports/reports.h"
#include "input/input_list.h"
#include "run/run.h"
#include "support/report_cells.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
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
    // Composer's merge of the files stands next to the ranks' files.
    if (trace && entry.path().filename().string().find("rank") != std::string::npos &&
        path.find("facts") == std::string::npos)
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
      // Rank 0 waits for rank 2 inside of forward, in which DDP sends its buffers.
      {"ddp4-cnn-w0-straggler/composer", Limit::straggler, 2, {2}},
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
      CHECK_FALSE(find_straggler(*run, roles, find_waits(*run, roles)).holds_up_by_much());
      CHECK(find_verdict(Findings(*run)).kind != Limit::straggler);
    }
}

TEST_CASE("corpus: the share of the loader is that measured in the loop itself") {
  // The shares come from truth.json: the longest wait of any rank in each step, over the longest
  // step.
  for (const auto& [set, share] :
       {std::pair{"ddp4-cnn-w0-slowdata", 0.7028}, std::pair{"ddp4-cnn-w2-base", 0.1615},
        std::pair{"ddp4-cnn-w0-base", 0.0342}}) {
    CAPTURE(set);
    const std::optional<Run> run = read_set(std::string(set) + "/kineto");
    if (!run) continue;
    const std::vector<RankRoles> roles = find_all_roles(*run);
    const RankWaits waits = find_waits(*run, roles);
    const LoaderJob job = judge_loader(*run, roles, waits, find_straggler(*run, roles, waits));
    CHECK(job.late_share == doctest::Approx(share).epsilon(0.15));
  }
}

// Checks the shares of the steps on the page, and that steps and dataloader report the same.
void check_shares(const Run& run, const BottleneckAnswer& answer) {
  const Verdict& verdict = answer.verdict;
  std::int64_t sum_ns = 0;
  for (std::size_t i = 0; i < kLimitCount; ++i) sum_ns += verdict.shares[static_cast<Limit>(i)].ns;
  CHECK(sum_ns <= verdict.shares[Limit::compute].of_ns);
  const Report steps = steps_report(run, {});
  std::int64_t data_loader_ns = 0;
  double data_loader_share = 0;
  for (const ReportRow& row : rows_of(answer.report, "account")) {
    if (text_in(row, "row") != "dataloader") continue;
    data_loader_ns = number_in(row, "mean_ns");
    data_loader_share = share_in(row, "share");
  }
  if (verdict.of.rank) {
    for (const ReportRow& row : rows_of(steps, "summary"))
      if (number_in(row, "rank") == *verdict.of.rank && text_in(row, "statistic") == "mean")
        CHECK(data_loader_ns == number_in(row, "dataloader_ns"));
  } else {
    CHECK(data_loader_ns ==
          number_in(rows_of(steps, "mean").at(static_cast<std::size_t>(Role::dataloader)),
                    "mean_ns"));
  }
  const double loader_share = verdict.shares[Limit::data_loading].share();
  CHECK(data_loader_share == loader_share);
  CHECK(dataloader_report(run).headline.at(0).starts_with(
      fmt::format("Input wait: {:.1f} % of {} is exposed", loader_share * 100, verdict.of.text())));
}

TEST_CASE("corpus: the form of a trace does not change what a run is said to be limited by") {
  for (const char* set : {"ddp4-cnn-w0-base", "ddp4-cnn-w0-slowdata", "ddp4-cnn-w0-straggler",
                          "ddp4-cnn-w2-base", "ddp4-mlp-w0-straggler", "ddp8-mlp-stack-ns"}) {
    CAPTURE(set);
    std::optional<Verdict> of_kineto;
    for (const char* form : {"kineto", "legacy", "composer"}) {
      CAPTURE(form);
      const std::optional<Run> run = read_set(fmt::format("{}/{}", set, form));
      if (!run) continue;
      const BottleneckAnswer answer = bottleneck_report(*run);
      check_shares(*run, answer);
      const Verdict& verdict = answer.verdict;
      if (!of_kineto) of_kineto = verdict;
      CHECK(verdict.rank == of_kineto->rank);
      // Composer's files do not show how much of event/backward is communication. Where that
      // matters, the answer is inconclusive and leaves the verdict of the other form possible.
      const bool leaves_open =
          verdict.kind == Limit::inconclusive &&
          std::count(verdict.possible.begin(), verdict.possible.end(), of_kineto->kind) > 0;
      if (!leaves_open) CHECK(limit_name(verdict.kind) == limit_name(of_kineto->kind));
      if (leaves_open) CHECK(std::string_view(form) == "composer");
    }
  }
}

TEST_SUITE_END();
