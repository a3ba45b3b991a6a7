// No verdict on a public trace may contradict idle, gpu or the events themselves. It runs as the
// test corpus.analysis, which is skipped if the traces are missing.
//
// These are the rules for runs of one rank with one device. Time outside of the first and last work
// of the device is known only from the host, so the rules allow for it:
//   - all shares and unrecorded time add up to at most the steps
//   - launch-bound, host-code and idle take no more than idle's host wait, blocked and queued no
//     more than idle's
//   - compute takes no more than the kernels of gpu, communication no more than its exposed one and
//     the collectives of the host
//   - no graphs are recommended if graphs are replayed, and nothing is called unrecorded if there
//     are Python's frames
//   - missing ranks of the job are reported
#include "analysis/reports/bottleneck_report.h"
#include "analysis/reports/gpu_report.h"
#include "analysis/reports/idle_report.h"
#include "analysis/verdict/verdict_words.h"
#include "base/error.h"
#include "oracle/json_value.h"
#include "run/run.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

const fs::path kTraces = fs::path(TRACELOOM_SHARED_DIR) / "traces";

std::set<std::string> public_traces() {
  std::set<std::string> paths;
  if (!fs::exists(kTraces)) return paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kTraces)) {
    const std::string name = entry.path().filename().string();
    const std::string path = entry.path().string();
    const bool is_trace = name.ends_with(".json") || name.ends_with(".json.gz");
    const bool is_bad = path.find("/traces/bad/") != std::string::npos;
    if (entry.is_regular_file() && is_trace && !is_bad && !name.ends_with("facts.json") &&
        name != "index.json")
      paths.insert(path);
  }
  return paths;
}

std::optional<Run> read_one(const std::string& path) {
  RunRequest request;
  request.python = true;
  request.inputs.push_back({path, std::nullopt});
  try {
    return read_run(request);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::int64_t total_of(const Report& idle, std::string_view key) {
  return std::stoll(oracle::parse_json(idle.values.at(0).second).find(key)->text);
}

// Returns the time of the steps before the first and after the last work of the device.
std::int64_t outside_ns(const Findings& found, const RankEvents& rank) {
  Interval work{std::numeric_limits<std::int64_t>::max(), 0};
  rank.for_each_device([&](const DeviceSpan& span) {
    work.from_ns = std::min(work.from_ns, span.start_ns);
    work.to_ns = std::max(work.to_ns, span.end_ns);
  });
  std::int64_t ns = 0;
  for (const StepRoles& step : found.roles.front().steps)
    if (step.step.counted)
      ns += length_ns(step.step.time) - total_ns(intersect({step.step.time}, {work}));
  return ns;
}

std::string all_words(const Verdict& verdict) {
  return fmt::format("{}\n{}\n{}", verdict_headline(verdict), fmt::join(verdict.evidence, "\n"),
                     fmt::join(verdict.advice, "\n"));
}

void check_words(const Run& run, const Findings& found, const std::string& words) {
  bool replays = false;
  for (std::uint32_t label = 0; label < run.labels.size(); ++label)
    replays = replays || run.labels.name(label).ends_with("GraphLaunch");
  if (replays) CHECK(words.find("CUDA graphs") == std::string::npos);
  if (found.has_frames) {
    CHECK(words.find("nothing that was recorded") == std::string::npos);
    CHECK(words.find("with_stack") == std::string::npos);
  }
  if (found.lacks_ranks() && found.basis.steps.count() > 0)
    CHECK(words.find(fmt::format("{} of {} ranks", run.ranks.size(), found.world_size)) !=
          std::string::npos);
}

void check_device(const Run& run, const Findings& found, const Verdict& verdict) {
  const std::vector<DeviceTimes> devices = device_times(run);
  if (devices.size() != 1) return;
  const Report idle = idle_report(run, {});
  const std::int64_t more_ns = outside_ns(found, run.ranks.front());
  const auto ns = [&](Limit limit) { return verdict.shares[limit].ns; };
  CHECK(ns(Limit::launch_bound) + ns(Limit::host_code) + ns(Limit::idle) <=
        total_of(idle, "host_wait_ns") + more_ns);
  CHECK(ns(Limit::blocked) <= total_of(idle, "blocked_ns") + more_ns);
  CHECK(ns(Limit::queued) <= total_of(idle, "queued_ns") + more_ns);
  CHECK(verdict.not_recorded.ns <= total_of(idle, "not_recorded_ns") + more_ns);
  CHECK(ns(Limit::compute) <= devices.front().kernel_ns);
  std::int64_t host_ns = 0;
  run.ranks.front().for_each_host([&](const HostSpan& span) {
    if (run.labels.kind(span.label).role == Role::communication)
      host_ns += span.end_ns - span.start_ns;
  });
  CHECK(ns(Limit::communication) <= devices.front().exposed_comm_ns + host_ns);
  if (verdict.kind == Limit::blocked) {
    REQUIRE_FALSE(found.causes.blocking.empty());
    CHECK(all_words(verdict).find(found.causes.blocking.front().call) != std::string::npos);
  }
}

}  // namespace

TEST_SUITE_BEGIN("corpus");

TEST_CASE("corpus: no verdict says what the other commands contradict") {
  const std::set<std::string> paths = public_traces();
  if (paths.empty()) fmt::print("skipped: no traces under {}\n", kTraces.string());
  for (const std::string& path : paths) {
    CAPTURE(path);
    const std::optional<Run> run = read_one(path);
    if (!run || run->ranks.empty()) continue;
    const Findings found(*run);
    const Verdict verdict = find_verdict(found);
    std::int64_t sum_ns = verdict.not_recorded.ns;
    for (std::size_t i = 0; i < kLimitCount; ++i)
      sum_ns += verdict.shares[static_cast<Limit>(i)].ns;
    CHECK(sum_ns <= found.basis.steps.sum().total_ns);
    check_words(*run, found, all_words(verdict));
    if (run->ranks.size() == 1 && found.devices) check_device(*run, found, verdict);
  }
}

TEST_SUITE_END();
