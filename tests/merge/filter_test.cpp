// These tests check what a filter keeps of small traces, and what it reports.
#include "base/problems.h"
#include "support/filter_files.h"
#include "support/gzip_text.h"
#include "support/print_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

std::string named_rank(int rank, std::string_view sync_us, const Us& ts) {
  return TraceText()
      .composer_rank(rank, sync_us)
      .m("num_cpus", "{\"number\": " + std::to_string(rank) + "}")
      .m("thread_name", R"({"name": "main"})")
      .x("step", ts, 5)
      .object("\"host_name\": \"host" + std::to_string(rank) + "\"");
}

// Returns the metadata that names things, as "pid name value".
Texts names_of(const std::string& merged) {
  Texts names;
  for (const oracle::Json& event : events_of(merged))
    if (text_of(event, "name") == "process_name" || text_of(event, "name") == "thread_name")
      names.push_back(text_of(event, "pid") + " " + text_of(*event.find("args"), "name"));
  return names;
}

}  // namespace

TEST_CASE("filter: a rank that is not wanted is not spoken of, but its clock and start count") {
  FilterFiles files({{"a.json", named_rank(0, "1000", 1000)},
                     {"b.json", named_rank(1, "4000", 4010)},
                     {"c.json", named_rank(2, "7000", 7050)}});
  files.options.filter.ranks = {{1, 1}};
  const Merged merged = files.merge();
  const std::vector<oracle::Json> events = events_of(merged.text);
  CHECK(text_of(events.back(), "ts") == "10");
  CHECK(base_of(merged.text) == "1000000");
  CHECK(names_of(merged.text) == Texts{"1 rank 1", "1 main"});
  for (const oracle::Json& event : events) CHECK(text_of(event, "pid") == "1");
  CHECK(merged.text.find("host0") == std::string::npos);
  CHECK(merged.text.find("host1") != std::string::npos);
  const oracle::Json document = oracle::parse_json(merged.text);
  const oracle::Json& said = *document.find("otherData")->find("traceloom");
  REQUIRE(said.find("ranks")->items.size() == 1);
  const oracle::Json& file = said.find("ranks")->items[0].find("files")->items.at(0);
  CHECK(text_of(file, "offset_ns") == "-3000000");
  CHECK(text_of(file, "events") == "1");
  CHECK(text_of(file, "filtered") == "0");
  CHECK(merged.summary.events == 1);
  CHECK(merged.summary.filtered == 2);
  CHECK(merged.summary.files[0].filtered == 1);
  CHECK(merged.summary.ranks == 1);
  CHECK(merged.summary.filter->ranks == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("filter: whole ranks are merged in one pass, and others are read once") {
  const NamedTexts texts{{"a.json", named_rank(0, "1000", 1000)},
                         {"b.json", named_rank(1, "4000", 4010)}};
  FilterFiles files(texts);
  files.options.filter.ranks = {{0, 0}};
  std::uint64_t bytes = 0;
  files.options.progress = [&](std::uint64_t done, std::uint64_t) { bytes = done; };
  const std::string once = files.merge().text;
  CHECK(bytes == texts[0].second.size() + texts[1].second.size());
  files.options.always_survey = true;
  CHECK(files.merge().text == once);
  CHECK(bytes == 2 * texts[0].second.size() + texts[1].second.size());
}

TEST_CASE("filter: gzip of whole ranks is the same in one pass and in two") {
  FilterFiles files({{"a.json", named_rank(0, "1000", 1000)},
                     {"b.json", named_rank(1, "4000", 4010)},
                     {"c.json", named_rank(2, "4000", 4010)}});
  files.options.output += ".gz";
  files.options.filter.ranks = {{0, 0}, {2, 2}};
  const std::string once = files.merge().text;
  CHECK(gunzip_one_member(once).starts_with("{\"displayTimeUnit\""));
  files.options.always_survey = true;
  CHECK(files.merge().text == once);
}

TEST_CASE("filter: of a merged input ranks can be taken as well, without the other's arrow ends") {
  FilterFiles files({{"a.json", TraceText()
                                    .pid("0")
                                    .tid("5")
                                    .composer_rank(0, "1000")
                                    .x("a", 1, 9)
                                    .with_id("s", "to b", 2, "7")
                                    .with_id("s", "to a", 2, "7")
                                    .with_id("t", "to a", 3, "7")
                                    .pid("1")
                                    .composer_rank(1, "1000")
                                    .x("b", 5, 9)
                                    .with_id("t", "to b", 6, "7")
                                    .array()}});
  CHECK(files.kept() == Texts{"X a", "s to b", "s to a", "t to a", "X b", "t to b"});
  files.options.filter.ranks = {{0, 0}};
  CHECK(files.kept() == Texts{"X a", "s to a", "t to a"});
  CHECK(files.merge().summary.ranks == 1);
}

TEST_CASE("filter: ranks of a merged file that the samples do not show to be one are found") {
  TraceText text;
  text.pid("0").composer_rank(0, "1000");
  for (int i = 0; i < 20'000; ++i) {
    text.x("a", 1000 + i, 1);
    if (i == 1600)
      text.with_id("s", "across", 1000 + i, "7")
          .pid("1")
          .composer_rank(1, "1000")
          .x("b", 1000 + i, 1)
          .with_id("t", "across", 1000 + i, "7")
          .pid("0");
  }
  FilterFiles files({{"a.json", text.array()}});
  REQUIRE(read_file(files.options.inputs[0].path).size() > 1'000'000);
  std::uint64_t bytes = 0;
  files.options.progress = [&](std::uint64_t done, std::uint64_t) { bytes = done; };
  files.options.filter.ranks = {{0, 0}};
  const Merged merged = files.merge();
  CHECK(merged.summary.events == 20'000);
  CHECK(merged.summary.filtered == 3);
  CHECK(merged.text.find("across") == std::string::npos);
  CHECK(bytes > 3 * merged.summary.text_bytes);  // one pass by a wrong guess, then three
}

TEST_CASE("filter: what is not written is not repaired") {
  const auto text = [](int rank) {
    return TraceText()
        .composer_rank(rank, "1000")
        .m("note", "{\"text\": \"a\tb\"}")
        .x("a\tb", 1000, 1)
        .x("c", 1000, 1)
        .array();
  };
  FilterFiles files({{"a.json", text(0)}, {"b.json", text(1)}});
  CHECK(files.merge().summary.files[1].problems.count(Problem::control_character) == 2);
  files.options.filter.ranks = {{0, 0}};
  const MergeSummary summary = files.merge().summary;
  CHECK(summary.files[0].problems.count(Problem::control_character) == 2);
  CHECK(summary.files[1].problems.empty());
  files.options.filter.ranks = {};
  files.options.filter.labels.names.emplace_back("c");
  CHECK(files.merge().summary.files[1].problems.count(Problem::control_character) == 1);
}

TEST_CASE("filter: time counts from the first event of all ranks and is half-open") {
  FilterFiles files(
      {{"a.json", TraceText().composer_rank(0, "1000").x("a", 1000, 50).i("i", 1010).array()},
       {"b.json",
        TraceText().composer_rank(1, "4000").x("b", 4010, 1).c("c", 4020, "{\"v\": 1}").array()}});
  files.options.filter.time = {.from_ns = 10'000, .to_ns = 20'000};
  CHECK(files.kept() == Texts{"i i", "X b"});
  files.options.filter.time = {.from_ns = 20'000, .to_ns = {}};
  CHECK(files.kept() == Texts{"C c"});
  // This also holds if time 0 of the output is elsewhere.
  files.options.plan.origin = OriginKind::keep;
  CHECK(files.kept() == Texts{"C c"});
  files.options.filter.time = {.from_ns = {}, .to_ns = 10'000};
  const Merged merged = files.merge();
  CHECK(text_of(events_of(merged.text).back(), "ts") == "1000");
  CHECK(merged.summary.ranks == 1);
}

TEST_CASE("filter: samples go by their rank and time, those of a merged input as well") {
  const std::string text = R"({"traceEvents":[{"ph":"i","name":"a","ts":0,"pid":1,"tid":7},)"
                           R"({"ph":"i","name":"a","ts":100,"pid":1,"tid":7}],)"
                           R"("samples":[{"ts":1,"tid":7},{"ts":101,"tid":7}]})";
  FilterFiles files({{"rank0.json", text}, {"rank1.json", text}});
  const auto samples = [&] {
    Texts texts;
    const oracle::Json document = oracle::parse_json(files.merge().text);
    for (const oracle::Json& sample : document.find("samples")->items)
      texts.push_back(text_of(sample, "pid") + " " + text_of(sample, "ts"));
    return texts;
  };
  CHECK(samples() == Texts{"0 1", "0 101", "1 1", "1 101"});
  const TemporaryFolder folder;
  const std::string merged = folder.write("merged.json", files.merge().text);
  for (const bool is_merged : {false, true}) {
    if (is_merged) files.options.inputs = {{merged, {}}};
    files.options.filter.ranks = {{1, 1}};
    CHECK(samples() == Texts{"1 1", "1 101"});
    files.options.filter.time = {.from_ns = 50'000, .to_ns = {}};
    CHECK(samples() == Texts{"1 101"});
    files.options.filter = {};
  }
}

TEST_CASE("filter: steps are those of each rank; a rank without any goes by the lowest that has") {
  const auto torch = [](int rank, int first) {
    TraceText text;
    text.composer_rank(rank, "1000").cat("user_annotation").x("before", 1000, 1);
    for (int step = 3; step < 6; ++step)
      text.x("ProfilerStep#" + std::to_string(step), first + step * 100, 90);
    return text.cat("").x("last", 9000, 1).array();
  };
  FilterFiles files(
      {{"a.json", torch(0, 1000)},
       {"b.json", torch(1, 1050)},
       {"c.json",
        TraceText().composer_rank(2, "1000").x("early", 1399, 1).x("late", 1400, 1).array()}});
  files.options.filter.steps = {4, 4};
  CHECK(files.kept() == Texts{"X ProfilerStep#4", "X ProfilerStep#4", "X late"});
  files.options.filter.steps = {{}, 3};
  CHECK(files.kept() ==
        Texts{"X before", "X ProfilerStep#3", "X before", "X ProfilerStep#3", "X early"});
  files.options.filter.steps = {5, {}};
  const Merged merged = files.merge();
  CHECK(merged.summary.events == 4);
  CHECK(merged.summary.filter->steps->first == 3);
  CHECK(merged.summary.filter->steps->last == 5);
  files.options.filter.time = {.from_ns = 1'000'000, .to_ns = {}};
  CHECK(files.kept() == Texts{"X last", "X last"});
}

TEST_CASE("filter: where torch says the steps, the batches of Composer do not") {
  FilterFiles files({{"a.json", TraceText()
                                    .composer_rank(0, "1000")
                                    .b("event/batch", 1000, R"({"epoch": 0, "batch": 7})")
                                    .e("event/batch", 1050, R"({"epoch": 0, "batch": 8})")
                                    .b("event/batch", 1100, R"({"epoch": 0, "batch": 8})")
                                    .e("event/batch", 1150, R"({"epoch": 0, "batch": 9})")
                                    .array()}});
  files.options.filter.steps = {8, 8};
  const Merged merged = files.merge();
  CHECK(text_of(events_of(merged.text).back(), "ts") == "100");
  CHECK(merged.summary.events == 1);
}

TEST_CASE("filter: a merge has the steps of its inputs, also where a batch was never left") {
  const TemporaryFolder folder;
  const std::string trace = TraceText()
                                .composer_rank(0, "1000")
                                .b("event/fit", 1000, R"({"epoch": 0, "batch": 0})")
                                .b("event/train_batch", 1100, R"({"epoch": 0, "batch": 1})")
                                .e("event/train_batch", 1200, R"({"epoch": 0, "batch": 1})")
                                .array();
  FilterFiles inputs({{"a.json", trace}});
  FilterFiles merge({{"merge.json", merge_texts({{"a.json", trace}})}});
  for (const std::int64_t step : {0, 1}) {
    inputs.options.filter.steps = {step, step};
    merge.options.filter.steps = {step, step};
    const Texts kept{step == 0 ? "X event/fit" : "X event/train_batch"};
    CHECK(inputs.kept() == kept);
    CHECK(merge.kept() == kept);
  }
}

TEST_CASE("filter: steps that nobody speaks of are an error that says what to do") {
  FilterFiles files({{"a.json", TraceText().x("a", 1, 1).array()}});
  files.options.filter.steps = {1, 2};
  CHECK_THROWS_WITH_AS(
      files.merge(),
      "--steps: no input says where its steps begin (by ProfilerStep#N of torch or "
      "the batches of Composer); choose by --time",
      UsageError);
}

TEST_CASE("filter: rows without events that are kept have no name, and nobody's tid changes") {
  const std::string text = TraceText()
                               .composer_rank(0, "1000")
                               .m("thread_name", R"({"name": "main"})")
                               .x("a", 1000, 9)
                               .x("a", 1010, 9)
                               .pid("\"GPU\"")
                               .tid("7")
                               .m("thread_name", R"({"name": "stream"})")
                               .cat("kernel")
                               .x("gemm", 1005, 9)
                               .array();
  FilterFiles files({{"a.json", text}, {"b.json", named_rank(1, "1000", 1000)}});
  CHECK(names_of(files.merge().text) ==
        Texts{"0 rank 0", "0 main", "0 GPU · stream 7", "1 rank 1", "1 main"});
  files.options.filter.labels.categories = {"kernel"};
  const Merged merged = files.merge();
  CHECK(names_of(merged.text) == Texts{"0 rank 0", "0 GPU · stream 7"});
  CHECK(merged.text.find("num_cpus") == std::string::npos);
  CHECK(text_of(events_of(merged.text).back(), "tid") == "10000000");
  REQUIRE(merged.summary.ranks == 1);
  CHECK(merged.summary.processes[0].tracks == Texts{"GPU · stream 7"});
  CHECK(merged.summary.filter->categories == Texts{"(none)", "kernel"});
}

TEST_CASE("filter: nothing is written when nothing is left") {
  const TemporaryFolder folder;
  MergeOptions options =
      merge_options(folder, {{"a.json", named_rank(0, "1000", 1000)}}, "out.json");
  folder.write("out.json", "old");
  const auto leaves_nothing = [&] {
    const MergeSummary summary = merge_traces(options);
    CHECK(summary.events == 0);
    CHECK(summary.filtered == 1);
    CHECK(read_file(options.output) == "old");
    CHECK(folder.entry_count() == 2);
    return summary.filter->nothing_left;
  };
  options.filter.ranks = {{3, 3}};
  CHECK(leaves_nothing());
  options.filter.ranks = {};
  options.filter.labels.categories = {"x"};
  CHECK(leaves_nothing());
  options.filter.labels = {};
  options.filter.time = {.from_ns = 1, .to_ns = {}};
  CHECK(leaves_nothing());
  options.dry_run = true;
  CHECK(leaves_nothing());
}

TEST_CASE("filter: of inputs without events nothing can be left, and all is written") {
  FilterFiles files(NamedTexts{{"rank4.json", "[]"}});
  files.options.filter.labels.categories = {"x"};
  const Merged merged = files.merge();
  CHECK_FALSE(merged.summary.filter->nothing_left);
  CHECK(names_of(merged.text) == Texts{"4 rank 4"});
}

TEST_CASE("filter: a dry run says what would be kept") {
  FilterFiles files(
      {{"a.json", TraceText().x("a", 0, 1).x("b", 1, 9).b("c", 2).e("c", 30).array()}});
  files.options.dry_run = true;
  files.options.filter.min_duration_ns = 5'000;
  const MergeSummary summary = merge_traces(files.options);
  CHECK(summary.files[0].events_in == 4);
  CHECK(summary.files[0].events == 2);
  CHECK(summary.files[0].filtered == 1);
}

TEST_CASE("filter: keep_going leaves out what is no trace, and goes by the others") {
  FilterFiles files({{"a.json", "hello"},
                     {"b.json", TraceText()
                                    .x("launch", 0, 5)
                                    .with_id("s", "f", 0, "1")
                                    .x("x", 9, 1)
                                    .with_id("t", "f", 9, "1")
                                    .array()}});
  files.options.keep_going = true;
  files.options.filter.labels.excluded_names.emplace_back("x");
  CHECK(files.kept() == Texts{"X launch"});
  CHECK(files.merge().summary.left_out.size() == 1);
}

TEST_CASE("filter: the trace says what was asked for") {
  FilterFiles files({{"a.json", TraceText().cat("c").x("ProfilerStep#3", 0, 9).array()}});
  MergeFilter& filter = files.options.filter;
  const auto said = [&] {
    const oracle::Json document = oracle::parse_json(files.merge().text);
    const oracle::Json* found = document.find("otherData")->find("traceloom")->find("filter");
    return found == nullptr ? "" : canonical_text(*found);
  };
  CHECK(said() == "");
  filter.ranks = {{0, 0}, {4, 7}};
  CHECK(said() == R"({"ranks":[[0,0],[4,7]]})");
  filter.time = {.from_ns = 0, .to_ns = {}};
  filter.steps = {{}, 5};
  filter.labels.categories = {"c"};
  filter.labels.excluded_categories = {"d"};
  filter.labels.names.emplace_back("^P\\w");
  filter.labels.excluded_names.emplace_back("\"");
  filter.min_duration_ns = 9000;
  CHECK(said() == R"({"categories":["c"],"exclude_categories":["d"],"exclude_names":["\""],)"
                  R"("min_duration_ns":9000,"names":["^P\\w"],"ranks":[[0,0],[4,7]],)"
                  R"("steps":[null,5],"time_ns":[0,null]})");
}
