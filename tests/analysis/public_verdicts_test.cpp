// No verdict on a public trace, of one rank or of a folder of ranks, may contradict steps, idle,
// gpu, comm, tree or the events themselves. It runs as the test corpus.analysis, which is skipped
// if the traces are missing.
//
// The rules of times:
//   - the rows of the account add up to the steps, and those of roles are the roles of steps
//   - all shares and unrecorded time add up to at most the steps
//   - where each rank has one device, gaps take no more than idle's: what the host did no more than
//     host wait, turn-around, queued and blocked no more than the same
//   - compute takes no more than the kernels of gpu, communication no more than its exposed one and
//     the collectives of the host
//   - no more of communication is waiting for ranks than comm has
// The rules of gains:
//   - the verdict is the largest gain, unless its cause is one rank
//   - a remedy gains at least 1 %, no more than its limit costs, and names a command that is there,
//     and so does what comes next
// The rules of words:
//   - no graphs are recommended if graphs are replayed, nothing is called unrecorded if there are
//     Python's frames, no gradients are named if nothing trains, and no collectives are to be
//     recorded that comm has
//   - missing ranks of the job are reported, one rank alone is no verdict of communication, and
//     neither is a host that gives work to a device that was not recorded
//   - what remedies name is in the tree
#include "analysis/reports/reports.h"
#include "base/problems.h"
#include "oracle/json_value.h"
#include "run/run.h"
#include "support/report_cells.h"
#include "support/tries.h"
#include "words_of_verdict.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

const fs::path kTraces = fs::path(TRACELOOM_SHARED_DIR) / "traces";

using Inputs = std::vector<std::string>;

bool is_of_rank(const std::string& name) {
  return (name.find("rank") != std::string::npos || name.starts_with("worker")) &&
         name.find("merged") == std::string::npos;
}

// Each trace by itself, and those of ranks by their folders.
std::vector<Inputs> public_traces() {
  std::set<std::string> paths;
  std::map<std::string, std::set<std::string>> folders;
  if (!fs::exists(kTraces)) return {};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kTraces)) {
    const std::string name = entry.path().filename().string();
    const std::string path = entry.path().string();
    const bool is_trace = name.ends_with(".json") || name.ends_with(".json.gz");
    const bool is_bad = path.find("/traces/bad/") != std::string::npos;
    if (!entry.is_regular_file() || !is_trace || is_bad || name.ends_with("facts.json") ||
        name == "index.json")
      continue;
    paths.insert(path);
    if (is_of_rank(name) && path.find("/traces/gpu/") == std::string::npos)
      folders[entry.path().parent_path().string()].insert(path);
  }
  std::vector<Inputs> all;
  for (const std::string& path : paths) all.push_back({path});
  for (const auto& [folder, files] : folders)
    if (files.size() > 1) all.emplace_back(files.begin(), files.end());
  return all;
}

std::optional<Run> read_all(const Inputs& paths, RunRequest request) {
  for (const std::string& path : paths) request.inputs.push_back({path, std::nullopt});
  try {
    return read_run(request);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::int64_t total_of(const Report& idle, std::string_view key) {
  return std::stoll(oracle::parse_json(idle.values.at(0).second).find(key)->text);
}

// The collectives of the host, of all ranks of the basis.
std::int64_t host_collectives_ns(const Run& run, const Findings& found) {
  std::int64_t ns = 0;
  for (const std::size_t rank : found.basis.ranks)
    run.ranks[rank].for_each_host([&](const HostSpan& span) {
      if (run.labels.kind(span.label).role == Role::communication)
        ns += span.end_ns - span.start_ns;
    });
  return ns;
}

bool has_name(const Run& run, auto is_it) {
  for (std::uint32_t label = 0; label < run.labels.size(); ++label)
    if (is_it(run.labels.name(label))) return true;
  return false;
}

bool has_part(const Run& run, std::initializer_list<std::string_view> parts) {
  return has_name(run, [&](std::string_view name) {
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
      return name.find(part) != std::string_view::npos;
    });
  });
}

void check_words(const Run& run, const Findings& found, const std::string& words) {
  const auto says = [&](std::string_view part) { return words.find(part) != std::string::npos; };
  if (has_name(run, [](std::string_view name) { return name.ends_with("GraphLaunch"); }))
    CHECK_FALSE(says("CUDA graphs"));
  if (says("CUDA graphs")) CHECK(has_part(run, {"cuda", "cuLaunch", "hip"}));
  if (says("backward pass")) CHECK(has_part(run, {"ackward", "ptimizer", "bwd", "grad"}));
  if (says("record collectives")) CHECK(rows_of(comm_report(run, {}), "rows").empty());
  if (found.has_frames) {
    CHECK_FALSE(says("record what the host does"));
    CHECK_FALSE(says("with_stack"));
  }
  if (found.lacks_ranks() && !found.is_alone && found.basis.steps.count() > 0)
    CHECK(says(fmt::format("{} of {} ranks", run.ranks.size(), found.world_size)));
}

