#include "summarize/summarize.h"

#include "base/problems.h"
#include "oracle/oracle.h"
#include "support/gzip_text.h"
#include "support/random_trace.h"
#include "support/temporary_folder.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

using namespace traceloom;

namespace {

using Strings = std::vector<std::string>;

class Files {
 public:
  Files& add(std::string_view text, std::string_view name = {}) {
    const std::string own =
        name.empty() ? fmt::format("rank{}.json", request.inputs.size()) : std::string(name);
    request.inputs.push_back({folder_.write(own, text), std::nullopt});
    return *this;
  }
  Summary summarize() const { return traceloom::summarize(request); }

  SummaryRequest request;

 private:
  TemporaryFolder folder_;
};

// "rank name [categories] count total", in the order of the rows.
Strings rows_of(const Summary& summary) {
  Strings rows;
  for (const SummaryRow& row : summary.rows)
    rows.push_back(fmt::format("{} {} [{}] {} {}", row.rank ? std::to_string(*row.rank) : "-",
                               row.name.value_or("-"), fmt::join(row.categories, "; "),
                               row.stats.count, row.stats.total_ns));
  return rows;
}

// True for the category that device events have in the random traces.
bool is_on_device(const SummaryRow& row) {
  return row.categories == Strings{"kernel"};
}

// Rows as the oracle has them: by name, those of the host first.
void check_rows(std::vector<SummaryRow> rows, const std::vector<oracle::SummaryRow>& expected) {
  std::sort(rows.begin(), rows.end(), [](const SummaryRow& a, const SummaryRow& b) {
    return std::pair(a.name, is_on_device(a)) < std::pair(b.name, is_on_device(b));
  });
  REQUIRE(rows.size() == expected.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const oracle::SummaryRow& wanted = expected[i];
    const DurationStats& stats = rows[i].stats;
    CAPTURE(wanted.name);
    CHECK(rows[i].name.value() == wanted.name);
    CHECK(is_on_device(rows[i]) == wanted.on_device);
    const DurationStats exact{static_cast<std::int64_t>(wanted.count),
                              wanted.total_ns,
                              wanted.mean_ns,
                              wanted.min_ns,
                              wanted.p50_ns,
                              wanted.p90_ns,
                              wanted.p99_ns,
                              wanted.max_ns,
                              stats.stddev_ns};
    CHECK(stats == exact);
    CHECK(std::abs(static_cast<double>(stats.stddev_ns) - wanted.stddev_ns) <
          0.501 + wanted.stddev_ns * 1e-15);
  }
}

TraceText merged_trace() {
  TraceText trace;
  trace.m("process_name", R"({"name": "x"})");
  for (const char* rank : {"0", "1"}) {
    trace.pid(rank).composer_rank(rank[0] - '0', "1000");
    trace.cat("c").x("step", rank[0] == '0' ? 10 : 20, rank[0] == '0' ? 5 : 7);
  }
  return trace;
}

}  // namespace

TEST_CASE("summarize: a slice that a save has cut counts once, where all of it is") {
  const std::string first = R"([{"ph":"B","name":"epoch","ts":10,"pid":0,"tid":7},
{"ph":"X","name":"work","ts":20,"dur":5,"pid":0,"tid":7},
{"ph":"E","name":"epoch","ts":50,"pid":0,"tid":7,"cut_id":"77"}])";
  const std::string last =
      R"([{"ph":"X","name":"epoch","ts":10,"dur":90,"pid":0,"tid":7,"cut_id":"77"}])";
  // This is the result of merging the first file alone.
  const std::string merged =
      R"([{"ph":"X","name":"work","ts":20,"dur":5,"pid":0,"tid":7},
{"ph":"X","name":"epoch","ts":10,"dur":40,"pid":0,"tid":7,"unclosed":"cut","cut_id":"77"}])";
  for (const std::string& begin : {first, merged}) {
    const Summary part = Files().add(begin, "ep0-ba1-rank0.json").summarize();
    CHECK(rows_of(part) == Strings{"- work [] 1 5000"});
    CHECK(part.files[0].problems.empty());
    const Summary whole =
        Files().add(begin, "ep0-ba1-rank0.json").add(last, "ep0-ba2-rank0.json").summarize();
    CHECK(rows_of(whole) == Strings{"- epoch [] 1 90000", "- work [] 1 5000"});
    for (const auto& file : whole.files) CHECK(file.problems.empty());
  }
}

