// Generated captures with a known change: the verdict, where it is, and that deltas add up. By
// default some of the cases, one for each kind of change, by day a quarter of them;
// TRACELOOM_GATE_CASES=all takes all.
#include "base/json_walk.h"
#include "comparison/comparison.h"
#include "event/event.h"
#include "input/input_list.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace traceloom {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kUsualCases{
    "aa-k3",         "aa-k1",        "aa-3steps",    "kernel-clear-k3",
    "kernel-better", "new-clear",    "fuse",         "rename-and-slower",
    "split-clear",   "loader-clear", "overlap-lost", "slow-rank-4",
    "launch-clear",  "batch",        "world",        "gpu-slower"};

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Capture> read_folder(const fs::path& folder) {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_directory()) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end(), natural_less);
  std::vector<Capture> captures;
  for (const std::string& path : paths) {
    const Run run = read_run({.inputs = expand_inputs({path}), .shapes = true, .python = true});
    captures.push_back(make_capture(run, path));
  }
  return captures;
}

void check_sums(const Comparison& found) {
  REQUIRE(found.shown);
  const std::int64_t delta = found.ranks[*found.shown].delta_ns();
  std::int64_t of_rows = 0;
  for (const RowDelta& row : found.rows) of_rows += row.delta_ns();
  std::int64_t of_roles = 0;
  for (std::size_t role = 0; role < kRoleCount; ++role)
    of_roles += found.ranks[*found.shown].role_delta_ns(static_cast<Role>(role));
  CHECK(of_rows == delta);
  CHECK(of_roles == delta);
}

// Returns the row that has this kernel on a side.
const RowDelta* find_kernel(const Comparison& found, const std::string& name) {
  for (const RowDelta& row : found.rows)
    if (row.base.name.find(name) != std::string::npos ||
        row.changed.name.find(name) != std::string::npos)
      return &row;
  return nullptr;
}

// Of the kernels that the truth names, each has a row, and the calls a step are exact.
void check_kernels(std::string_view facts, const Comparison& found) {
  for_each_element(find_member(facts, "kernels"), [&](std::string_view kernel) {
    const std::string name = decoded(find_member(kernel, "name"));
    const std::string status = decoded(find_member(kernel, "status"));
    CAPTURE(name);
    const RowDelta* const row = find_kernel(found, name);
    REQUIRE(row != nullptr);
    if (status == "new") CHECK(row->changed.name.find(name) != std::string::npos);
    if (status == "gone") CHECK(row->base.name.find(name) != std::string::npos);
    if (row->level != MatchLevel::place) CHECK((status == "changed" || !row->what.empty()));
  });
}

void check_place(const std::string& id, const Comparison& found) {
  const RowDelta& first = found.rows.front();
  const auto unmatched = static_cast<std::size_t>(MatchLevel::none);
  if (id.starts_with("rename") || id.starts_with("split") || id == "fuse") {
    CHECK(found.matched.base[unmatched] <= 0.05);
    CHECK(found.matched.changed[unmatched] <= 0.05);
  }
  if (id == "new-clear") CHECK(first.what == "new");
  if (id == "fuse") CHECK(find_kernel(found, "vectorized_layer_norm")->what == "fused");
  if (id == "split-clear") CHECK(first.what == "split");
  if (id == "rename-and-slower") CHECK(first.what == "renamed, slower calls");
  if (id == "loader-clear") CHECK(first.role == Role::dataloader);
  if (id == "overlap-lost") {
    CHECK(first.role == Role::communication);
    CHECK(first.what == "less hidden");
  }
  if (id == "launch-clear") CHECK(first.role == Role::runtime);
  if (id == "slow-rank-4") CHECK(found.moved == std::vector<std::int64_t>{2});
  if (id == "kernel-clear") CHECK(found.moved.size() == found.ranks.size());
}

void check_case(const fs::path& tools, const fs::path& folder, std::string_view text) {
  const std::string id = decoded(find_member(text, "id"));
  CAPTURE(id);
  fs::remove_all(folder);
  const std::string make =
      fmt::format("python3 '{0}/make_case.py' '{0}/gate_cases.json' {1} '{2}' > /dev/null",
                  tools.string(), id, folder.string());
  REQUIRE(std::system(make.c_str()) == 0);
  ComparedSides sides{read_folder(folder / "base"), read_folder(folder / "new")};
  if (fs::exists(folder / "history")) {
    sides.history.push_back(read_folder(folder / "history"));
  }
  const Comparison found = compare(sides, {});
  // The cases call an improvement OK.
  const std::string kind(
      to_string(found.kind == ChangeKind::improvement ? ChangeKind::ok : found.kind));
  std::set<std::string> accepted;
  for_each_element(find_member(text, "verdict"),
                   [&](std::string_view word) { accepted.insert(decoded(word)); });
  CAPTURE(found.why);
  CHECK_MESSAGE(accepted.contains(kind), kind);
  check_sums(found);
  if (found.kind == ChangeKind::incomparable) return;
  check_kernels(find_member(text, "facts"), found);
  check_place(id, found);
}

TEST_CASE("compare: captures with a known change" * doctest::test_suite("corpus")) {
  const fs::path tools = fs::path(TRACELOOM_SHARED_DIR) / "bench" / "captures";
  if (!fs::exists(tools / "gate_cases.json")) {
    MESSAGE("skipped: no ", tools.string());
    return;
  }
  const char* const wanted = std::getenv("TRACELOOM_GATE_CASES");
  const bool all = wanted != nullptr && std::string_view(wanted) == "all";
  const std::string text = read_text(tools / "gate_cases.json");
  const fs::path folder = fs::temp_directory_path() / fmt::format("traceloom-gate-{}", getpid());
  const std::vector<std::string> usual = of_today(kUsualCases);
  std::size_t checked = 0;
  for_each_element(find_member(text, "cases"), [&](std::string_view one) {
    const std::string id = decoded(find_member(one, "id"));
    if (!all && std::ranges::find(usual, id) == usual.end()) return;
    check_case(tools, folder, one);
    ++checked;
  });
  fs::remove_all(folder);
  CHECK(checked >= usual.size());
}

}  // namespace
}  // namespace traceloom
