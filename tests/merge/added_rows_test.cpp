// Rows that no input has: on the common clock, or on that of their rank.
#include "support/merge_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

// Rank 1's clock is 1 s ahead; the event of rank 0 is first.
std::string rank_file(int rank, const char* sync_us, int at_us) {
  return TraceText().composer_rank(rank, sync_us).tid("5").x("work", at_us, 100).array();
}

std::string merge_with(const std::vector<AddedRow>& rows, bool sorts = false,
                       std::vector<NumberRange> ranks = {}) {
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder,
                                       {{"rank0.json", rank_file(0, "1000", 1000)},
                                        {"rank1.json", rank_file(1, "1001000", 1001050)}},
                                       "merged.json");
  options.added = rows;
  options.plan.sort_by_time = sorts;
  options.filter.ranks = std::move(ranks);
  const MergeSummary summary = merge_traces(options);
  const std::string text = read_file(options.output);
  std::size_t found = 0;
  for (std::size_t at = text.find("\"extra\""); at != std::string::npos;
       at = text.find("\"extra\"", at + 1))
    ++found;
  CHECK(summary.added == found);
  return text;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("added rows: slices on the common clock have a row of their own in their rank") {
  const std::string text = merge_with(
      {{1, "path \"x\"", "extra", {{1'010'500, 2'500, "rank 0: gemm", "{\"rank\":0}"}}}});
  CHECK(
      has(text,
          R"({"name":"thread_name","ph":"M","pid":1,"tid":9999000,"args":{"name":"path \"x\""}})"));
  CHECK(has(text,
            R"({"name":"rank 0: gemm","cat":"extra","ph":"X","pid":1,"tid":9999000,"ts":10.5,)"
            R"("dur":2.5,"args":{"rank":0}})"));
}

TEST_CASE("added rows: counters on a rank's own clock are moved as its events are") {
  // Rank 1 begins at 50 us.
  const std::string text =
      merge_with({{1, "", "extra", {{1'001'070'000, {}, "GPU 0", "{\"bytes\":5}"}}, true}});
  CHECK(has(text, R"({"name":"GPU 0","cat":"extra","ph":"C","pid":1,"tid":9999000,"ts":70,)"
                  R"("args":{"bytes":5}})"));
  CHECK(!has(text, "9999000,\"args\":{\"name\""));
}

TEST_CASE("added rows: none of ranks that are left out, and none before time 0") {
  const AddedRow row{1, "path", "extra", {{1'010'000, 1, "a"}, {10, 1, "b"}}};
  CHECK(has(merge_with({row}), R"("ts":10,"dur":0.001,"args":{}})"));
  CHECK(!has(merge_with({row}, false, {{0, 0}}), "extra"));
}

TEST_CASE("added rows: --sort puts them between the others") {
  const std::string text = merge_with({{0, "path", "extra", {{1'040'000, 5, "between"}}}}, true);
  const std::size_t at = text.find("between");
  CHECK(at > text.find(R"("ts": 0,)"));
  CHECK(at < text.find(R"("ts": 50,)"));
}

namespace {

// Merges a file of ranks 0 and 1 once more, with a counter for each of them and rank 2.
MergeSummary merge_again(const std::string& merged, std::int64_t at_ns, MergeFilter filter = {}) {
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, {{"merged.json", merged}}, "again.json");
  for (const std::int64_t rank : {0, 1, 2})
    options.added.push_back(
        {rank, "", "extra", {{at_ns, {}, "GPU 0 allocated", "{\"bytes\":5}"}}, true});
  options.filter = std::move(filter);
  return merge_traces(options);
}

}  // namespace

TEST_CASE("added rows: counters find their rank in a merge, once, and their time in a filter") {
  const std::string merged = merge_with({});
  const MergeSummary summary = merge_again(merged, 1'020'000);
  CHECK(summary.added == 2);
  CHECK(summary.unplaced == std::set<std::int64_t>{2});
  const std::string counted = merge_with(
      {{1, "", "extra", {{1'001'070'000, {}, "GPU 0 allocated", "{\"bytes\":5}"}}, true}});
  CHECK(merge_again(counted, 1'020'000).added == 1);
  MergeFilter filter;
  filter.time = TimeSelection{0, 15'000};
  CHECK(merge_again(merged, 1'020'000, filter).added == 0);
  CHECK(merge_again(merged, 1'010'000, filter).added == 2);
}

TEST_CASE("added rows: what is far from all events is not on their clock") {
  const MergeSummary summary = merge_again(merge_with({}), 3'600'000'000'000);
  CHECK(summary.added == 0);
  CHECK(summary.unplaced == std::set<std::int64_t>{0, 1, 2});
}