TEST_CASE("summarize: one row a name, over X events and pairs of all files") {
  Files files;
  files.add(TraceText().cat("c").x("a", 1, 5).x("b", 2, "0.5").x("a", 9, 7).array());
  files.add(TraceText().cat("c").b("a", 1).e("a", "4.25").e("lost", 9).b("open", 9).compact());
  const Summary summary = files.summarize();
  CHECK(rows_of(summary) == Strings{"- a [c] 3 15250", "- b [c] 1 500"});
  CHECK(summary.rows[0].stats.p50_ns == 5000);
  CHECK(summary.rows[0].share == doctest::Approx(15250.0 / 15750.0));
  CHECK(summary.rows[1].share == doctest::Approx(500.0 / 15750.0));
  REQUIRE(summary.files.size() == 2);
  CHECK(summary.files[0].events == 3);
  CHECK(summary.files[0].rank == 0);
  CHECK(summary.files[1].rank == 1);
  CHECK(summary.files[1].events == 4);
  CHECK(summary.files[0].problems.empty());
  CHECK(summary.files[1].problems.count(Problem::end_without_begin) == 1);
  CHECK(summary.files[1].problems.count(Problem::begin_without_end) == 1);
}

TEST_CASE("summarize: what is no usable span does not count, and is told") {
  Files files;
  files.add(TraceText()
                .x("a", "null", 5)
                .x("a", 1, "null")
                .x("a", 2, -3)
                .raw(R"({"name":"a","ts":1,"dur":1})")
                .i("a", 5)
                .c("a", 6, R"({"v":1})")
                .x("a", 7, 1)
                .array());
  const Summary summary = files.summarize();
  CHECK(rows_of(summary) == Strings{"- a [] 3 1000"});
  const ProblemCounts& problems = summary.files[0].problems;
  CHECK(problems.count(Problem::bad_timestamp) == 1);
  CHECK(problems.count(Problem::missing_duration) == 1);
  CHECK(problems.count(Problem::negative_duration) == 1);
  CHECK(problems.count(Problem::no_phase) == 1);
}

TEST_CASE("summarize: an event that never ended is no span of no time, merged or not") {
  Files files;
  files.add(TraceText()
                .cat("python_function")
                .x("a", 5, "7464372036854775.808")
                .x("a", 6, "1e300")
                .x("b", 7, "9223372036854775807")
                .x("a", 8, 3)
                .array());
  files.add(R"([{"ph":"X","name":"a","ts":5,"dur":6,"pid":0,"tid":1,"unclosed":"never ended"}])");
  const Summary summary = files.summarize();
  CHECK(rows_of(summary) == Strings{"- a [python_function] 1 3000"});
  CHECK(summary.files[0].problems.kinds() == std::vector{Problem::never_ended});
  CHECK(summary.files[0].problems.count(Problem::never_ended) == 3);
  CHECK(summary.files[1].problems.count(Problem::never_ended) == 1);
  CHECK(describe(Problem::never_ended).sentence ==
        "dur that ends beyond the range of time: the event never ended; drawn to the end of its "
        "file, and not counted as a span");
}

TEST_CASE("summarize: a range of the host and its copy on a device are two rows") {
  Files files;
  const auto trace = [](const char* copies) {
    return TraceText()
        .cat("user_annotation")
        .x("nccl:all_reduce", 1, 2)
        .cat("cpu_op")
        .x("nccl:all_reduce", 1, 1)
        .cat(copies)
        .x("nccl:all_reduce", 2, 900)
        .cat("kernel")
        .x("only here", 2, 7)
        .array();
  };
  files.add(trace("gpu_user_annotation"));
  files.add(trace("Kernel"));
  CHECK(rows_of(files.summarize()) ==
        Strings{"- nccl:all_reduce [Kernel; gpu_user_annotation] 2 1800000",
                "- only here [kernel] 2 14000",
                "- nccl:all_reduce [cpu_op; user_annotation] 4 6000"});
  files.request.order = SummaryOrder::name;
  CHECK(rows_of(files.summarize()) ==
        Strings{"- nccl:all_reduce [Kernel; gpu_user_annotation] 2 1800000",
                "- nccl:all_reduce [cpu_op; user_annotation] 4 6000",
                "- only here [kernel] 2 14000"});
  files.request.by = {.name = true, .rank = true};
  files.request.ranks = {{1, 1}};
  CHECK(rows_of(files.summarize()) == Strings{"1 nccl:all_reduce [Kernel] 1 900000",
                                              "1 nccl:all_reduce [cpu_op; user_annotation] 2 3000",
                                              "1 only here [kernel] 1 7000"});
  files.request.by = {.rank = true};
  CHECK(files.summarize().rows.size() == 1);
  files.request.by = {.name = true};
  files.request.filter = {{}, {}, {"gpu_user_annotation"}, {}};
  CHECK(rows_of(files.summarize()).empty());
}