void check_kind(const Run& run, const Findings& found, const Verdict& verdict) {
  const bool is_limited = verdict.kind == Limit::compute || verdict.kind == Limit::communication;
  if (!found.devices && is_limited)
    for (const RankEvents& rank : run.ranks)
      rank.for_each_call([&](const CallSpan& call) {
        const std::string_view name = run.labels.name(call.label);
        CHECK_MESSAGE(name.find("Launch") == std::string_view::npos, name);
      });
  if (verdict.kind != Limit::communication) return;
  CHECK(run.ranks.size() > 1);
  CHECK_FALSE(rows_of(comm_report(run, {}), "rows").empty());
}

constexpr std::array kRowsOfRoles{std::pair{AccountRow::kernel, Role::kernel},
                                  std::pair{AccountRow::memcpy, Role::memcpy},
                                  std::pair{AccountRow::memset, Role::memset},
                                  std::pair{AccountRow::communication, Role::communication},
                                  std::pair{AccountRow::dataloader, Role::dataloader}};

// The page and `steps` have the same figures; those of `steps` are means, here of one rank.
void check_steps(const Run& run, const Findings& found) {
  const StepSum& steps = found.basis.steps;
  std::int64_t sum_ns = 0;
  for (const AccountRow row : kAllOf<AccountRow>) {
    CHECK_MESSAGE(found.account[row].ns >= 0, account_row_name(row));
    sum_ns += found.account[row].ns;
  }
  CHECK(sum_ns == steps.sum().total_ns);
  for (const auto& [row, role] : kRowsOfRoles)
    CHECK_MESSAGE(found.account[row].ns == steps.sum().exclusive[role], role_name(role));
  if (run.ranks.size() != 1 || found.basis.owner.phase != StepPhase::none) return;
  for (const ReportRow& row : rows_of(steps_report(run, {}), "summary"))
    if (text_in(row, "statistic") == "mean")
      for (const auto& [of_account, role] : kRowsOfRoles)
        CHECK_MESSAGE(number_in(row, fmt::format("{}_ns", role_name(role))) ==
                          rounded_mean(found.account[of_account].ns, steps.count()),
                      role_name(role));
}

bool is_command(std::string name) {
  std::ranges::replace(name, '-', '_');
  return fs::exists(fs::path(TRACELOOM_SOURCE_DIR) / "tools" / "trace_stats" /
                    fmt::format("command_{}.cpp", name));
}

void check_gains(const Verdict& verdict) {
  const bool is_of_rank = verdict.kind == Limit::straggler || verdict.kind == Limit::data_loading;
  if (verdict.kind != Limit::inconclusive) {
    CHECK(verdict.gains[verdict.kind].share() >= kWorthNaming);
    for (const Limit limit : kAllOf<Limit>)
      CHECK_MESSAGE(
          (is_of_rank || verdict.gains[limit].share() * gain_weight(limit) <=
                             verdict.gains[verdict.kind].share() * gain_weight(verdict.kind)),
          limit_name(limit));
  }
  for (const Remedy& remedy : verdict.remedies) {
    CAPTURE(remedy.text);
    CHECK(remedy.gain.share() >= kWorthNaming);
    CHECK(is_command(std::string(remedy.see)));
    const StepShare& most = remedy.part.empty() ? verdict.cost(remedy.limit) : verdict.waiting;
    CHECK(remedy.gain.share() <= doctest::Approx(most.share()));
  }
  constexpr std::string_view kSee = "; see trace-stats ";
  const std::size_t see = verdict.next.rfind(kSee);
  REQUIRE_MESSAGE(see != std::string::npos, verdict.next);
  CHECK_MESSAGE(is_command(verdict.next.substr(see + kSee.size())), verdict.next);
}

// Waits that overlap count once in the verdict, each by itself in this column of comm.
void check_comm(const Run& run, const Verdict& verdict) {
  if (verdict.waiting_in != Limit::communication || verdict.waiting.ns == 0) return;
  if (run.is_coarse()) return;  // comm lists no operations, which are of no collectives
  std::int64_t waiting_ns = 0;
  for (const ReportRow& row : rows_of(comm_report(run, {}), "ranks"))
    waiting_ns += number_in(row, "total_wait_ns");
  CHECK(verdict.waiting.ns <= waiting_ns);
}

