// The multi-rank sets, against what their clock syncs and bases demand.
#include "base/problems.h"
#include "clock/time_map.h"
#include "merge_corpus/merged_file.h"
#include "oracle/exact_time.h"
#include "oracle/oracle.h"
#include "support/temporary_folder.h"
#include "support/tries.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

bool is_trace(const std::string& name) {
  return (name.ends_with(".json") || name.ends_with(".json.gz")) &&
         !name.ends_with(".facts.json") && !name.ends_with("_check.json") && name != "truth.json" &&
         name != "expected_merged.json" && name != "merged_trace.json";
}

std::vector<std::string> traces_in(const fs::path& folder) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && is_trace(entry.path().filename().string()))
      found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

// The folders of a set that hold traces: itself, or one a form.
std::vector<fs::path> groups_of(const fs::path& set) {
  std::vector<fs::path> groups;
  if (!traces_in(set).empty()) groups.push_back(set);
  for (const fs::directory_entry& entry : fs::directory_iterator(set))
    if (entry.is_directory()) groups.push_back(entry.path());
  std::sort(groups.begin(), groups.end());
  return groups;
}

// The times by clock sync, as decimal microseconds: by file name and index. Empty for groups
// without syncs.
using Expected = std::map<std::pair<std::string, std::size_t>, std::string>;

Expected expected_of(const fs::path& set, const std::string& group) {
  Expected expected;
  if (!fs::exists(set / "expected_merged.tsv.gz")) return expected;
  std::istringstream lines(oracle::load((set / "expected_merged.tsv.gz").string()).text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> columns;
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, '\t');) columns.push_back(field);
    if (columns.at(0) == group && !columns.at(5).empty())
      expected[{columns[1], std::stoul(columns[2])}] = columns[5];
  }
  return expected;
}

std::int64_t ns(const std::string& microseconds) {
  return oracle::round_to_ns(oracle::parse_microseconds(microseconds).value());
}

std::int64_t base_of(const std::string& path) {
  const oracle::Json facts = oracle::parse_json(oracle::load(path + ".facts.json").text);
  const oracle::Json* top_level = facts.find("top_level");
  const std::string base = top_level == nullptr || top_level->kind != oracle::Json::Kind::object
                               ? ""
                               : text_of(*top_level, "baseTimeNanoseconds");
  return base.empty() ? 0 : std::stoll(base);
}

void check_times(const CheckedMerge& merge, const std::vector<std::string>& paths,
                 const Expected& expected) {
  std::vector<std::int64_t> bases;
  for (const std::string& path : paths) bases.push_back(expected.empty() ? base_of(path) : 0);
  std::size_t wrong = 0;
  // Times of torch 1.13 in Composer's files begin at 0, and nothing in the file names the base. So
  // one guess moves all times of a file.
  std::map<std::size_t, std::set<std::int64_t>> guesses;
  for (const EventMatch& match : merge.matches()) {
    const std::int64_t got = ns_of(*match.output, "ts") + merge.base_ns();
    const std::string file = fs::path(paths[match.file]).filename().string();
    const std::int64_t wanted = expected.empty() ? ns_of(*match.input, "ts") + bases[match.file]
                                                 : ns(expected.at({file, match.index}));
    if (merge.summary().files[match.file].problems.count(Problem::base_guessed) > 0 &&
        !is_unix_time(ns_of(*match.input, "ts"))) {
      guesses[match.file].insert(got - wanted);
      continue;
    }
    if (got != wanted && wrong++ == 0) {
      CAPTURE(file);
      CAPTURE(match.index);
      CHECK(got == wanted);
    }
  }
  CHECK(wrong == 0);
  for (const auto& [file, guess] : guesses) {
    REQUIRE(guess.size() == 1);
    CHECK(is_unix_time(*guess.begin()));
  }
}

// The base times that collectives imply are tested in clock_test.cpp.
AlignBy without_collectives(const Expected& expected) {
  return expected.empty() ? AlignBy::base : AlignBy::any;
}

void merge_to(const std::string& output, const std::vector<std::string>& paths, AlignBy align_by) {
  MergeOptions options;
  for (const std::string& path : paths) options.inputs.push_back({path, {}});
  options.output = output;
  options.plan.clock.align_by = align_by;
  merge_traces(options);
}

// "rank ns phase name ns" of each event but metadata, sorted; `path` is a merge.
std::vector<std::string> events_in(const std::string& path) {
  const oracle::Json trace = oracle::parse_json(oracle::load(path).text);
  const std::int64_t base_ns = std::stoll(text_of(trace, "baseTimeNanoseconds"));
  std::vector<std::string> events;
  for (const oracle::Json& event : trace.find("traceEvents")->items)
    if (text_of(event, "ph") != "M")
      events.push_back(text_of(event, "pid") + " " + std::to_string(base_ns + ns_of(event, "ts")) +
                       " " + text_of(event, "ph") + " " + text_of(event, "name") + " " +
                       std::to_string(ns_of(event, "dur")));
  std::sort(events.begin(), events.end());
  return events;
}

