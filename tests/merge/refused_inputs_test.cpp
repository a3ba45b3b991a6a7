// These tests check what a merge refuses to read or write, and what --keep-going leaves out
// instead.
#include "base/problems.h"
#include "merge/facts/file_survey.h"
#include "merge/merger.h"
#include "oracle/json_value.h"
#include "support/merge_texts.h"
#include "support/trace_text.h"
#include "support/tries.h"

#include <doctest/doctest.h>

#include <filesystem>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("merger: refuses an output that is an input, under any name, and touches nothing") {
  const TemporaryFolder folder;
  const NamedTexts files{{"rank0.json", rank_text(0, "1000", 1007)}};
  MergeOptions options = merge_options(folder, files, "link.json");
  std::filesystem::create_symlink(folder.path("rank0.json"), options.output);
  CHECK_THROWS_WITH_AS(
      merge_traces(options),
      ("the output " + options.output + " is also an input; name another output").c_str(),
      UsageError);
  CHECK(read_file(folder.path("rank0.json")) == files[0].second);
  CHECK(folder.entry_count() == 2);
}

TEST_CASE("merger: an input that is no trace stops it and leaves the old output") {
  const TemporaryFolder folder;
  MergeOptions options = merge_options(
      folder, {{"rank0.json", rank_text(0, "1000", 1007)}, {"rank1.json", "hello"}}, "out.json");
  folder.write("out.json", "old");
  CHECK_THROWS_AS(merge_traces(options), Error);
  CHECK(read_file(options.output) == "old");
  CHECK(folder.entry_count() == 3);
}

TEST_CASE("merger: keep_going leaves out what is no trace and says so in the output") {
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder,
                                       {{"rank0.json", rank_text(0, "1000", 1007)},
                                        {"rank1.json", "hello"},
                                        {"rank2.json", rank_text(2, "2000", 2007)}},
                                       "out.json");
  options.keep_going = true;
  const MergeSummary summary = merge_traces(options);
  const std::string error =
      folder.path("rank1.json") +
      ": byte 0: not a trace: the text is not JSON; a trace starts with [ or {";
  REQUIRE(summary.left_out.size() == 1);
  CHECK(summary.left_out[0].path == folder.path("rank1.json"));
  CHECK(summary.left_out[0].error == error);
  CHECK(summary.files.size() == 2);
  const std::string merged = read_file(options.output);
  CHECK(starts_in(merged) == Texts{"0 0", "2 0"});
  const oracle::Json document = oracle::parse_json(merged);
  const oracle::Json* left_out = document.find("otherData")->find("traceloom")->find("left_out");
  REQUIRE(left_out != nullptr);
  CHECK(text_of(left_out->items.at(0), "error") == error);
}