// What the words name: calls by their names, which the tree leaves out, what is around them and
// Python's functions as the tree has them.
void check_tree(const Inputs& paths, const Findings& found, const Verdict& verdict) {
  if (verdict.kind != Limit::blocked && verdict.kind != Limit::host_code) return;
  const std::optional<Run> run = read_all(paths, {.details = true, .frames = true});
  REQUIRE(run);
  std::vector<std::string> names;
  for (const ReportRow& row : rows_of(tree_report(*run, {.min_share = 0}), "rows"))
    names.push_back(text_in(row, "name"));
  const auto is_in_tree = [&](std::string_view name) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& other) {
      return other.find(name) != std::string::npos;
    });
  };
  for (const FrameSum& frame : found.account.frames)
    CHECK_MESSAGE(is_in_tree(frame.name), frame.name);
  for (const NamedTime& sum : found.account[AccountRow::blocked].names) {
    CHECK_MESSAGE(has_part(*run, {sum.name}), sum.name);
    const std::string innermost = sum.callers.substr(0, sum.callers.find_first_of(",("));
    CHECK_MESSAGE(is_in_tree(innermost.substr(0, innermost.find_last_not_of(' ') + 1)), innermost);
  }
}

void check_devices(const Run& run, const Findings& found, const Verdict& verdict) {
  const std::vector<DeviceTimes> devices = device_times(run);
  if (devices.size() != run.ranks.size()) return;
  const Report idle = idle_report(run, {});
  const auto ns = [&](AccountRow row) { return found.account[row].ns; };
  std::int64_t host_ns = 0;
  for (const AccountRow row :
       {AccountRow::launch, AccountRow::host_operator, AccountRow::host_call, AccountRow::host_code,
        AccountRow::profiler, AccountRow::capture, AccountRow::idle})
    host_ns += ns(row);
  CHECK(host_ns <= total_of(idle, "host_wait_ns"));
  CHECK(ns(AccountRow::turn_around) <= total_of(idle, "turn_around_ns"));
  CHECK(ns(AccountRow::queued) <= total_of(idle, "queued_ns"));
  CHECK(ns(AccountRow::blocked) <= total_of(idle, "blocked_ns"));
  std::int64_t unrecorded_ns = 0;
  for (const std::size_t rank : found.basis.ranks)
    unrecorded_ns += total_ns(run.ranks[rank].unrecorded);
  CHECK(ns(AccountRow::not_recorded) <= total_of(idle, "not_recorded_ns") + unrecorded_ns);
  std::int64_t kernel_ns = 0;
  std::int64_t exposed_ns = 0;
  for (const std::size_t rank : found.basis.ranks)
    for (const DeviceTimes& times : devices) {
      if (times.rank != run.ranks[rank].rank) continue;
      kernel_ns += times.kernel_ns;
      exposed_ns += times.exposed_comm_ns;
    }
  CHECK(ns(AccountRow::kernel) <= kernel_ns);
  CHECK(ns(AccountRow::communication) <= exposed_ns + host_collectives_ns(run, found));
  if (verdict.kind == Limit::blocked) {
    REQUIRE_FALSE(found.account[AccountRow::blocked].names.empty());
    CHECK(words_of(verdict).find(found.account[AccountRow::blocked].names.front().name) !=
          std::string::npos);
  }
}

}  // namespace

TEST_SUITE_BEGIN("corpus");

TEST_CASE("corpus: no verdict says what the other commands contradict") {
  const std::vector<Inputs> traces = public_traces();
  if (traces.empty()) fmt::print("skipped: no traces under {}\n", kTraces.string());
  for (const Inputs& paths : of_today(traces)) {
    CAPTURE(paths.size());
    CAPTURE(paths.front());
    const std::optional<Run> run = read_all(paths, {.python = true});
    if (!run || run->ranks.empty()) continue;
    const Findings found(*run);
    const Verdict verdict = find_verdict(found);
    std::int64_t sum_ns = verdict.not_recorded.ns;
    for (std::size_t i = 0; i < kLimitCount; ++i)
      sum_ns += verdict.shares[static_cast<Limit>(i)].ns;
    CHECK(sum_ns <= found.basis.steps.sum().total_ns);
    check_words(*run, found, words_of(verdict));
    check_kind(*run, found, verdict);
    check_steps(*run, found);
    check_gains(verdict);
    check_comm(*run, verdict);
    check_tree(paths, found, verdict);
    if (found.devices) check_devices(*run, found, verdict);
  }
}

TEST_SUITE_END();