namespace {

// A file as JAX or Ascend write it: no event has a category, and the device is a process.
TraceText without_categories(std::string_view host, std::string_view device, std::string_view row) {
  const auto name = [](std::string_view text) { return fmt::format(R"({{"name": "{}"}})", text); };
  TraceText trace;
  trace.x("all-reduce", 1, 2).x("host only", 5, 1);
  trace.pid("2").tid("13").x("all-reduce", 2, 300).b("all-reduce", 400).e("all-reduce", 500);
  trace.m("process_name", name(device)).m("thread_name", name(row));
  trace.pid("1").tid("1").m("process_name", name(host)).m("thread_name", name("main"));
  return trace;
}

}  // namespace

TEST_CASE("summarize: rows of a device tell its spans from the host's where categories do not") {
  const Strings expected{"- all-reduce [(device row)] 2 400000", "- all-reduce [] 1 2000",
                         "- host only [] 1 1000"};
  const std::string jax =
      without_categories("/host:CPU", "/device:GPU:0", "Stream #13(Compute)").array();
  Files one;
  one.add(jax);
  CHECK(rows_of(one.summarize()) == expected);
  Files ascend;
  ascend.add(without_categories("Python", "Ascend Hardware", "Stream 13").array());
  CHECK(rows_of(ascend.summarize()) == expected);
  // What nobody knows of a row is not said of its spans.
  Files unknown;
  unknown.add(without_categories("Python", "NPU 3", "Stream 13").array());
  CHECK(rows_of(unknown.summarize()) ==
        Strings{"- all-reduce [] 3 402000", "- host only [] 1 1000"});
  one.request.by = {.category = true};
  CHECK(rows_of(one.summarize()) == Strings{"- - [] 4 403000"});
  // Beside a file of torch's, whose categories tell it, and by rank.
  one.request.by = {.name = true, .rank = true};
  one.add(
      TraceText().cat("kernel").x("all-reduce", 1, 7).cat("cpu_op").x("all-reduce", 1, 3).array());
  CHECK(rows_of(one.summarize()) ==
        Strings{"0 all-reduce [(device row)] 2 400000", "1 all-reduce [kernel] 1 7000",
                "1 all-reduce [cpu_op] 1 3000", "0 all-reduce [] 1 2000", "0 host only [] 1 1000"});
}

TEST_CASE("summarize: in a merge the rows of a device are those of its inputs") {
  TraceText merged;
  merged.pid("0").tid("1").x("all-reduce", 1, 2).x("host only", 5, 1);
  merged.tid("2").x("all-reduce", 2, 300).b("all-reduce", 400).e("all-reduce", 500);
  merged.m("thread_name",
           "{\"name\": \"/device:GPU:0 · Stream #13(Compute)\", \"process\": \"/device:GPU:0\"}");
  merged.m("process_name", "{\"name\": \"rank 0\"}");
  Files files;
  files.add(merged.array());
  CHECK(rows_of(files.summarize()) == Strings{"- all-reduce [(device row)] 2 400000",
                                              "- all-reduce [] 1 2000", "- host only [] 1 1000"});
}

TEST_CASE("summarize: rows by any combination of name, category and rank") {
  Files files;
  files.add(TraceText().cat("c").x("a", 1, 1).cat("d").x("a", 2, 2).x("b", 3, 4).array());
  files.add(TraceText().cat("c").x("a", 1, 8).array());
  const auto rows = [&](SummaryGrouping by) {
    files.request.by = by;
    return rows_of(files.summarize());
  };
  CHECK(rows({.name = true}) == Strings{"- a [c; d] 3 11000", "- b [d] 1 4000"});
  CHECK(rows({.category = true}) == Strings{"- - [c] 2 9000", "- - [d] 2 6000"});
  CHECK(rows({.rank = true}) == Strings{"1 - [c] 1 8000", "0 - [c; d] 3 7000"});
  CHECK(rows({.name = true, .category = true}) ==
        Strings{"- a [c] 2 9000", "- b [d] 1 4000", "- a [d] 1 2000"});
  CHECK(rows({.name = true, .rank = true}) ==
        Strings{"1 a [c] 1 8000", "0 b [d] 1 4000", "0 a [c; d] 2 3000"});
  CHECK(rows({.name = true, .category = true, .rank = true}).size() == 4);
}

