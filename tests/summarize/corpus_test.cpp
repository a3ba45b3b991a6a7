// Summaries of real traces against reference facts that another program (Python's json and decimal
// modules) found in them. Run as the test corpus.stats; skipped where the traces are not.
#include "base/problems.h"
#include "oracle/exact_time.h"
#include "oracle/json_value.h"
#include "oracle/oracle.h"
#include "summarize/summarize.h"
#include "support/pairing_facts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace traceloom;
using oracle::Json;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSuffix = ".facts.json";
const fs::path kTraces = fs::path(TRACELOOM_SHARED_DIR) / "traces";

std::vector<std::string> list_files(const fs::path& folder) {
  std::vector<std::string> found;
  if (!fs::is_directory(folder)) return found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

std::int64_t number(const Json& object, std::string_view key) {
  return std::stoll(object.find(key)->text);
}

std::int64_t nanoseconds(const Json& object, std::string_view key) {
  return oracle::round_to_ns(*oracle::parse_microseconds(object.find(key)->text));
}

// True when a number may have digits below the nanosecond.
bool has_long_decimals(const std::string& text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t point = text.find('.'); point != std::string::npos;
       point = text.find('.', point + 1))
    if (point + 4 < text.size() &&
        std::all_of(text.begin() + static_cast<std::ptrdiff_t>(point) + 1,
                    text.begin() + static_cast<std::ptrdiff_t>(point) + 5, is_digit))
      return true;
  return false;
}

// The facts do not keep ranges of the host and their copies on devices apart.
std::map<std::string, DurationStats> stats_by_name(const Summary& summary) {
  std::map<std::string, DurationStats> stats;
  for (const SummaryRow& row : summary.rows) {
    const auto [found, is_new] = stats.try_emplace(*row.name, row.stats);
    if (is_new) continue;
    DurationStats& both = found->second;
    both.count += row.stats.count;
    both.total_ns += row.stats.total_ns;
    both.min_ns = std::min(both.min_ns, row.stats.min_ns);
    both.max_ns = std::max(both.max_ns, row.stats.max_ns);
  }
  return stats;
}

Summary summarize_file(const std::string& path, unsigned threads) {
  SummaryRequest request;
  request.inputs = {{path, std::nullopt}};
  request.threads = threads;
  return summarize(request);
}

// Adds the rows of a table of the facts, which is complete only up to 20 names.
void add_rows(const Json& table, std::map<std::string, std::vector<const Json*>>& rows) {
  for (const Json& row : table.find("top20_by_total")->items)
    rows[row.find("name")->text].push_back(&row);
}

// The facts keep X and pairs apart, a summary does not: a name is compared when both tables are
// whole.
void check_facts(const Json& facts, const Json* pairs, const Summary& summary,
                 std::int64_t tolerance_ns) {
  const std::map<std::string, DurationStats> stats = stats_by_name(summary);
  std::map<std::string, std::vector<const Json*>> rows;
  const Json* const complete = facts.find("X");
  if (complete != nullptr) add_rows(*complete, rows);
  if (pairs != nullptr) add_rows(*pairs, rows);
  const bool both = complete != nullptr && pairs != nullptr;
  for (const auto& [name, parts] : rows) {
    CAPTURE(name);
    REQUIRE(stats.contains(name));
    const DurationStats& found = stats.at(name);
    std::int64_t count = 0;
    std::int64_t total_ns = 0;
    std::int64_t min_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t max_ns = 0;
    for (const Json* part : parts) {
      count += number(*part, "count");
      total_ns += nanoseconds(*part, "total");
      min_ns = std::min(min_ns, nanoseconds(*part, "min"));
      max_ns = std::max(max_ns, nanoseconds(*part, "max"));
    }
    if (both && static_cast<std::int64_t>(found.count) != count)
      continue;  // the other table is cut
    CHECK(static_cast<std::int64_t>(found.count) == count);
    CHECK(std::abs(found.total_ns - total_ns) <= tolerance_ns * count);
    CHECK(std::abs(found.min_ns - min_ns) <= tolerance_ns);
    CHECK(std::abs(found.max_ns - max_ns) <= tolerance_ns);
  }
}

void check_totals(const Json& facts, const Json* pairs, const Summary& summary,
                  std::int64_t tolerance_ns) {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  if (const Json* complete = facts.find("X")) {
    count += number(*complete, "count");
    total_ns += nanoseconds(*complete, "total_dur");
  }
  const ProblemCounts& problems = summary.files.front().problems;
  if (pairs != nullptr) {
    count += number(*pairs, "pairs");
    total_ns += nanoseconds(*pairs, "total_dur");
    CHECK(static_cast<std::int64_t>(problems.count(Problem::end_without_begin)) ==
          number(*pairs, "orphan_E"));
    CHECK(static_cast<std::int64_t>(problems.count(Problem::begin_without_end)) ==
          number(*pairs, "unclosed_B"));
  }
  std::int64_t found_count = 0;
  std::int64_t found_total_ns = 0;
  for (const SummaryRow& row : summary.rows) {
    found_count += static_cast<std::int64_t>(row.stats.count);
    found_total_ns += row.stats.total_ns;
  }
  CHECK(found_count == count);
  CHECK(std::abs(found_total_ns - total_ns) <= tolerance_ns * count);
  // Metadata says what events mean, and is none.
  const Json& phases = *facts.find("phases");
  const std::int64_t metadata = phases.find("M") != nullptr ? number(phases, "M") : 0;
  CHECK(static_cast<std::int64_t>(summary.files.front().events) ==
        number(facts, "events") - number(facts, "non_object_elements") - metadata);
}

}  // namespace

TEST_SUITE_BEGIN("corpus");

TEST_CASE("corpus: summaries of real traces are those of the reference facts") {
  std::size_t checked = 0;
  for (const std::string& facts_path : list_files(kTraces)) {
    if (!facts_path.ends_with(kSuffix)) continue;
    const std::string path = facts_path.substr(0, facts_path.size() - kSuffix.size());
    CAPTURE(path);
    const Json facts = oracle::parse_json(oracle::load(facts_path).text);
    if (facts.find("events")->kind == Json::Kind::null) continue;
    if (facts.find("compression")->text == "zip") {
      CHECK_THROWS_AS(summarize_file(path, 2), Error);
      continue;
    }
    // The facts add up the written times, while our code rounds each span to nanoseconds first.
    const std::string text = oracle::load(path).text;
    const std::int64_t tolerance_ns = has_long_decimals(text) ? 1 : 0;
    const Json* const pairs = pairing_facts(facts, text);
    const Summary summary = summarize_file(path, 1 + static_cast<unsigned>(checked % 3));
    check_facts(facts, pairs, summary, tolerance_ns);
    check_totals(facts, pairs, summary, tolerance_ns);
    ++checked;
  }
  if (checked == 0) fmt::print("skipped: no reference traces under {}\n", TRACELOOM_SHARED_DIR);
}

TEST_CASE("corpus: broken inputs are summarised or refused, never more") {
  for (const std::string& path : list_files(kTraces / "bad")) {
    CAPTURE(path);
    try {
      const Summary summary = summarize_file(path, 2);
      CHECK(summary.files.size() == 1);
    } catch (const Error& error) {
      CHECK_FALSE(error.problem().empty());
    }
  }
}

TEST_SUITE_END();
