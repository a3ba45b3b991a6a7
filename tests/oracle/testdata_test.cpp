// The oracle against the sync arithmetic that was recorded when the runs in testdata/ were made.
#include "oracle/exact_time.h"
#include "oracle/json_value.h"
#include "oracle/oracle.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

using namespace traceloom::oracle;
namespace fs = std::filesystem;

namespace {

const fs::path kTestdata = fs::path(TRACELOOM_SOURCE_DIR) / "testdata";

std::int64_t to_ns(const std::string& microseconds) {
  return round_to_ns(*parse_microseconds(microseconds));
}

// The clock sync in the metadata of a Composer file, found without parsing: the file may be cut.
std::int64_t sync_ns(const std::string& text) {
  const std::size_t event = text.find("clock_sync_timestamp_us");
  const std::size_t value = text.find("\"value\": ", event) + 9;
  return to_ns(text.substr(value, text.find('}', value) - value));
}

// Moved times by file, sorted, without metadata: from column ts_by_sync of expected_merged.tsv.gz.
std::map<std::string, std::vector<std::int64_t>> expected_times(const fs::path& table) {
  std::map<std::string, std::vector<std::int64_t>> times;
  std::istringstream lines(load(table).text);
  std::string file, index, phase, ts, ts_by_sync, ts_true;
  while (lines >> file >> index >> phase >> ts >> ts_by_sync >> ts_true)
    if (phase != "ph" && phase != "M") times[file].push_back(to_ns(ts_by_sync));
  for (auto& [name, values] : times) std::sort(values.begin(), values.end());
  return times;
}

// ep0-ba8-rank3.json.gz -> ep0-ba8-rank0.json (or .gz): the file that has the reference sync.
std::int64_t reference_sync_ns(const fs::path& file) {
  const std::string name = file.filename().string();
  return sync_ns(
      load(file.parent_path() / (name.substr(0, name.find("-rank")) + "-rank0.json")).text);
}

void check_set(const fs::path& folder, const fs::path& table, std::size_t files) {
  const std::map<std::string, std::vector<std::int64_t>> expected = expected_times(table);
  CHECK(expected.size() == files);
  for (const auto& [name, times] : expected) {
    CAPTURE(name);
    Input input = load(folder / name);
    input.shift_ns = reference_sync_ns(folder / name) - sync_ns(input.text);
    std::vector<std::int64_t> merged;
    for (const MergedEvent& event : merge({input})) merged.push_back(event.ts_ns);
    const FileSpans found = find_spans(input);
    CHECK(found.orphan_ends == 0);
    // The table has the ends of the joined slices as well.
    for (const Span& span : found.spans)
      if (span.phase == 'B') merged.push_back(span.start_ns + span.duration_ns + input.shift_ns);
    std::sort(merged.begin(), merged.end());
    CHECK(merged == times);
  }
}

}  // namespace

TEST_CASE("testdata: the oracle merges the real runs as recorded") {
  check_set(kTestdata / "demo/composer", kTestdata / "demo/expected_merged.tsv.gz", 4);
  check_set(kTestdata / "cycles", kTestdata / "cycles/expected_merged.tsv.gz", 12);
  check_set(kTestdata / "cut", kTestdata / "cut/expected_merged.tsv.gz", 4);
}