TEST_CASE("summarize: names that differ only in how they are written are one") {
  Files files;
  files.add(TraceText().x("caf\\u00e9", 1, 1).b("café", 2).e("caf\\u00E9", 3).array());
  files.add(TraceText().x("café", 1, 1).raw(R"({"ph":"X","ts":1,"dur":1})").array());
  CHECK(rows_of(files.summarize()) == Strings{"- café [] 3 3000", "- (none) [] 1 1000"});
}

TEST_CASE("summarize: sorts by every key, ties by name") {
  Files files;
  files.add(TraceText()
                .cat("z")
                .x("a", 1, 4)
                .x("a", 2, 4)
                .cat("y")
                .x("b", 3, 1)
                .x("b", 3, 9)
                .x("c", 4, 9)
                .array());
  const auto names = [&](SummaryOrder order) {
    files.request.order = order;
    std::string joined;
    for (const SummaryRow& row : files.summarize().rows) joined += *row.name;
    return joined;
  };
  CHECK(names(SummaryOrder::total) == "bca");  // 10, 9, 8
  CHECK(names(SummaryOrder::count) == "abc");
  CHECK(names(SummaryOrder::mean) == "cba");
  CHECK(names(SummaryOrder::min) == "cab");
  CHECK(names(SummaryOrder::p50) == "cab");
  CHECK(names(SummaryOrder::p90) == "bca");
  CHECK(names(SummaryOrder::p99) == "bca");
  CHECK(names(SummaryOrder::max) == "bca");
  CHECK(names(SummaryOrder::stddev) == "bac");
  CHECK(names(SummaryOrder::name) == "abc");
  CHECK(names(SummaryOrder::category) == "bca");
  files.request.by = {.name = true, .rank = true};
  files.add(TraceText().x("a", 1, 100).array());
  CHECK(names(SummaryOrder::rank) == "abca");
}

TEST_CASE("summarize: top cuts rows and leaves their shares alone") {
  Files files;
  files.add(TraceText().x("a", 1, 6).x("b", 2, 3).x("c", 3, 1).array());
  files.request.top = 2;
  const Summary summary = files.summarize();
  CHECK(rows_of(summary) == Strings{"- a [] 1 6000", "- b [] 1 3000"});
  CHECK(summary.rows[0].share == doctest::Approx(0.6));
}

TEST_CASE("summarize: filters by name and category, pairs too") {
  Files files;
  files.add(TraceText()
                .cat("k,x")
                .x("ga", 1, 1)
                .b("gb", 2)
                .e("gb", 4)
                .cat("m")
                .x("gc", 3, 4)
                .x("h", 9, 9)
                .array());
  files.request.filter = {{NamePattern("^g")}, {}, {"k", "none"}, {}};
  const Summary summary = files.summarize();
  CHECK(rows_of(summary) == Strings{"- gb [k,x] 1 2000", "- ga [k,x] 1 1000"});
  CHECK(summary.rows[0].share == doctest::Approx(2.0 / 3.0));
}

TEST_CASE("summarize: a rank mark may stand anywhere in its file") {
  Files files;
  files.add(TraceText().x("a", 1, 1).b("b", 1).e("b", 3).composer_rank(7, "5").array(), "x.json");
  files.add(TraceText().x("a", 1, 1).array(), "y.json");
  files.request.by = {.name = true, .rank = true};
  files.request.ranks = {{5, 9}};
  const Summary summary = files.summarize();
  CHECK(rows_of(summary) == Strings{"7 b [] 1 2000", "7 a [] 1 1000"});
  // The files stand in the order of their ranks.
  CHECK(summary.files[0].rank == 0);
  CHECK(summary.files[0].problems.count(Problem::rank_from_position) == 1);
  CHECK(summary.files[1].rank == 7);
}