// The files of the lower half of the ranks, and of the upper one.
std::vector<std::vector<std::string>> nodes_of(const std::vector<std::string>& paths) {
  const MergeSummary summary = CheckedMerge(paths).summary();
  std::set<std::int64_t> ranks;
  for (const MergedFile& file : summary.files) ranks.insert(file.rank);
  const std::int64_t first_of_upper = *std::next(ranks.begin(), std::ssize(ranks) / 2);
  std::vector<std::vector<std::string>> nodes(2);
  for (const MergedFile& file : summary.files)
    nodes[file.rank < first_of_upper ? 0 : 1].push_back(file.path);
  return nodes;
}

std::vector<fs::path> sets_of(const fs::path& root) {
  std::vector<fs::path> sets;
  for (const fs::directory_entry& set : fs::directory_iterator(root / "multirank"))
    sets.push_back(set.path());
  std::ranges::sort(sets);
  return sets;
}

}  // namespace

TEST_CASE("corpus: every group of every multi-rank set lies where its syncs and bases put it") {
  const fs::path root = reference_traces();
  if (root.empty()) return;
  std::size_t by_sync = 0;
  std::size_t checked_by_sync = 0;
  std::size_t groups = 0;
  for (const fs::path& set : sets_of(root)) {
    for (const fs::path& group : groups_of(set)) {
      CAPTURE(group.string());
      const std::vector<std::string> paths = traces_in(group);
      REQUIRE(paths.size() > 1);
      const Expected expected = expected_of(set, group.filename().string());
      // A day takes each second group, and its other layout of each eighth.
      const std::size_t group_number = groups++;
      by_sync += expected.empty() ? 0 : 1;
      if (group_number % 2 != 0 && !is_night()) continue;
      checked_by_sync += expected.empty() ? 0 : 1;
      const CheckedMerge merge(paths, PidLayout::rank, without_collectives(expected));
      CHECK(joined(merge.faults()) == "");
      if (group_number % 8 == 0 || is_night())
        CHECK(joined(CheckedMerge(paths, PidLayout::split).faults()) == "");
      check_times(merge, paths, expected);
    }
  }
  CHECK(by_sync == 10);
  CHECK(checked_by_sync >= (is_night() ? 10 : 4));
  CHECK(groups >= 24);
}

TEST_CASE("corpus: all forms of a set merge together") {
  const fs::path root = reference_traces();
  if (root.empty()) return;
  for (const fs::path& set : of_today(sets_of(root))) {
    CAPTURE(set.string());
    std::vector<std::string> paths;
    std::vector<std::string> legacy;  // files without any absolute time
    for (const fs::path& group : groups_of(set))
      for (const std::string& path : traces_in(group))
        (group.filename() == "legacy" ? legacy : paths).push_back(path);
    const CheckedMerge merge(paths);
    CHECK(joined(merge.faults()) == "");
    // All files belong to one run, so no event stays at the zero of another clock.
    constexpr std::int64_t kHourNs = 3'600'000'000'000;
    for (const EventMatch& match : merge.matches()) REQUIRE(ns_of(*match.output, "ts") < kHourNs);
    if (legacy.empty()) continue;
    std::vector<std::string> all = paths;
    all.insert(all.end(), legacy.begin(), legacy.end());
    CHECK_THROWS_WITH_AS(
        CheckedMerge{all},
        doctest::Contains("its times do not say when they began, while those of other files of"),
        Error);
  }
}

TEST_CASE("corpus: merges of two nodes, merged again, are what all files at once are") {
  const fs::path root = reference_traces();
  if (root.empty()) return;
  const TemporaryFolder folder;
  for (const fs::path& set : of_today(sets_of(root))) {
    for (const fs::path& group : of_today(groups_of(set), 2)) {
      CAPTURE(group.string());
      const std::vector<std::string> paths = traces_in(group);
      const std::vector<std::vector<std::string>> nodes = nodes_of(paths);
      const std::string all = folder.path("all.json");
      const std::string lower = folder.path("lower.json");
      const std::string upper = folder.path("upper.json");
      const std::string again = folder.path("again.json");
      const AlignBy align_by = without_collectives(expected_of(set, group.filename().string()));
      merge_to(all, paths, align_by);
      merge_to(lower, nodes[0], align_by);
      merge_to(upper, nodes[1], align_by);
      merge_to(again, {lower, upper}, align_by);
      CHECK(events_in(again) == events_in(all));
    }
  }
}
