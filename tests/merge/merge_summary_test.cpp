#include "merge/options/merge_options.h"
#include "oracle/json_value.h"
#include "support/filter_files.h"
#include "support/print_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

std::string text_of_count(const std::optional<std::uint64_t>& count) {
  return count ? std::to_string(*count) : "?";
}

// Returns "0: 7 in, 3 out, 2 filtered" for each rank of a file that has several.
Texts ranks_of(const MergedFile& file) {
  Texts ranks;
  ranks.reserve(file.events_of_rank.size());
  for (const auto& [rank, events] : file.events_of_rank)
    ranks.push_back(fmt::format("{}: {} in, {} out, {} filtered", rank, events.events_in,
                                text_of_count(events.events), text_of_count(events.filtered)));
  return ranks;
}

// Returns "0: 3 out, 2 filtered" for the ranks of a trace, as the trace itself says.
Texts ranks_told_in(const std::string& text) {
  const oracle::Json document = oracle::parse_json(text);
  Texts ranks;
  for (const oracle::Json& rank :
       document.find("otherData")->find("traceloom")->find("ranks")->items) {
    const oracle::Json& file = rank.find("files")->items.at(0);
    const oracle::Json* const filtered = file.find("filtered");
    ranks.push_back(fmt::format("{}: {} out, {} filtered", rank.find("rank")->text,
                                oracle::canonical_text(*file.find("events")),
                                filtered == nullptr ? "none" : oracle::canonical_text(*filtered)));
  }
  return ranks;
}

// Rank 0 has a pair, a begin, a stray end and a counter of its process, rank 1 slices and an arrow.
std::string two_ranks() {
  return TraceText()
      .pid("0")
      .tid("5")
      .composer_rank(0, "1000")
      .b("a", 1)
      .e("a", 9)
      .e("stray", 10)
      .b("open", 20)
      .raw(R"({"ph": "C", "name": "mem", "ts": 12, "pid": 0, "args": {"v": 1}})")
      .pid("1")
      .composer_rank(1, "1000")
      .x("b", 5, 9)
      .with_id("s", "arrow", 6, "7")
      .x("c", 30, 20)
      .with_id("f", "arrow", 31, "7")
      .array();
}

}  // namespace

TEST_CASE("merge_summary: a dry run counts what the merge writes") {
  FilterFiles files({{"a.json", TraceText()
                                    .pid("0")
                                    .composer_rank(0, "1000")
                                    .b("a", 1)
                                    .e("a", 9)
                                    .e("stray", 10)
                                    .b("instant", 11)
                                    .e("instant", 11)
                                    .b("open", 20)
                                    .c("bad", 21, R"({"v": null})")
                                    .array()},
                     {"b.json", TraceText().pid("1").composer_rank(1, "1000").x("b", 5, 9).array()},
                     {"c.json", two_ranks()}});
  files.options.inputs.back().forced_rank = 2;
  const MergeSummary merged = files.merge().summary;
  files.options.dry_run = true;
  const MergeSummary planned = merge_traces(files.options);
  CHECK(merged.files[0].events == 3);
  CHECK(planned.events == merged.events);
  for (std::size_t i = 0; i < 3; ++i) CHECK(planned.files[i].events == merged.files[i].events);
}

TEST_CASE("merge_summary: the events of a merged input are counted for their ranks") {
  FilterFiles files({{"two.json", two_ranks()}});
  for (const bool dry_run : {false, true}) {
    files.options.dry_run = dry_run;
    files.options.filter = {};
    CHECK(ranks_of(merge_traces(files.options).files[0]) ==
          Texts{"0: 5 in, 3 out, 0 filtered", "1: 4 in, 4 out, 0 filtered"});
    files.options.filter.min_duration_ns = 9'001;  // the arrow has lost its start
    CHECK(ranks_of(merge_traces(files.options).files[0]) ==
          Texts{"0: 5 in, 1 out, 2 filtered", "1: 4 in, 1 out, 3 filtered"});
    files.options.filter = {};
    files.options.filter.ranks = {{1, 1}};
    CHECK(ranks_of(merge_traces(files.options).files[0]) ==
          Texts{"0: 5 in, 0 out, 3 filtered", "1: 4 in, 4 out, 0 filtered"});
  }
}

TEST_CASE("merge_summary: a trace made of a merged one says how many events each rank has") {
  FilterFiles files({{"two.json", two_ranks()}});
  CHECK(ranks_told_in(files.merge().text) ==
        Texts{"0: 3 out, none filtered", "1: 4 out, none filtered"});
  files.options.filter.min_duration_ns = 9'001;
  CHECK(ranks_told_in(files.merge().text) == Texts{"0: 1 out, 2 filtered", "1: 1 out, 3 filtered"});
}