TEST_CASE("summarize: in a merged file each pid is a rank") {
  Files files;
  files.add(merged_trace().array());
  files.request.by = {.name = true, .rank = true};
  const Summary summary = files.summarize();
  CHECK(rows_of(summary) == Strings{"1 step [c] 1 7000", "0 step [c] 1 5000"});
  CHECK_FALSE(summary.files[0].rank.has_value());
  CHECK(summary.files[0].ranks == std::vector<std::int64_t>{0, 1});
  files.request.ranks = {{0, 0}};
  CHECK(rows_of(files.summarize()) == Strings{"0 step [c] 1 5000"});
}

TEST_CASE("summarize: threads of a pid that several ranks stand under go by their global_rank") {
  Files files;
  files.add(TraceText()
                .pid("0")
                .tid("100")
                .composer_rank(0, "1000")
                .x("step", 10, 5)
                .tid("200")
                .composer_rank(1, "1000")
                .x("step", 10, 7)
                .b("part", 11)
                .e("part", 14)
                .array());
  files.request.by = {.name = true, .rank = true};
  const Summary summary = files.summarize();
  CHECK(rows_of(summary) == Strings{"1 step [] 1 7000", "0 step [] 1 5000", "1 part [] 1 3000"});
  CHECK(summary.files[0].ranks == std::vector<std::int64_t>{0, 1});
  CHECK(summary.files[0].problems.count(Problem::ranks_in_one_pid) == 1);
}

TEST_CASE(
    "summarize: a time selection counts from the first event of all ranks, on their common clock") {
  Files files;  // rank 1 reads 1 s more at the same moment
  files.add(
      TraceText().composer_rank(0, "1000").e("orphan", 1).x("a", 2000, 1).x("b", 2500, 1).array());
  files.add(TraceText()
                .composer_rank(1, "1001000")
                .x("c", 1002250, 1)
                .b("d", 1003000)
                .e("d", 1009000)
                .array());
  const auto names = [&](std::optional<std::int64_t> from_us, std::optional<std::int64_t> to_us) {
    TimeSelection time;
    if (from_us) time.from_ns = *from_us * 1000;
    if (to_us) time.to_ns = *to_us * 1000;
    files.request.time = time;
    files.request.order = SummaryOrder::name;
    std::string joined;
    for (const SummaryRow& row : files.summarize().rows) joined += *row.name;
    return joined;
  };
  CHECK(names(std::nullopt, std::nullopt) == "abcd");
  CHECK(names(0, 250) == "a");
  CHECK(names(250, 500) == "c");
  CHECK(names(500, 1000) == "b");
  CHECK(names(1000, std::nullopt) == "d");
  CHECK(names(std::nullopt, 501) == "abc");
  CHECK(names(1001, std::nullopt).empty());
  CHECK(names(std::numeric_limits<std::int64_t>::min() / 1000,
              std::numeric_limits<std::int64_t>::max() / 1000) == "abcd");
}

TEST_CASE("summarize: an input that is no trace ends the work, or is left out when asked") {
  Files files;
  files.add(TraceText().x("a", 1, 1).array());
  files.add("hello", "log.json");
  files.add(TraceText().x("a", 1, 2).array());
  CHECK_THROWS_AS(files.summarize(), Error);
  files.request.keep_going = true;
  const Summary summary = files.summarize();
  CHECK(rows_of(summary) == Strings{"- a [] 2 3000"});
  CHECK(summary.files[0].error.empty());
  CHECK(summary.files[1].rank == 2);
  // files that are left out come last
  CHECK(summary.files[2].error.find("log.json: ") != std::string::npos);
  CHECK_FALSE(summary.files[2].rank.has_value());
}

TEST_CASE("summarize: a row whose total does not fit is an error that names it") {
  Files files;
  files.add(TraceText()
                .x("long", 1, "4000000000000000")
                .x("long", 1, "4000000000000000")
                .x("long", 1, "4000000000000000")
                .array());
  CHECK_THROWS_WITH_AS(
      files.summarize(),
      "'long': the total of its durations does not fit 64-bit nanoseconds; leave it out "
      "by --filter or repair the trace",
      Error);
}

TEST_CASE("summarize: no spans give no rows") {
  Files files;
  files.add("[]");
  const Summary summary = files.summarize();
  CHECK(summary.rows.empty());
  CHECK(summary.files[0].events == 0);
}

