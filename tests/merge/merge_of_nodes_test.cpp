// These tests merge the merges of nodes, and compare the result with a merge of all ranks' files.

#include "merge/options/merge_options.h"
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

// Returns the sync of a cycle on a rank. The clocks of ranks 1 to 3 are off, and drift from cycle
// to cycle; those of ranks 2 and 3 are set back before the third cycle.
std::int64_t sync_of(int rank, int cycle, std::int64_t set_back_us) {
  return 1'795'000'000'000'000 + cycle * 50'000'000 + rank * 300'000 + rank * cycle * 70 -
         (rank >= 2 && cycle == 2 ? set_back_us : 0);
}

// Returns four ranks and three cycles; rank 3 has the first event of each. The span of a cycle
// lasts until the next one has begun on the clock of a node that was set back by 15 s.
NamedTexts drifting_ranks(std::int64_t set_back_us = 0) {
  NamedTexts files;
  for (int rank = 0; rank < 4; ++rank)
    for (int cycle = 0; cycle < 3; ++cycle) {
      const std::int64_t sync_us = sync_of(rank, cycle, set_back_us);
      files.push_back({fmt::format("ep0-ba{}-rank{}.json", 4 + cycle, rank),
                       TraceText()
                           .pid(std::to_string(rank))
                           .composer_rank(rank, std::to_string(sync_us))
                           .x("step", sync_us + 20 - rank, 5)
                           .x("long", sync_us + 2000, 40'000'000)
                           .array()});
    }
  return files;
}