// This and the next one run at night: tests below, and those of teams, try smaller limits.
TEST_CASE("merger: a file with more open begin events than can be shown is refused, or left out" *
          doctest::test_suite("long") * doctest::skip(!is_night())) {
  const TemporaryFolder folder;
  const auto begins = [](std::size_t count) {
    std::string text = "[";
    for (std::size_t i = 0; i < count; ++i) text += R"({"ph":"B","name":"a","ts":1},)";
    for (std::size_t i = 0; i < 10'000; ++i) text += R"({"ph":"E","ts":2},)";
    return text;
  };
  MergeOptions options = merge_options(folder,
                                       {{"rank0.json", rank_text(0, "1000", 1007)},
                                        {"rank1.json", begins(kMostOpenBegins + 100'000)}},
                                       "out.json");
  folder.write("out.json", "old");
  const std::string error = folder.path("rank1.json") +
                            ": has more than 150,000 begin events open at a time, and no viewer "
                            "shows them so deep; are its end events lost? --max-open takes more, "
                            "at some 1.3 KB each";
  for (const bool always_survey : {false, true}) {
    options.always_survey = always_survey;
    CHECK_THROWS_WITH_AS(merge_traces(options), (error + "; --keep-going leaves it out").c_str(),
                         Error);
    CHECK(read_file(options.output) == "old");
  }
  options.always_survey = false;
  options.keep_going = true;
  const auto check_left_out = [&] {
    const MergeSummary summary = merge_traces(options);
    REQUIRE(summary.left_out.size() == 1);
    CHECK(summary.left_out[0].error == error);
    CHECK(starts_in(read_file(options.output)) == Texts{"0 0"});
  };
  check_left_out();
  SUBCASE("unless more are asked for") {
    options.max_open_begins = kMostOpenBegins + 100'000;
    options.inputs.erase(options.inputs.begin());  // it has a clock, and the other one has none
    CHECK(merge_traces(options).left_out.empty());
  }
  SUBCASE("by a filter that reads steps as well") {
    options.filter.steps = StepSelection::parse("1:");
    folder.write("rank0.json",
                 R"([{"ph":"X","name":"ProfilerStep#1","ts":1000,"dur":5,"pid":0,"tid":1}])");
    check_left_out();
  }
}

TEST_CASE("merger: a file with more threads than can be shown is refused, or left out" *
          doctest::test_suite("long") * doctest::skip(!is_night())) {
  const TemporaryFolder folder;
  const auto threads = [](std::size_t count) {
    std::string text = "[";
    for (std::size_t tid = 1; tid <= count; ++tid)
      text += R"({"ph":"i","name":"a","ts":1,"pid":1,"tid":)" + std::to_string(tid) + "},\n";
    return text;
  };
  MergeOptions options = merge_options(
      folder,
      {{"rank0.json", rank_text(0, "1000", 1007)}, {"rank1.json", threads(kMostTracks + 1)}},
      "out.json");
  folder.write("out.json", "old");
  const std::string error = folder.path("rank1.json") +
                            ": has more than 100,000 threads, together with the 1 of the inputs "
                            "before it, and no viewer shows so many; are its tids the numbers of "
                            "requests? --max-tracks takes more, at some 1.8 KB each";
  CHECK_THROWS_WITH_AS(merge_traces(options), (error + "; --keep-going leaves it out").c_str(),
                       Error);
  CHECK(read_file(options.output) == "old");
  options.keep_going = true;
  const MergeSummary summary = merge_traces(options);
  REQUIRE(summary.left_out.size() == 1);
  CHECK(summary.left_out[0].error == error);
  CHECK(starts_in(read_file(options.output)) == Texts{"0 0"});
  options.max_tracks = kMostTracks + 1;
  options.inputs.erase(options.inputs.begin());  // it has a clock, and the other one has none
  CHECK(merge_traces(options).left_out.empty());
}

TEST_CASE("merger: the threads of all inputs count together, but for those of one left out") {
  const TemporaryFolder folder;
  const auto threads = [](std::size_t rank, std::size_t count) {
    std::string text = "[";
    for (std::size_t tid = 1; tid <= count; ++tid)
      text += R"({"ph":"X","name":"a","ts":1,"dur":1,"pid":)" + std::to_string(rank) +
              R"(,"tid":)" + std::to_string(tid) + "},\n";
    return text;
  };
  MergeOptions options = merge_options(folder,
                                       {{"rank0.json", threads(0, 40)},
                                        {"rank1.json", threads(1, 61)},
                                        {"rank2.json", threads(2, 60)},
                                        {"rank3.json", threads(3, 1)}},
                                       "out.json");
  options.max_tracks = 100;
  const auto error_of = [&](const char* name, const char* before) {
    return folder.path(name) + ": has more than 100 threads, together with the " + before +
           " of the inputs before it, and no viewer shows so many; are its tids the numbers of "
           "requests? --max-tracks takes more, at some 1.8 KB each";
  };
  for (const bool always_survey : {false, true}) {
    options.always_survey = always_survey;
    CHECK_THROWS_WITH_AS(merge_traces(options),
                         (error_of("rank1.json", "40") + "; --keep-going leaves it out").c_str(),
                         Error);
  }
  options.keep_going = true;
  const MergeSummary summary = merge_traces(options);
  REQUIRE(summary.left_out.size() == 2);
  CHECK(summary.left_out[0].error == error_of("rank1.json", "40"));
  CHECK(summary.left_out[1].error == error_of("rank3.json", "100"));
  CHECK(summary.events == 100);
  options.max_tracks = 162;
  CHECK(merge_traces(options).left_out.empty());
}

TEST_CASE("merger: begins that a survey takes for ended are refused where they are written" *
          doctest::test_suite("long")) {
  const TemporaryFolder folder;
  std::string text = "[";
  for (int i = 0; i < 60'000; ++i)
    text += R"({"ph":"B","name":"a","ts":1,"tid":1},{"ph":"E","ts":1,"tid":2},)";
  MergeOptions options = merge_options(folder, {{"rank0.json", text}}, "out.json");
  options.max_open_begins = 20'000;
  CHECK_THROWS_WITH_AS(merge_traces(options),
                       (folder.path("rank0.json") +
                        ": has more than 20,000 begin events open at a time, and no viewer shows "
                        "them so deep; are its end events lost? --max-open takes more, at some 1.3 "
                        "KB each")
                           .c_str(),
                       Error);
}

TEST_CASE("merger: with nothing left to merge keep_going fails, too") {
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, {{"rank0.json", "hello"}}, "out.json");
  options.keep_going = true;
  CHECK_THROWS_WITH_AS(merge_traces(options),
                       ("no input could be read; " + folder.path("rank0.json") +
                        ": byte 0: not a trace: the text is not JSON; a trace starts with [ or {")
                           .c_str(),
                       UsageError);
  CHECK(folder.entry_count() == 1);
}
