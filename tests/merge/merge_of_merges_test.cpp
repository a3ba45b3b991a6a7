#include "merge/options/merge_options.h"
#include "support/filter_files.h"
#include "support/print_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

// Adds a cycle of a rank, as Composer writes it: the thread is the process of the rank.
TraceText& add_cycle(TraceText& trace, int rank, int batch, int start_us) {
  const std::string args = fmt::format(R"({{"epoch": 0, "batch": {}}})", batch);
  trace.tid(std::to_string(100 * (rank + 1)));
  trace.m("process_name", fmt::format(R"({{"name": "Rank {} training loop process"}})", rank));
  trace.composer_rank(rank, "1000");
  trace.b("event/batch", start_us, args);
  trace.e("event/batch", start_us + 10, args);
  return trace;
}

// Returns what Composer's merger makes of the merged file of the first cycle and the files of the
// second.
std::string merge_of_merge() {
  TraceText trace;
  trace.pid("0");
  add_cycle(trace, 0, 1, 2000);
  add_cycle(trace, 1, 1, 2001);
  add_cycle(trace, 0, 2, 3000);
  trace.pid("1");
  add_cycle(trace, 1, 2, 3001);
  return trace.array();
}

// Returns "pid tid name@us" for each event that is no metadata, and "pid process name" for the
// processes.
Texts rows_of(const std::string& merged) {
  Texts rows;
  for (const oracle::Json& event : events_of(merged)) {
    if (text_of(event, "name") == "process_name")
      rows.push_back(
          fmt::format("{} {}", text_of(event, "pid"), text_of(*event.find("args"), "name")));
    if (text_of(event, "ph") != "M")
      rows.push_back(fmt::format("{} {} {}@{}", text_of(event, "pid"), text_of(event, "tid"),
                                 text_of(event, "name"), text_of(event, "ts")));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace

TEST_CASE("merge_of_merges: ranks that Composer has put under one pid are apart again") {
  const FilterFiles files({{"merged.json", merge_of_merge()}});
  const Merged merged = files.merge();
  CHECK(rows_of(merged.text) == Texts{
                                    "0 100 event/batch@0",
                                    "0 100 event/batch@1000",
                                    "0 Rank 0 training loop process",
                                    "1 200 event/batch@1",
                                    "1 200 event/batch@1001",
                                    "1 Rank 1 training loop process",
                                });
  const MergedFile& file = merged.summary.files.at(0);
  CHECK(file.problems.count(Problem::ranks_in_one_pid) == 1);
  REQUIRE(file.events_of_rank.size() == 2);
  for (const std::int64_t rank : {0, 1}) {
    CHECK(file.events_of_rank.at(rank).events_in == 4);
    CHECK(file.events_of_rank.at(rank).events == 2);
  }
}

TEST_CASE("merge_of_merges: merging it once more changes nothing") {
  const std::string once = merge_texts({{"merged.json", merge_of_merge()}});
  CHECK(without_other_data(merge_texts({{"once.json", once}})) == without_other_data(once));
}

TEST_CASE("merge_of_merges: a filter of ranks finds what stands under another pid") {
  FilterFiles files({{"merged.json", merge_of_merge()}});
  files.options.filter.ranks = {{1, 1}};
  CHECK(rows_of(files.merge().text) ==
        Texts{"1 200 event/batch@1", "1 200 event/batch@1001", "1 Rank 1 training loop process"});
}

TEST_CASE("merge_of_merges: a rank without a pid of its own goes without its process name") {
  TraceText trace;
  trace.pid("0");
  add_cycle(trace, 0, 1, 2000);
  add_cycle(trace, 1, 1, 2001);
  CHECK(rows_of(merge_texts({{"merged.json", trace.array()}})) ==
        Texts{"0 100 event/batch@0", "0 Rank 0 training loop process", "1 200 event/batch@1",
              "1 rank 1"});
}

TEST_CASE("merge_of_merges: a thread that no global_rank names is of the pid's rank, and told") {
  TraceText trace;
  trace.pid("0");
  add_cycle(trace, 0, 1, 2000);
  add_cycle(trace, 1, 1, 2001);
  trace.tid("7").x("gemm", 2005, 1);
  const FilterFiles files({{"merged.json", trace.array()}});
  const Merged merged = files.merge();
  const Texts rows = rows_of(merged.text);
  CHECK(std::find(rows.begin(), rows.end(), "0 7 gemm@5") != rows.end());
  CHECK(merged.summary.files.at(0).problems.explanation(Problem::ranks_in_one_pid) ==
        "pid 0 has threads of ranks 0 and 1, and those without a known rank count as rank 0; "
        "merge the files of the ranks to have them apart");
}
