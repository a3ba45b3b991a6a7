// Our numbers against those that other tools assert in their tests, or that were worked out by
// hand:
// ../shared/truths/truths.json. Run as the test corpus.analysis; skipped where they are not.
#include "oracle/json_value.h"
#include "oracle/oracle.h"
#include "support/tries.h"
#include "truth_rows.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>

using namespace traceloom;
using oracle::Json;
namespace fs = std::filesystem;

namespace {

const fs::path kShared = TRACELOOM_SHARED_DIR;

std::vector<TruthRow> read_truths(const fs::path& path) {
  std::vector<TruthRow> rows;
  if (!fs::exists(path)) return rows;
  const Json document = oracle::parse_json(oracle::load(path.string()).text);
  for (const Json& item : document.items) {
    TruthRow row;
    row.source = text_of_key(item, "source");
    row.metric = text_of_key(item, "metric");
    row.note = text_of_key(item, "note");
    row.tolerance = number_of(item, "tolerance");
    row.expected = *item.find("expected");
    const Json& trace = *item.find("trace");
    if (trace.kind == Json::Kind::array)
      for (const Json& one : trace.items) row.traces.push_back((kShared / one.text).string());
    else
      row.traces.push_back((kShared / trace.text).string());
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, {},
                           [](const TruthRow& row) { return std::tie(row.traces, row.metric); });
  return rows;
}

struct Count {
  int same = 0;
  int different = 0;  // different on purpose
  int not_yet = 0;
};

}  // namespace

TEST_SUITE_BEGIN("corpus");

TEST_CASE("corpus: what other tools assert holds, or differs for a reason") {
  const std::vector<TruthRow> rows = read_truths(kShared / "truths" / "truths.json");
  if (rows.empty()) fmt::print("skipped: no reference numbers under {}\n", TRACELOOM_SHARED_DIR);
  std::map<std::string, Count> counts;
  std::size_t place = 0;
  for (const TruthRow& row : rows) {
    // A day takes a seventh of them, and the first of each metric.
    const bool is_first = !counts.contains(row.metric);
    if (place++ % 7 != 0 && !is_first && !is_night()) continue;
    Count& count = counts[row.metric];
    const auto check = truth_checks().find(row.metric);
    if (check == truth_checks().end()) {
      ++count.not_yet;
      continue;
    }
    CAPTURE(row.source);
    CAPTURE(row.traces.front());
    CAPTURE(row.metric);
    const std::string reason = deliberate_difference(row);
    const std::string differences = check->second(row);
    if (reason.empty()) CHECK(differences == "");
    // A reason that is none any more is a mistake in the table.
    if (!reason.empty()) CHECK(differences != "");
    // For a few reasons the test can show that they explain the whole difference.
    CHECK(unexplained_difference(row) == "");
    ++(reason.empty() ? count.same : count.different);
  }
  Count sum;
  for (const auto& [metric, count] : counts) {
    if (count.not_yet > 0) fmt::print("not yet: {} rows of {}\n", count.not_yet, metric);
    sum.same += count.same;
    sum.different += count.different;
    sum.not_yet += count.not_yet;
  }
  fmt::print("truths: {} hold, {} differ for a reason, {} not yet\n", sum.same, sum.different,
             sum.not_yet);
}

TEST_SUITE_END();