// Returns what torch writes next to these: it has no sync, and begins before Composer's file does.
NamedTexts torch_files() {
  NamedTexts files;
  for (int rank = 0; rank < 4; ++rank)
    for (int cycle = 0; cycle < 3; ++cycle) {
      const std::int64_t sync_us = sync_of(rank, cycle, 0);
      files.push_back(
          {fmt::format("ep0-ba{}-rank{}.pt.trace.json", 4 + cycle, rank),
           TraceText()
               .pid(std::to_string(900 + rank))
               .cat("cpu_op")
               .x("aten::mm", 3'000, 5)
               .x("aten::add", 9'000, 5)
               .object(fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 4}}, )"
                                   R"("baseTimeNanoseconds": {})",
                                   rank, (sync_us - 5'000) * 1000))});
    }
  return files;
}

// Returns two rounds of barriers from `at_us` on; each lasts 10 us, and the next one follows at
// once.
std::string rounds_args(const char* group, std::int64_t at_us) {
  return fmt::format(R"({{"group": "{}", "enter": [{}, {}], "exit": [{}, {}]}})", group, at_us,
                     at_us + 10, at_us + 10, at_us + 20);
}

// Returns files of our recorder: the one number of ranks 2 and 3 is 500 us off, the barriers are
// not.
NamedTexts recorded_ranks() {
  NamedTexts files;
  for (int rank = 0; rank < 4; ++rank)
    for (int cycle = 0; cycle < 2; ++cycle) {
      const std::int64_t at_us = sync_of(rank, cycle, 0);
      files.push_back({fmt::format("ep0-ba{}-rank{}.json", 4 + cycle, rank),
                       TraceText()
                           .pid(std::to_string(rank))
                           .composer_rank(rank, std::to_string(at_us + (rank < 2 ? 0 : 500)))
                           .m("clock_sync_rounds", rounds_args("start", at_us))
                           .m("clock_sync_rounds", rounds_args("end", at_us + 1'000'000))
                           .x("step", at_us + 20 - rank, 5)
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

std::string merge_with(const NamedTexts& files, const ClockOptions& clock,
                       const MergeFilter& filter = {}) {
  FilterFiles merge(files);
  merge.options.plan.clock = clock;
  merge.options.filter = filter;
  return merge.merge().text;
}

// Merges each of the two nodes, with the options of the merge to come.
NamedTexts nodes_of(const NamedTexts& files, const ClockOptions& clock = {},
                    const MergeFilter& filter = {}) {
  NamedTexts nodes;
  for (const std::vector<int>& ranks : {std::vector{0, 1}, std::vector{2, 3}})
    nodes.emplace_back(fmt::format("node{}.json", nodes.size()),
                       merge_with(of_ranks(files, ranks), clock, filter));
  return nodes;
}

// Checks for the same events, at times that may be rounded twice if they are interpolated.
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

// Checks the merge of both nodes, a merge of that, and a merge of one node with the files of the
// other.
void check_nodes(const NamedTexts& files, const ClockOptions& clock = {}) {
  const NamedTexts nodes = nodes_of(files, clock);
  const std::string whole = merge_with(files, clock);
  const std::string again = merge_with(nodes, clock);
  check_same(again, whole);
  check_same(merge_with({{"again.json", again}}, clock), whole);
  NamedTexts mixed = of_ranks(files, {2, 3});
  mixed.push_back(nodes[0]);
  check_same(merge_with(mixed, clock), whole);
  mixed = of_ranks(files, {0, 1});
  mixed.push_back(nodes[1]);
  check_same(merge_with(mixed, clock), whole);
}

std::string cycles_of(const std::string& merged) {
  const std::size_t begin = merged.find(R"("cycles":)");
  return begin == std::string::npos ? ""
                                    : merged.substr(begin, merged.find(']', begin) - begin + 1);
}

}  // namespace

TEST_CASE(
    "merge_of_nodes: the merges of two nodes are brought together by the syncs of their lowest "
    "ranks") {
  const auto trace = [](int rank, std::int64_t sync_us) {
    return TraceText()
        .pid(std::to_string(rank))
        .composer_rank(rank, std::to_string(1'795'000'000'000'000 + sync_us))
        .x("step", 1'795'000'000'000'000 + sync_us + 10 + rank, 5)
        .array();
  };
  const NamedTexts ranks{{"rank0.json", trace(0, 100)},
                         {"rank1.json", trace(1, 4'100)},
                         {"rank2.json", trace(2, 700'000)},
                         {"rank3.json", trace(3, 55)}};
  const std::string node0 = merge_texts({ranks[0], ranks[1]});
  const std::string node1 = merge_texts({ranks[2], ranks[3]});
  const std::string whole = merge_texts(ranks);
  CHECK(without_other_data(merge_texts({{"node0.json", node0}, {"node1.json", node1}})) ==
        without_other_data(whole));
  CHECK(without_other_data(merge_texts({{"node0.json", node0}, ranks[2], ranks[3]})) ==
        without_other_data(whole));
}

TEST_CASE("merge_of_nodes: each cycle of the merge of a node goes by its own sync") {
  const NamedTexts files = drifting_ranks();
  check_nodes(files);
  const NamedTexts nodes = nodes_of(files);
  CHECK(without_other_data(merge_texts(nodes)) == without_other_data(merge_texts(files)));
  CHECK(cycles_of(nodes[1].second) ==
        R"("cycles":[{"cycle":"ep0-ba4","sync_us":1795000000600000,)"
        R"("first_ns":1795000000600017000,"last_ns":1795000000602000000},)"
        R"({"cycle":"ep0-ba5","sync_us":1795000050600140,)"
        R"("first_ns":1795000050600157000,"last_ns":1795000050602140000},)"
        R"({"cycle":"ep0-ba6","sync_us":1795000100600280,)"
        R"("first_ns":1795000100600297000,"last_ns":1795000100602280000}])");
}

TEST_CASE("merge_of_nodes: what ranks have stamped at barriers counts in the next merge, too") {
  const NamedTexts files = recorded_ranks();
  for (const oracle::MergedEvent& event : read_merged(merge_texts(files)))
    CHECK(event.ts_ns % 50'000'000'000 == 20'000 - event.rank * 1000);
  check_nodes(files);
  // This also holds if the cycle has no name.
  NamedTexts unnamed;
  for (const auto& [name, text] : files)
    if (name.starts_with("ep0-ba4")) unnamed.emplace_back(name.substr(sizeof("ep0-ba4")), text);
  REQUIRE(unnamed.size() == 4);
  check_nodes(unnamed);
}

TEST_CASE("merge_of_nodes: cycles without a name, added one by one, go by their own syncs") {
  const NamedTexts files = drifting_ranks();
  NamedTexts chain;
  for (const int cycle : {4, 5, 6}) {
    const std::string name = fmt::format("ep0-ba{}-", cycle);
    for (const auto& [path, text] : files)
      if (path.starts_with(name)) chain.emplace_back(path.substr(name.size()), text);
    chain = {{"merged.json", merge_texts(chain)}};
  }
  check_same(chain.front().second, merge_texts(files));
}

TEST_CASE("merge_of_nodes: torch's files go with the cycle whose sync they go by") {
  NamedTexts files = drifting_ranks();
  const NamedTexts torch = torch_files();
  files.insert(files.end(), torch.begin(), torch.end());
  check_nodes(files);
}

TEST_CASE(
    "merge_of_nodes: cycles of nodes are found again by their names where files are missing") {
  NamedTexts files = drifting_ranks();
  // Rank 0 and rank 2, whose clocks their nodes use, lost a cycle each.
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
  const std::string again = merge_texts(nodes_of(files));
  for (const std::int64_t rank : {0, 1, 2, 3}) CHECK(step_of(again, rank) == step_of(whole, rank));
}

TEST_CASE("merge_of_nodes: a node that has one cycle says which") {
  for (const int kept : {4, 5, 6}) {
    NamedTexts files = drifting_ranks();
    std::erase_if(files, [&](const auto& file) {
      const bool is_of_node1 = file.first.find("rank2") != std::string::npos ||
                               file.first.find("rank3") != std::string::npos;
      return is_of_node1 && !file.first.starts_with(fmt::format("ep0-ba{}", kept));
    });
    check_nodes(files);
  }
  // A cycle without a name says nothing: any other file's one cycle is the same.
  CHECK(cycles_of(merge_texts({{"rank0.json", drifting_ranks()[0].second}})) == "");
}

TEST_CASE("merge_of_nodes: what a node says of its cycles stays, whatever stands beside them") {
  // Rank 3 lost its sync, and has events of a time when there was no cycle.
  NamedTexts files = of_ranks(drifting_ranks(), {2});
  std::erase_if(files, [](const auto& file) { return !file.first.starts_with("ep0-ba5"); });
  files.emplace_back("ep0-ba4-rank3.json", TraceText()
                                               .pid("3")
                                               .m("global_rank", R"({"value": 3})")
                                               .x("early", sync_of(2, 1, 0) - 100'000'000, 5)
                                               .array());
  const std::string node = merge_texts(files);
  const std::string said = R"("cycles":[{"cycle":"ep0-ba5","sync_us":1795000050600140,)"
                           R"("first_ns":1795000050600158000,"last_ns":1795000050602140000}])";
  CHECK(cycles_of(node) == said);
  CHECK(cycles_of(merge_texts({{"node.json", node}})) == said);
}

TEST_CASE("merge_of_nodes: ranks of a node that share no cycle find theirs in another node") {
  NamedTexts files = drifting_ranks(3'600'000'000);
  std::erase_if(files, [](const auto& file) {
    return file.first.find("rank2") != std::string::npos
               ? !file.first.starts_with("ep0-ba5")
               : file.first.find("rank3") != std::string::npos &&
                     !file.first.starts_with("ep0-ba6");
  });
  check_same(merge_texts(nodes_of(files)), merge_texts(files));
}

TEST_CASE("merge_of_nodes: drift between the cycles of a node is interpolated, too") {
  check_nodes(drifting_ranks(), {.drift = DriftMode::linear});
}

TEST_CASE("merge_of_nodes: a node's clock that was set between two cycles") {
  for (const std::int64_t set_back_us : {100'000, 15'000'000, -3'000'000}) {
    CAPTURE(set_back_us);
    const NamedTexts files = drifting_ranks(set_back_us);
    check_nodes(files);
    // The clocks of ranks 2 and 3 were set together, and their node interpolates between them.
    check_nodes(of_ranks(files, {0, 1, 2}), {.drift = DriftMode::linear});
  }
  // The third cycle comes first on the clock of the node.
  check_nodes(drifting_ranks(3'600'000'000));
}

TEST_CASE("merge_of_nodes: filters find what is of a cycle that a clock has put first") {
  const NamedTexts files = drifting_ranks(3'600'000'000);
  const NamedTexts nodes = nodes_of(files);
  std::vector<MergeFilter> filters(3);
  filters[0].labels.names.emplace_back("step");
  filters[1].ranks = {{2, 2}};
  filters[2].min_duration_ns = 1'000'000;
  for (const char* time : {"0:10s", "50s:101s", "99s:", ":1ms"})
    filters.emplace_back().time = TimeSelection::parse(time);
  for (const MergeFilter& filter : filters)
    check_same(merge_with(nodes, {}, filter), merge_with(files, {}, filter));
  CHECK(read_merged(merge_with(nodes, {}, filters[1])).size() == 6);
}

TEST_CASE(
    "merge_of_nodes: the first event is at 0 also where a filter has left out what was first") {
  NamedTexts files = drifting_ranks(3'600'000'000);
  // No event of the first cycle has such a name.
  for (auto& [name, text] : files)
    if (name.starts_with("ep0-ba4"))
      for (const char* const span : {"step", "long"}) text.replace(text.find(span), 4, "gone");
  std::vector<MergeFilter> filters(2);
  filters[0].labels.names.emplace_back("step|long");
  filters[1].ranks = {{0, 0}, {2, 2}};  // rank 3 has the first event
  for (const MergeFilter& filter : filters) {
    const std::string merged = merge_texts(nodes_of(files, {}, filter));
    const std::vector<oracle::MergedEvent> events = read_merged(merged);
    const auto first = std::ranges::min_element(events, {}, &oracle::MergedEvent::ts_ns);
    CHECK(first->ts_ns == std::stoll(base_of(merged)));
  }
}

TEST_CASE("merge_of_nodes: options that ask for something else than syncs move a node as one") {
  const NamedTexts files = drifting_ranks();
  const std::string node = nodes_of(files)[1].second;
  const auto moved_by = [&](const ClockOptions& clock) {
    const std::vector<oracle::MergedEvent> events =
        read_merged(merge_with({{"0.json", files[0].second}, {"1.json", node}}, clock));
    const std::vector<oracle::MergedEvent> before = read_merged(node);
    const auto first = std::ranges::find(events, 2, &oracle::MergedEvent::rank);
    const auto first_before = std::ranges::find(before, 2, &oracle::MergedEvent::rank);
    const std::int64_t by_ns = first->ts_ns - first_before->ts_ns;
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
