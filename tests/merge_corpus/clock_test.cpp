// Clocks by collectives, against the true ones: the Kineto forms of the multi-rank sets, and the
// jobs that a generator makes.
#include "merge/merger.h"
#include "merge_corpus/merged_file.h"
#include "oracle/oracle.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kUsNs = 1'000;

std::vector<std::string> traces_in(const fs::path& folder) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    const std::string name = entry.path().filename().string();
    if (name != "truth.json" && !name.ends_with(".facts.json") &&
        (name.ends_with(".json") || name.ends_with(".json.gz")))
      found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::map<std::int64_t, MergedFile> plan_of(const std::vector<std::string>& paths) {
  MergeOptions options;
  for (const std::string& path : paths) options.inputs.push_back({path, {}});
  options.dry_run = true;
  std::map<std::int64_t, MergedFile> files;
  for (const MergedFile& file : merge_traces(options).files) files.emplace(file.rank, file);
  return files;
}

oracle::Json read_json(const fs::path& path) {
  return oracle::parse_json(oracle::load(path.string()).text);
}

std::int64_t integer(const oracle::Json& object, std::string_view key) {
  return std::llround(std::stod(text_of(object, key)));
}

// Nanoseconds by which the clock of each rank is ahead.
using Ahead = std::map<std::int64_t, std::int64_t>;

struct Part {
  std::int64_t rank = 0;
  std::int64_t end_ns = 0;
};
// The ends of collectives that all ranks wait for, by name, size and order.
using Ends = std::map<std::string, std::vector<Part>>;

bool waits_for_all(const oracle::Json& event) {
  const std::string name = text_of(event, "name");
  const bool is_kernel = text_of(event, "cat") == "kernel" && name.starts_with("ncclKernel_AllRed");
  return is_kernel || name == "gloo:all_reduce";
}

Ends ends_of(const std::map<std::int64_t, MergedFile>& files) {
  Ends ends;
  for (const auto& [rank, file] : files) {
    const oracle::Json trace = read_json(file.path);
    const std::string base = text_of(trace, "baseTimeNanoseconds");
    const std::int64_t base_ns = base.empty() ? 0 : std::stoll(base);
    std::map<std::string, std::vector<std::int64_t>> of_kind;
    for (const oracle::Json& event : trace.find("traceEvents")->items) {
      if (!waits_for_all(event)) continue;
      const oracle::Json* const dims = event.find("args")->find("Input Dims");
      const std::string size = dims == nullptr ? "" : oracle::canonical_text(*dims);
      of_kind[text_of(event, "name") + size].push_back(ns_of(event, "ts") + ns_of(event, "dur") +
                                                       base_ns);
    }
    for (auto& [kind, times] : of_kind) {
      std::sort(times.begin(), times.end());
      for (std::size_t i = 0; i < times.size(); ++i)
        ends[fmt::format("{} {}", kind, i)].push_back({rank, times[i]});
    }
  }
  return ends;
}

// The median over all collectives.
double spread_ns(const Ends& ends, const Ahead& ahead) {
  std::vector<double> spreads;
  for (const auto& [key, parts] : ends) {
    std::vector<std::int64_t> times;
    for (const Part& part : parts) times.push_back(part.end_ns - ahead.at(part.rank));
    const auto [first, last] = std::ranges::minmax(times);
    spreads.push_back(static_cast<double>(last - first));
  }
  std::sort(spreads.begin(), spreads.end());
  return (spreads[(spreads.size() - 1) / 2] + spreads[spreads.size() / 2]) / 2;
}

// Returns the nanoseconds that the merge subtracted from the times of each rank, relative to the
// lowest rank.
Ahead taken_from(const std::map<std::int64_t, MergedFile>& files,
                 const std::map<std::int64_t, std::int64_t>& bases) {
  Ahead taken;
  for (const auto& [rank, file] : files) taken[rank] = bases.at(rank) - file.clock.offset_ns;
  return taken;
}

std::map<std::int64_t, std::int64_t> bases_of(const std::map<std::int64_t, MergedFile>& files) {
  std::map<std::int64_t, std::int64_t> bases;
  for (const auto& [rank, file] : files) {
    const std::string base = text_of(read_json(file.path), "baseTimeNanoseconds");
    bases[rank] = base.empty() ? 0 : std::stoll(base);
  }
  return bases;
}

void check_errors(const std::map<std::int64_t, MergedFile>& files, const Ahead& taken,
                  const Ahead& truth) {
  for (const auto& [rank, file] : files) {
    CAPTURE(rank);
    REQUIRE(file.clock.error_ns.has_value());
    CHECK(std::abs(taken.at(rank) - truth.at(rank)) <= *file.clock.error_ns);
    REQUIRE(file.clock.collectives.has_value());
  }
}

struct MeshCase {
  std::string name;
  bool has_bound = false;
  bool has_typical = false;
  std::string refusal = {};
  std::vector<std::int64_t> true_ns = {};
  std::int64_t least_claim_ns = 0;
};

