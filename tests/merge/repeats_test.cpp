// These tests check what a merge leaves out because other inputs hold it, and what it notes so that
// it can.
#include "base/json_walk.h"
#include "merge/merger.h"
#include "support/merge_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

using Strings = std::vector<std::string>;

std::string trace(int rank, std::int64_t sync_us = 1000) {
  return TraceText()
      .composer_rank(rank, std::to_string(sync_us))
      .x("a", sync_us + 10 + rank, 5)
      .b("b", sync_us + 20)
      .e("b", sync_us + 30)
      .c("n", sync_us + 40, R"({"v": 1})")
      .array();
}

// Merges all files as one folder gives them.
MergeSummary merge_folder(const TemporaryFolder& folder, const NamedTexts& files) {
  MergeOptions options = merge_options(folder, files, "out.json");
  for (Input& input : options.inputs) {
    input.is_named = false;
    input.found_by = {0};
  }
  return merge_traces(options);
}

// Returns "name: words" for what is left out, and the ranks and events of the rest.
Strings told(const NamedTexts& files) {
  const TemporaryFolder folder;
  const MergeSummary summary = merge_folder(folder, files);
  Strings told;
  for (const RepeatedInput& file : summary.repeats) {
    std::string words(file.problems.explanation(Problem::repeated));
    for (std::size_t at = 0; (at = words.find(folder.path() + "/")) != std::string::npos;)
      words.erase(at, folder.path().size() + 1);
    told.push_back(file.path.substr(folder.path().size() + 1) + ": " + words);
  }
  told.push_back(std::to_string(summary.ranks) + " ranks, " + std::to_string(summary.events) +
                 " events");
  return told;
}

}  // namespace

TEST_CASE("merge: what a folder holds twice is left out") {
  const NamedTexts inputs{{"rank0.json", trace(0)}, {"rank1.json", trace(1, 5000)}};
  const std::string whole = merge_texts(inputs);
  const std::string rank1 = merge_texts({inputs[1]});
  CHECK(
      told({inputs[0], inputs[1], {"x.json", whole}}) ==
      Strings{"x.json: it is a merge of rank0.json and 1 more of the inputs", "2 ranks, 6 events"});
  CHECK(told({{"a.json", rank1}, inputs[0], inputs[1], {"z.json", inputs[0].second}}) ==
        Strings{"a.json: it is a merge of rank1.json", "z.json: it is a copy of rank0.json",
                "2 ranks, 6 events"});
  CHECK(told({inputs[1], {"x.json", whole}}) ==
        Strings{"rank1.json: all of it is in x.json", "2 ranks, 6 events"});
  CHECK(told({{"x.json", whole}}) == Strings{"2 ranks, 6 events"});
  // Merges of merges are left out, too, if some of their inputs are there.
  const std::string node1 = merge_texts({{"rank2.json", trace(2, 9000)}});
  const std::string all = merge_texts({{"node0.json", whole}, {"node1.json", node1}});
  CHECK(told({{"all.json", all}, inputs[0], inputs[1], {"rank2.json", trace(2, 9000)}}) ==
        Strings{"all.json: it is a merge of rank0.json and 2 more of the inputs",
                "3 ranks, 9 events"});
  CHECK(told({{"all.json", all}, {"node0.json", whole}, {"node1.json", node1}}) ==
        Strings{"all.json: all of it is in node0.json and 1 more of the inputs",
                "3 ranks, 9 events"});
}

