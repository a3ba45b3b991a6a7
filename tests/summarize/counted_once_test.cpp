// A summary leaves out spans of files whose events others hold as well, and spans at impossible
// times.
#include "summarize/summarize.h"
#include "support/temporary_folder.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

using Strings = std::vector<std::string>;

// A folder, summarized.
class Folder {
 public:
  Folder& add(const std::string& name, const std::string& text) {
    request.inputs.push_back({folder_.write(name, text), std::nullopt});
    request.inputs.back().is_named = false;
    request.inputs.back().found_by = {0};
    return *this;
  }
  // "rank name count total", and "problem count at byte" of each file that has one.
  Strings told() const {
    Strings told;
    const Summary summary = summarize(request);
    for (const SummaryRow& row : summary.rows)
      told.push_back(fmt::format("{} {} {} {}", row.rank.value_or(-1), row.name.value_or("-"),
                                 row.stats.count, row.stats.total_ns));
    for (const FileFacts& file : summary.files)
      for (const Problem problem : file.problems.kinds())
        told.push_back(fmt::format("{}{} {} at {}", file.is_repeat ? "repeat: " : "",
                                   describe(problem).name, file.problems.count(problem),
                                   file.problems.first_offset(problem)));
    return told;
  }

  SummaryRequest request;

 private:
  TemporaryFolder folder_;
};

std::string trace(int rank) {
  return TraceText()
      .composer_rank(rank, "1000")
      .x("x", 1000 + rank, 5)
      .b("b", 2000)
      .e("b", 2007)
      .array();
}

}  // namespace

TEST_CASE("summarize: a copy counts once, however many files there are") {
  for (const int ranks : {3, 70}) {
    CAPTURE(ranks);
    Folder folder;
    for (int rank = 0; rank < ranks; ++rank)
      folder.add(fmt::format("rank{}.json", rank), trace(rank));
    folder.add("again.json", trace(1));
    const std::int64_t total = ranks;
    CHECK(folder.told() == Strings{fmt::format("-1 b {} {}", total, total * 7000),
                                   fmt::format("-1 x {} {}", total, total * 5000),
                                   "repeat: repeated 1 at 0"});
    folder.request.time = TimeSelection{.from_ns = 500'000, .to_ns = std::nullopt};
    CHECK(folder.told()[0] == fmt::format("-1 b {} {}", total, total * 7000));
    folder.request.by.rank = true;
    folder.request.ranks = {{1, 1}};
    CHECK(folder.told()[0] == "1 b 1 7000");
  }
}

TEST_CASE("summarize: events of times that are on no time line with the others are lost") {
  constexpr std::string_view kWild = "-8000000000000000";
  TraceText text;
  text.composer_rank(0, "1795202294140000").x("wild", kWild.data(), 5);
  text.b("open", kWild.data()).b("wild end", "1795202294140900").e("open", "1795202294140970");
  for (int i = 100; i < 110; ++i) text.x("good", fmt::format("1795202294140{}", i).c_str(), 5);
  text.e("wild end", "8000000000000000.001").e("none", "-9223372036854775.808");
  for (const std::size_t files : {std::size_t{1}, std::size_t{70}}) {
    Folder folder;
    folder.add("rank0.json", text.array());
    for (std::size_t i = 1; i < files; ++i) folder.add(fmt::format("empty{}.json", i), "[]");
    const Strings told = folder.told();
    REQUIRE(told.size() >= 3);
    CHECK(told[0].starts_with("-1 wild end 1 "));
    CHECK(told[1] == "-1 good 10 50000");
    CHECK(std::ranges::find_if(told, [](const std::string& line) {
            return line.starts_with("outlying_timestamp 2 at 1");
          }) != told.end());
    CHECK(told[2].find("wild") == std::string::npos);
  }
}

TEST_CASE("summarize: where most events are of a far time, the near ones are lost") {
  for (const std::size_t files : {std::size_t{1}, std::size_t{70}}) {
    Folder folder;
    TraceText text;
    text.x("near", "1795202294140900", 5);
    for (int i = 0; i < 10; ++i) text.x("far", fmt::format("-800000000000000{}", i).c_str(), 5);
    folder.add("rank0.json", text.array());
    for (std::size_t i = 1; i < files; ++i)
      folder.add(fmt::format("rank{}.json", i), trace(static_cast<int>(i)));
    Strings told = folder.told();
    CHECK(std::ranges::count(told, "-1 far 10 50000") == 1);
    CHECK(std::ranges::none_of(
        told, [](const std::string& line) { return line.find("near") != std::string::npos; }));
    CHECK(std::ranges::count(told, "outlying_timestamp 1 at 2") == 1);
  }
}
