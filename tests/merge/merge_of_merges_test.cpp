#include "merge/merge_summary.h"
#include "support/filter_files.h"
#include "support/print_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

// A cycle of a rank, as Composer writes it: the thread is the process of the rank.
TraceText& add_cycle(TraceText& trace, int rank, int batch, int start_us) {
  const std::string args = fmt::format(R"({{"epoch": 0, "batch": {}}})", batch);
  trace.tid(std::to_string(100 * (rank + 1)));
  trace.m("process_name", fmt::format(R"({{"name": "Rank {} training loop process"}})", rank));
  trace.composer_rank(rank, "1000");
  trace.b("event/batch", start_us, args);
  trace.e("event/batch", start_us + 10, args);
  return trace;
}

// What Composer's merger makes of the merged file of the first cycle and the files of the second.
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

// "pid tid name@us" of what is no metadata, and "pid process name" of the processes.
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

// Four ranks and three cycles. The clocks of ranks 1 to 3 are off, and drift from cycle to cycle.
NamedTexts drifting_ranks() {
  NamedTexts files;
  for (int rank = 0; rank < 4; ++rank)
    for (int cycle = 0; cycle < 3; ++cycle) {
      const std::int64_t sync_us =
          1'795'000'000'000'000 + cycle * 50'000'000 + rank * 300'000 + rank * cycle * 70;
      files.push_back({fmt::format("ep0-ba{}-rank{}.json", 4 + cycle, rank),
                       TraceText()
                           .pid(std::to_string(rank))
                           .composer_rank(rank, std::to_string(sync_us))
                           .x("step", sync_us + 10 + rank, 5)
                           .x("long", sync_us + 2000, 40'000'000)
                           .array()});
    }
  return files;
}

NamedTexts of_ranks(const NamedTexts& files, const std::vector<int>& ranks) {
  NamedTexts found;
  for (const int rank : ranks)
    for (const auto& [name, text] : files)
      if (name.find(fmt::format("rank{}", rank)) != std::string::npos)
        found.emplace_back(name, text);
  return found;
}

std::string merge_with(const NamedTexts& files, const ClockOptions& clock) {
  FilterFiles merge(files);
  merge.options.plan.clock = clock;
  return merge.merge().text;
}

// The same events, at times that may be rounded twice where they are interpolated.
void check_same(const std::string& merged, const std::string& expected) {
  const std::vector<oracle::MergedEvent> events = read_merged(merged);
  std::vector<oracle::MergedEvent> wanted = read_merged(expected);
  REQUIRE(events.size() == wanted.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (std::abs(wanted[i].ts_ns - events[i].ts_ns) <= 2) wanted[i].ts_ns = events[i].ts_ns;
    if (std::abs(wanted[i].duration_ns - events[i].duration_ns) <= 2)
      wanted[i].duration_ns = events[i].duration_ns;
    CHECK(events[i] == wanted[i]);
  }
}

// Merges of the ranks of two nodes, merged again; and one of them with the files of the other.
void check_nodes(const NamedTexts& files, const ClockOptions& clock) {
  const NamedTexts others = of_ranks(files, {2, 3});
  const NamedTexts node0{{"node0.json", merge_with(of_ranks(files, {0, 1}), clock)}};
  const NamedTexts node1{{"node1.json", merge_with(others, clock)}};
  const std::string whole = merge_with(files, clock);
  NamedTexts inputs = node0;
  inputs.push_back(node1.front());
  const std::string again = merge_with(inputs, clock);
  check_same(again, whole);
  check_same(merge_with({{"again.json", again}}, clock), whole);
  inputs = node0;
  inputs.insert(inputs.end(), others.begin(), others.end());
  check_same(merge_with(inputs, clock), whole);
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
        "pid 0 has threads of ranks 0 and 1, and those whose rank nothing tells count as rank 0; "
        "merge the files of the ranks to have them apart");
}

TEST_CASE("merge_of_merges: each cycle of the merge of a node goes by its own sync") {
  const NamedTexts files = drifting_ranks();
  check_nodes(files, {});
  const std::string node1 = merge_texts(of_ranks(files, {2, 3}));
  const std::string whole = merge_texts(files);
  CHECK(without_other_data(merge_texts({{"0.json", merge_texts(of_ranks(files, {0, 1}))},
                                        {"1.json", node1}})) == without_other_data(whole));
  CHECK(node1.find(R"("cycles":[{"cycle":"ep0-ba4","sync_us":1795000000600000,)"
                   R"("first_ns":1795000000600012000},{"cycle":"ep0-ba5",)") != std::string::npos);
}

TEST_CASE(
    "merge_of_merges: cycles of nodes are found again by their names where files are missing") {
  NamedTexts files = drifting_ranks();
  // Rank 0 and rank 2, by which their nodes go, lost a cycle each.
  std::erase_if(files, [](const auto& file) {
    return file.first == "ep0-ba4-rank0.json" || file.first == "ep0-ba6-rank2.json";
  });
  const auto step_of = [](const std::string& merged, std::int64_t rank) {
    std::vector<std::int64_t> starts;
    for (const oracle::MergedEvent& event : read_merged(merged))
      if (event.rank == rank && event.name == "step") starts.push_back(event.ts_ns);
    return starts;
  };
  const std::string whole = merge_texts(files);
  const std::string again = merge_texts({{"0.json", merge_texts(of_ranks(files, {0, 1}))},
                                         {"1.json", merge_texts(of_ranks(files, {2, 3}))}});
  for (const std::int64_t rank : {0, 1, 2, 3}) CHECK(step_of(again, rank) == step_of(whole, rank));
}

TEST_CASE("merge_of_merges: drift between the cycles of a node is interpolated, too") {
  check_nodes(drifting_ranks(), {.drift = DriftMode::linear});
}

TEST_CASE("merge_of_merges: a node's clock that was set between two cycles") {
  NamedTexts files = drifting_ranks();
  const std::string from = "179500010";  // the third cycle of ranks 2 and 3 an hour earlier
  for (auto& [name, text] : files)
    if (name == "ep0-ba6-rank2.json" || name == "ep0-ba6-rank3.json")
      for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from))
        text.replace(at, from.size(), "179499650");
  check_nodes(files, {});
}

TEST_CASE("merge_of_merges: options that ask for something else than syncs move a node as one") {
  const NamedTexts files = drifting_ranks();
  const std::string node = merge_texts(of_ranks(files, {2, 3}));
  const auto moved_by = [&](const ClockOptions& clock) {
    const std::vector<oracle::MergedEvent> events =
        read_merged(merge_with({{"0.json", files[0].second}, {"1.json", node}}, clock));
    const std::vector<oracle::MergedEvent> before = read_merged(node);
    const auto first = std::ranges::find(events, 2, &oracle::MergedEvent::rank);
    const std::int64_t by_ns = first->ts_ns - before.front().ts_ns;
    for (const oracle::MergedEvent& event : before) {
      oracle::MergedEvent wanted = event;
      wanted.ts_ns += by_ns;
      CHECK(std::ranges::find(events, wanted) != events.end());
    }
    return by_ns;
  };
  CHECK(moved_by({.align_by = AlignBy::base}) == 0);
  CHECK(moved_by({.offsets = {{2, 5'000'000}}}) == 5'000'000);
}