TEST_CASE("merge: ours and Composer's are known to hold the same where their inputs are gone") {
  const std::string rank0 = trace(0);
  const std::string rank1 = trace(1, 5000);
  // Composer's merger leaves stamps as they are, and moves times by the syncs.
  const auto in_composers = [](TraceText& text, int rank, std::int64_t sync_us) {
    text.pid(std::to_string(rank))
        .composer_rank(rank, std::to_string(sync_us))
        .x("a", 1010 + rank, 5)
        .b("b", 1020);
    text.e("b", 1030).c("n", 1040, R"({"v": 1})");
  };
  TraceText both;
  in_composers(both, 0, 1000);
  in_composers(both, 1, 5000);
  const std::string composers = both.array();
  const std::string ours = merge_texts({{"rank0.json", rank0}, {"rank1.json", rank1}});
  const Strings once{"node0.json: all of it is in merged.json", "2 ranks, 6 events"};
  CHECK(told({{"merged.json", ours}, {"node0.json", composers}}) == once);
  CHECK(told({{"merged.json", ours}, {"node0.json", composers}, {"rank0.json", rank0}}) ==
        Strings{"node0.json: all of it is in merged.json and 1 more of the inputs",
                "rank0.json: all of it is in merged.json", "2 ranks, 6 events"});
  // One merge is made of Composer's merge and lies next to what that was made of; the other is a
  // merge of it in turn.
  const std::string all = merge_texts({{"node0.json", composers}});
  const std::string again = merge_texts({{"all.json", all}});
  for (const std::string& text : {all, again}) {
    CHECK(told({{"all.json", text}, {"rank0.json", rank0}, {"rank1.json", rank1}}) ==
          Strings{"all.json: it is a merge of rank0.json and 1 more of the inputs",
                  "2 ranks, 6 events"});
    CHECK(told({{"all.json", text}, {"rank1.json", rank1}}) ==
          Strings{"rank1.json: all of it is in all.json", "2 ranks, 6 events"});
  }
  // The disk was full when Composer wrote this file.
  TraceText cut;
  in_composers(cut, 0, 1000);
  cut.pid("1").composer_rank(1, "5000").x("a", 1011, 5);
  CHECK(told({{"a.json", cut.array()}, {"merged.json", ours}}) ==
        Strings{"a.json: all of it is in merged.json", "2 ranks, 6 events"});
  // The next cycle is another one.
  const std::string next = merge_texts({{"rank0.json", trace(0, 2000)}});
  CHECK(told({{"merged.json", next}, {"node0.json", composers}}) == Strings{"2 ranks, 9 events"});
}

TEST_CASE("merge: leaving a repeat out gives the bytes of a merge without it") {
  const NamedTexts inputs{{"rank0.json", trace(0)}, {"rank1.json", trace(1, 5000)}};
  const TemporaryFolder folder;
  merge_folder(folder, inputs);
  const std::string first = read_file(folder.path("out.json"));
  merge_folder(folder, {inputs[0], inputs[1], {"out.json", first}});
  CHECK(read_file(folder.path("out.json")) == first);
}

TEST_CASE("merge: the part that a filter leaves is left out, too, and takes the place of nothing") {
  const TemporaryFolder folder;
  const NamedTexts inputs{{"rank0.json", trace(0)}, {"rank1.json", trace(1, 5000)}};
  MergeOptions options = merge_options(folder, inputs, "part.json");
  options.filter.min_duration_ns = 6000;
  merge_traces(options);
  const std::string part = read_file(options.output);
  CHECK(told({inputs[0], inputs[1], {"part.json", part}}) ==
        Strings{"part.json: it is a merge of rank0.json and 1 more of the inputs",
                "2 ranks, 6 events"});
  CHECK_THROWS_WITH(told({inputs[0], {"part.json", part}}),
                    doctest::Contains("neither holds all of the other"));
  const std::string of_part = merge_texts({{"part.json", part}});
  CHECK(told({inputs[0], inputs[1], {"part.json", of_part}}).size() == 2);
  CHECK_THROWS(told({inputs[0], {"part.json", of_part}}));
}

TEST_CASE("merge: an output that is found among the inputs is replaced if others hold all of it") {
  const TemporaryFolder folder;
  const NamedTexts inputs{{"rank0.json", trace(0)}, {"rank1.json", trace(1, 5000)}};
  const auto merge_to = [&](const std::string& output) {
    MergeOptions options = merge_options(folder, inputs, output);
    for (Input& input : options.inputs) {
      input.is_named = false;
      input.found_by = {0};
    }
    return merge_traces(options).events;
  };
  CHECK_THROWS_WITH(merge_to("rank0.json"), doctest::Contains("is also an input"));
  CHECK(read_file(folder.path("rank0.json")) == inputs[0].second);
  CHECK(folder.entry_count() == 2);
}