std::vector<MeshCase> mesh_cases(const fs::path& list) {
  std::vector<MeshCase> cases;
  const oracle::Json all = read_json(list);
  for (const oracle::Json& one : all.find("cases")->items) {
    MeshCase found{text_of(one, "name")};
    for (const oracle::Json& check : one.find("checks")->items) {
      const std::string what = text_of(check, "what");
      if (what == "clock offsets, typical error") found.has_typical = true;
      const std::string must = text_of(check, "must");
      if (what == "refusal" && must.find("clock") == 0) found.refusal = must;
      if (!what.starts_with("clock offsets of all ranks")) continue;
      found.has_bound = true;
      for (const oracle::Json& ns : check.find("true_ns")->items)
        found.true_ns.push_back(std::stoll(ns.text));
    }
    const oracle::Json* const findings = one.find("findings");
    if (findings != nullptr && findings->find("must_not_claim_better_than_ns") != nullptr)
      found.least_claim_ns = integer(*findings, "must_not_claim_better_than_ns");
    if (found.has_bound || !found.refusal.empty()) cases.push_back(std::move(found));
  }
  return cases;
}

void check_bounds(const MeshCase& wanted, const std::map<std::int64_t, MergedFile>& files) {
  Ahead truth;
  for (const auto& [rank, file] : files) {
    truth[rank] = wanted.true_ns.at(static_cast<std::size_t>(rank));
    truth[rank] -= wanted.true_ns.at(static_cast<std::size_t>(files.begin()->first));
  }
  const Ahead taken = taken_from(files, bases_of(files));
  check_errors(files, taken, truth);
  std::vector<std::int64_t> errors;
  for (const auto& [rank, file] : files) {
    errors.push_back(std::abs(taken.at(rank) - truth.at(rank)));
    if (rank == files.begin()->first) continue;
    CHECK(*file.clock.error_ns >= wanted.least_claim_ns);
    CHECK(file.clock.collectives->bound_ns >= wanted.least_claim_ns);
  }
  std::sort(errors.begin(), errors.end());
  if (wanted.has_typical) CHECK(errors[errors.size() / 2] <= 5 * kUsNs);
}

// Returns all messages about clocks, of all ranks.
std::string words_about_clocks(const std::map<std::int64_t, MergedFile>& files) {
  std::string words;
  for (const auto& [rank, file] : files)
    for (const Problem problem : {Problem::clock_conflict, Problem::no_common_collective})
      words += std::string(file.problems.explanation(problem)) + "\n";
  return words;
}

}  // namespace

TEST_CASE(
    "corpus: Kineto sets have their true clocks within the bound, and collectives end together") {
  const fs::path root = reference_traces();
  if (root.empty()) return;
  std::size_t checked = 0;
  for (const fs::directory_entry& set : fs::directory_iterator(root / "multirank")) {
    const bool is_set = set.path().filename() == "dlrm-8gpu-first4-offset";
    const fs::path folder = is_set ? set.path() : set.path() / "kineto";
    if (!fs::is_directory(folder)) continue;
    CAPTURE(folder.string());
    const std::map<std::int64_t, MergedFile> files = plan_of(traces_in(folder));
    Ahead truth;
    const oracle::Json facts = read_json(set.path() / "truth.json");
    for (const oracle::Json& rank : facts.find("ranks")->items)
      truth[integer(rank, "rank")] = std::llround(1e3 * std::stod(text_of(rank, "offset_us")));
    const Ahead taken = taken_from(files, bases_of(files));
    check_errors(files, taken, truth);
    const Ends ends = ends_of(files);
    REQUIRE(!ends.empty());
    CHECK(spread_ns(ends, taken) <= 1.2 * spread_ns(ends, truth));
    ++checked;
  }
  CHECK(checked == 7);
}

TEST_CASE("corpus: generated jobs have their true clocks within the bound, or are refused") {
  const fs::path root = reference_traces();
  if (root.empty()) return;
  const fs::path mesh = fs::path(TRACELOOM_SHARED_DIR) / "bench" / "mesh";
  const TemporaryFolder folder;
  std::string names;
  const std::vector<MeshCase> cases = mesh_cases(mesh / "mesh_cases.json");
  for (const MeshCase& one : cases) names += " " + one.name;
  const std::string command =
      fmt::format("python3 '{0}/make_mesh.py' -o '{1}' --case '{0}/mesh_cases.json'{2} > /dev/null",
                  mesh.string(), folder.path(), names);
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(cases.size() == 12);
  for (const MeshCase& one : cases) {
    CAPTURE(one.name);
    const std::map<std::int64_t, MergedFile> files =
        plan_of(traces_in(fs::path(folder.path()) / one.name / "traces"));
    if (one.has_bound) check_bounds(one, files);
    if (one.refusal.empty()) continue;
    // "clocks of ranks 2 and 3: what collectives allow before and after contradicts itself by 4 ms"
    const std::string words = words_about_clocks(files);
    CHECK(words.find(one.refusal.substr(0, one.refusal.find(" by "))) != std::string::npos);
  }
}
