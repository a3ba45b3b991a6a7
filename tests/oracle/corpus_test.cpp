// The oracle against reference facts that another program (Python's json and decimal modules) found
// in real traces. Run as the test corpus.oracle; skipped where the traces are not.
#include "oracle/exact_time.h"
#include "oracle/json_value.h"
#include "oracle/oracle.h"
#include "support/pairing_facts.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

using namespace traceloom::oracle;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSuffix = ".facts.json";

std::vector<fs::path> list_facts() {
  std::vector<fs::path> found;
  const fs::path root = fs::path(TRACELOOM_SHARED_DIR) / "traces";
  if (!fs::is_directory(root)) return found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root))
    if (entry.path().string().ends_with(kSuffix)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::int64_t number(const Json& object, std::string_view key) {
  return std::stoll(object.find(key)->text);
}

std::int64_t nanoseconds(const Json& object, std::string_view key) {
  return round_to_ns(*parse_microseconds(object.find(key)->text));
}

struct Totals {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_ns = 0;
};

std::map<std::string, Totals> total_by_name(const FileSpans& found, char phase) {
  std::map<std::string, Totals> totals;
  for (const Span& span : found.spans) {
    if (span.phase != phase) continue;
    Totals& sum = totals[span.name];
    ++sum.count;
    sum.total_ns += span.duration_ns;
    sum.min_ns = std::min(sum.min_ns, span.duration_ns);
    sum.max_ns = std::max(sum.max_ns, span.duration_ns);
  }
  return totals;
}

// The facts add up the written times, while our code rounds each span to nanoseconds first. If a
// file has more than three decimals, the test allows `tolerance_ns` a span.
void check_table(const Json& table, const std::map<std::string, Totals>& totals,
                 std::int64_t tolerance_ns) {
  for (const Json& row : table.items) {
    const std::string name = row.find("name")->text;
    CAPTURE(name);
    REQUIRE(totals.count(name == "(none)" ? "" : name) == 1);
    const Totals& sum = totals.at(name == "(none)" ? "" : name);
    CHECK(sum.count == number(row, "count"));
    CHECK(std::abs(sum.total_ns - nanoseconds(row, "total")) <= tolerance_ns * sum.count);
    CHECK(std::abs(sum.min_ns - nanoseconds(row, "min")) <= tolerance_ns);
    CHECK(std::abs(sum.max_ns - nanoseconds(row, "max")) <= tolerance_ns);
  }
}

bool has_long_decimals(const std::string& text) {
  std::size_t digits = 0;
  bool after_point = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9')
      digits += after_point ? 1 : 0;
    else
      digits = 0;
    after_point = c == '.' || (after_point && digits > 0);
    if (digits > 3) return true;
  }
  return false;
}

std::int64_t phase_count(const Json& facts, std::string_view phase) {
  const Json* count = facts.find("phases")->find(phase);
  return count == nullptr ? 0 : std::stoll(count->text);
}

}  // namespace

TEST_SUITE_BEGIN("corpus");

TEST_CASE("corpus: spans of real traces are those of the reference facts") {
  const std::vector<fs::path> all_facts = list_facts();
  if (all_facts.empty()) {
    fmt::print("skipped: no reference traces under {}\n", TRACELOOM_SHARED_DIR);
    return;
  }
  // The oracle changes seldom, and reads slowly.
  for (const fs::path& path : traceloom::of_today(all_facts, 8)) {
    const std::string file = path.string().substr(0, path.string().size() - kSuffix.size());
    CAPTURE(file);
    const Json facts = parse_json(load(path.string()).text);
    if (facts.find("events")->kind == Json::Kind::null) continue;
    const Json* compression = facts.find("compression");
    if (compression->text == "zip") continue;
    const Input input = load(file);
    const FileSpans found = find_spans(input);
    const std::int64_t tolerance_ns = has_long_decimals(input.text) ? 1 : 0;
    if (const Json* complete = facts.find("X")) {
      const std::map<std::string, Totals> totals = total_by_name(found, 'X');
      CHECK(static_cast<std::int64_t>(totals.size()) == number(*complete, "names"));
      check_table(*complete->find("top20_by_total"), totals, tolerance_ns);
    }
    if (const Json* pairs = traceloom::pairing_facts(facts, input.text)) {
      check_table(*pairs->find("top20_by_total"), total_by_name(found, 'B'), tolerance_ns);
      CHECK(static_cast<std::int64_t>(found.orphan_ends) == number(*pairs, "orphan_E"));
      CHECK(static_cast<std::int64_t>(found.unclosed_begins) == number(*pairs, "unclosed_B"));
    }
    const std::int64_t merged = static_cast<std::int64_t>(merge({input}).size());
    const auto pairs = std::count_if(found.spans.begin(), found.spans.end(),
                                     [](const Span& span) { return span.phase == 'B'; });
    CHECK(merged == number(facts, "events") - phase_count(facts, "M") - pairs -
                        static_cast<std::int64_t>(found.orphan_ends));
  }
}

TEST_SUITE_END();
