// Every reference trace merged alone, against the facts that another program found in it.
#include "base/json_string.h"
#include "base/problems.h"
#include "clock/time_map.h"
#include "merge_corpus/merged_file.h"
#include "oracle/exact_time.h"
#include "oracle/oracle.h"
#include "support/merge_texts.h"
#include "support/pairing_facts.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <re2/re2.h>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSuffix = ".facts.json";

// The traces that facts are known of, but those that are broken on purpose.
std::vector<std::string> list_traces(const fs::path& root) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    const std::string path = entry.path().string();
    if (path.ends_with(kSuffix) && entry.path().parent_path() != root / "bad")
      found.push_back(path.substr(0, path.size() - kSuffix.size()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool has_long_fraction(const oracle::Json& event, std::string_view key) {
  const std::string text = text_of(event, key);
  return text.find('.') != std::string::npos && text.size() - text.find('.') > 4;
}

void check_facts(const CheckedMerge& merge, const oracle::Json& facts, const oracle::Json* pairs) {
  std::map<std::string, std::int64_t> phases;
  std::map<std::string, std::int64_t> written;  // phases of the output
  std::int64_t total_ns = 0;
  std::int64_t tolerance_ns = 0;  // the facts add up the written times; a merge rounds to
                                  // nanoseconds
  for (const EventMatch& match : merge.matches()) {
    ++phases[text_of(*match.input, "ph")];
    ++written[text_of(*match.output, "ph")];
    if (text_of(*match.input, "ph") != "X") continue;
    total_ns += ns_of(*match.output, "dur");
    tolerance_ns += has_long_fraction(*match.input, "ts") || has_long_fraction(*match.input, "dur");
  }
  const oracle::Json& expected = *facts.find("phases");
  for (std::size_t i = 0; i < expected.keys.size(); ++i) {
    const std::string& phase = expected.keys[i];
    if (phase == "M") continue;
    CAPTURE(phase);
    std::int64_t count = std::stoll(expected.items[i].text);
    // An end event is a stray one, or the merge made one slice of it and its begin.
    if (phase == "E") count -= std::stoll(text_of(*pairs, "orphan_E")) + merge.joined_pairs();
    CHECK(phases[phase] == count);
  }
  CHECK(written["X"] == phases["X"] + phases["B"]);
  CHECK(written["B"] + written["E"] == 0);
  if (const oracle::Json* complete = facts.find("X"))
    CHECK(std::abs(total_ns - ns_of(*complete, "total_dur")) <= tolerance_ns);
}

// Removes the parts of args that a merge rewrites: ids of objects, and times.
std::string without_ids(const std::string& args) {
  static constexpr std::array<std::string_view, 3> kSigns{"\"id", "id_ref\"", "Time\""};
  if (std::none_of(kSigns.begin(), kSigns.end(),
                   [&](std::string_view sign) { return args.find(sign) != std::string::npos; }))
    return args;
  static const RE2 kIds(
      R"re("(id|id_ref|source_id_ref|pid_ref|startTime|endTime)":("[^"]*"|[-0-9.]+),?)re");
  std::string rest = args;
  RE2::GlobalReplace(&rest, kIds, "");
  RE2::GlobalReplace(&rest, ",}", "}");
  return rest;
}

std::string shown(const oracle::MergedEvent& event) {
  return fmt::format("{} {} {}/{} +{} {}", event.ts_ns, event.phase, event.name, event.cat,
                     event.duration_ns, event.args);
}

// Merges with begin and end events joined, as a merge does by default.
void check_slices(const std::string& path) {
  const TemporaryFolder folder;
  MergeOptions options;
  options.inputs = {{path, {}}};
  options.output = folder.path("merged.json");
  const MergeSummary summary = merge_traces(options);
  const std::string merged = read_file(options.output);
  oracle::Input input = oracle::load(path);
  input.shift_ns = summary.files[0].clock.offset_ns;
  if (summary.files[0].problems.count(Problem::base_guessed) > 0)
    input.relative_shift_ns = summary.files[0].times->mapped_or_same(0);
  std::vector<oracle::MergedEvent> got = read_merged(merged);
  std::vector<oracle::MergedEvent> wanted = oracle::merge({input});
  // Pids of a merged file are ranks; that they are right is seen elsewhere.
  for (oracle::MergedEvent& event : got) {
    event.rank = 0;
    event.args = without_ids(event.args);
  }
  for (oracle::MergedEvent& event : wanted) {
    event.rank = 0;
    event.name = to_valid_utf8(event.name);
    event.args = to_valid_utf8(event.args);
    event.args = without_ids(event.args);
  }
  std::sort(got.begin(), got.end());
  std::sort(wanted.begin(), wanted.end());
  CHECK(got.size() == wanted.size());
  for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
    if (got[i] == wanted[i]) continue;
    CHECK(shown(got[i]) == shown(wanted[i]));
    return;
  }
}

}  // namespace

TEST_CASE("corpus: every reference trace merges alone, and has the events of its facts") {
  const fs::path root = reference_traces();
  if (root.empty()) return;
  const std::vector<std::string> traces = list_traces(root);
  REQUIRE(traces.size() > 100);
  for (const std::string& path : of_today(traces, 8)) {
    CAPTURE(path);
    if (path.ends_with(".zip")) {
      CHECK_THROWS_WITH_AS(CheckedMerge({path}),
                           (path + ": is a zip archive; unpack it first (unzip)").c_str(), Error);
      continue;
    }
    const CheckedMerge merge({path});
    CHECK(joined(merge.faults()) == "");
    const oracle::Json facts = oracle::parse_json(oracle::load(path + std::string(kSuffix)).text);
    const oracle::Json* const pairs = pairing_facts(facts, oracle::load(path).text);
    check_facts(merge, facts, pairs);
    if (pairs != nullptr) check_slices(path);
  }
}