TEST_CASE("summarize: events in args, also where a chunk is cut among them, are no spans") {
  std::string decoys;
  for (int i = 0; i < 300; ++i)
    decoys += fmt::format("{}{{\"name\": \"decoy\", \"ph\": \"X\", \"ts\": {}, \"dur\": 1}}",
                          i == 0 ? "" : ", ", i);
  TraceText trace;
  for (int i = 0; i < 250; ++i) {
    trace.x("real", i, 2, "{\"list\": [" + decoys + "]}");
    trace.b("pair", i).e("pair", i + 1);
  }
  const std::string text = trace.array();
  REQUIRE(text.size() > 3'000'000);
  for (const unsigned threads : {1U, 2U, 5U}) {
    Files files;
    files.add(text).add(gzip(text), "rank1.json.gz");
    files.request.threads = threads;
    CHECK(rows_of(files.summarize()) == Strings{"- real [] 500 1000000", "- pair [] 500 500000"});
  }
}

TEST_CASE("summarize: random traces give what the oracle gives, whatever the number of threads") {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    CAPTURE(seed);
    Files files;
    std::vector<oracle::Input> inputs;
    for (std::uint64_t i = 0; i < 3; ++i) {
      inputs.push_back({random_trace({.seed = seed * 3 + i,
                                      .style = static_cast<TraceStyle>((seed + i) % 3),
                                      .rank = static_cast<std::int64_t>(i),
                                      .never_ended = true})});
      files.add(inputs.back().text);
    }
    for (const unsigned threads : {1U, 2U, 5U}) {
      files.request.threads = threads;
      Summary summary = files.summarize();
      for (SummaryRow& row : summary.rows)
        if (row.name == "(none)") row.name = "";
      check_rows(summary.rows, oracle::summarize(inputs));
    }
  }
}

TEST_CASE("summarize: traces of many chunks give what the oracle gives") {
  for (std::uint64_t seed = 100; seed < 103; ++seed) {
    CAPTURE(seed);
    Files files;
    const std::string text = random_trace({.seed = seed,
                                           .style = static_cast<TraceStyle>(seed % 3),
                                           .events = 25'000,
                                           .out_of_order = seed != 101});
    REQUIRE(text.size() > 3'000'000);
    files.add(text);
    const std::vector<oracle::SummaryRow> expected = oracle::summarize({{text}});
    for (const unsigned threads : {1U, 2U, 5U}) {
      files.request.threads = threads;
      Summary summary = files.summarize();
      for (SummaryRow& row : summary.rows)
        if (row.name == "(none)") row.name = "";
      check_rows(summary.rows, expected);
    }
  }
}

namespace {

// Spans of so many different names, in categories that take turns.
std::string many_names(std::size_t count) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i)
    text += fmt::format(
                R"({{"ph":"X","name":"request {}","cat":"{}","ts":{},"dur":1,"pid":1,"tid":1}},)",
                i, i % 2 == 0 ? "even" : "odd", i) +
            "\n";
  return text;
}

std::string refusal_of(const Files& files) {
  try {
    static_cast<void>(files.summarize());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("summarize: more rows than one may want are refused, with what to do") {
  const std::string refusal =
      "the summary has more than 1,000 rows; do names hold the numbers of requests? --filter or "
      "--category choose some, --max-rows takes more, at some 2 KB each";
  for (const unsigned threads : {1U, 2U}) {
    Files files;
    files.add(many_names(1001));
    files.request.threads = threads;
    files.request.max_rows = 1000;
    CHECK(refusal_of(files) == refusal);
    files.request.by = {.category = true};
    CHECK(refusal_of(files) == "");
    files.request.by = {.name = true};
    files.request.filter.categories = {"odd"};
    CHECK(refusal_of(files) == "");
    files.request.filter = {};
    files.request.max_rows = 1001;
    CHECK(refusal_of(files) == "");
  }
}

TEST_CASE("summarize: far more names are refused before all of the file has been read") {
  Files files;
  files.add(many_names(100'000));
  files.request.max_rows = 1000;
  std::uint64_t read = 0;
  files.request.threads = 1;
  files.request.progress = [&](std::uint64_t bytes) { read = bytes; };
  CHECK(refusal_of(files).starts_with("the summary has more than 1,000 rows; "));
  CHECK(read < 3'000'000);  // the file has 8.4 MB
}
