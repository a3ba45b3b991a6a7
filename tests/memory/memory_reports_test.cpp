#include "memory/memory_reports.h"

#include "base/problems.h"
#include "support/memory_source.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

const std::string kRule(80, '-');

std::string report_text(const std::string& peak, const std::string& modules) {
  return fmt::format(
      "Iteration 2 training_step Peak FSDP memory stats: \n{0}\n{1}\n{0}\n"
      "Iteration 2 training_step Modulewise FSDP memory stats: \n{0}\n{2}\n{0}\n",
      kRule, peak, modules);
}

const std::string kTables = report_text(
    "========  =============  ==========  =========\n"
    "Device    Sharded Param  Activation  Total\n"
    "========  =============  ==========  =========\n"
    "cuda:0    5242880 B      1024 B      5243904 B\n"
    "cpu       0 B            10 B        10 B\n"
    "========  =============  ==========  =========",
    "Module:  Net\n"
    "===================  ========  ==========  =========\n"
    "State & Call         Device    Activation  Total\n"
    "===================  ========  ==========  =========\n"
    "Peak Forward # 1     cuda:0    1.5 MiB     6.5 MiB\n"
    "..                   cpu       10 B        10 B\n"
    "Peak Forward # 2     cuda:0    2.0 MiB     7.0 MiB\n"
    "===================  ========  ==========  =========");

const std::string kLines = report_text(
    "Device: cuda:0\n\tSharded Param: 5242880 B\n\tActivation: 1024 B\n\tTotal: 5243904 B\n"
    "Device: cpu\n\tActivation: 10 B\n\tTotal: 10 B",
    "Module:  Net\nPeak Forward\n# 1:\nDevice: cuda:0\n\tActivation: 1.5 MiB\n\tTotal: 6.5 MiB\n"
    "Device: cpu\n\tActivation: 10 B\n\tTotal: 10 B\n"
    "# 2:\nDevice: cuda:0\n\tActivation: 2.0 MiB\n\tTotal: 7.0 MiB\n");

std::vector<std::string> lines_of(const TrackerReport& report,
                                  const std::vector<TrackerRow>& rows) {
  std::vector<std::string> lines;
  for (const TrackerRow& row : rows)
    lines.push_back(fmt::format("{}|{}|{}|{}|{}|{}", row.module, row.state, row.call, row.device,
                                bytes_of(report, row, "Activation"),
                                bytes_of(report, row, kTotalKind)));
  return lines;
}

using Lines = std::vector<std::string>;

std::string timeline_error(const std::string& text) try {
  parse_memory_timeline("t.json", text);
  return "read";
} catch (const Error& error) {
  return error.what();
}

}  // namespace

TEST_CASE("tracker report: both styles say the same") {
  for (const std::string& text : {kTables, kLines}) {
    CAPTURE(text);
    const TrackerReport report = parse_tracker_report("f.log", text);
    CHECK(report.function == "training_step");
    CHECK(report.iteration == 2);
    CHECK_FALSE(report.is_cut);
    CHECK(report.is_rounded);
    CHECK(report.left_out == 0);
    CHECK(lines_of(report, report.peak) == Lines{"||1|cuda:0|1024|5243904", "||1|cpu|10|10"});
    CHECK(bytes_of(report, report.peak[0], "Sharded Param") == 5242880);
    CHECK(bytes_of(report, report.peak[0], "Buffer") == 0);
    CHECK(lines_of(report, report.modules) == Lines{"Net|Peak Forward|1|cuda:0|1572864|6815744",
                                                    "Net|Peak Forward|1|cpu|10|10",
                                                    "Net|Peak Forward|2|cuda:0|2097152|7340032"});
    CHECK(report.modules[0].is_peak());
  }
}

TEST_CASE("tracker report: a second one in the file is refused") {
  CHECK_THROWS_WITH_AS(parse_tracker_report("f.log", kTables + kTables),
                       "f.log: another report of a memory tracker begins in it: split the file",
                       Error);
}

TEST_CASE("tracker report: a cut one keeps its whole lines") {
  for (std::size_t size = 60; size + 1 < kTables.size(); ++size) {
    CAPTURE(size);
    const TrackerReport report = parse_tracker_report("f.log", kTables.substr(0, size));
    CHECK(report.is_cut);
    CHECK(report.left_out == 0);
    for (const TrackerRow& row : report.modules) CHECK(bytes_of(report, row, kTotalKind) > 0);
  }
}

TEST_CASE("tracker report: nothing tracked, odd lines, and what is none") {
  const TrackerReport empty = parse_tracker_report("f.log", report_text("No memory tracked.", ""));
  CHECK(empty.peak.empty());
  CHECK_FALSE(empty.is_cut);
  const TrackerReport odd = parse_tracker_report(
      "f.log", report_text("Device: cuda:0\n\tTemp: many\n\tTotal: -1 KiB\n\tno amount", ""));
  CHECK(odd.left_out == 2);
  CHECK(bytes_of(odd, odd.peak.at(0), kTotalKind) == -1024);
  CHECK_THROWS_WITH_AS(parse_tracker_report("f.log", "hello\n"),
                       "f.log: is no report of a memory tracker: no line \"Iteration N FUNCTION "
                       "Peak ... memory stats:\"",
                       Error);
}

TEST_CASE("memory timeline: raw and JSON have the same peak") {
  const MemoryTimeline raw = parse_memory_timeline(
      "t.json", "[[-1, 1, 100, 0], [5000, 2, 50, 4], [6000, 2, 30, 3], [7000, 4, -50, 4]]");
  const MemoryTimeline sums = parse_memory_timeline(
      "t.json",
      "[[0, 5, 6, 7],\n [[0,100,0,0,0,0,0,0,0],[0,100,0,0,0,50,0,0,0],[0,100,0,0,30,50,0,0,0],"
      "[0,100,0,0,30,0,0,0,0]]]");
  for (const MemoryTimeline* const timeline : {&raw, &sums}) {
    CHECK(timeline->rows == 4);
    CHECK(timeline->peak == 180);
    CHECK(timeline->peak_at_ns == 6000);
    CHECK(timeline->at_peak[4] == 50);
    CHECK(timeline->end == 130);
    CHECK(timeline->left_out == 0);
    REQUIRE(timeline->curve.size() == (timeline == &raw ? 3 : 4));
    CHECK(timeline->curve.back().at_ns == 7000);
    CHECK(timeline->curve.back().bytes == std::array<std::int64_t, 8>{100, 0, 0, 30});
  }
  CHECK_FALSE(parse_memory_timeline("t.json", "[[-1,1,100,0]]").peak_at_ns.has_value());
}

TEST_CASE("memory timeline: a long curve keeps what is highest in a part, and what is last") {
  // The gradient is there while the activation is not.
  std::string text = "[[-1,1,1000,0]";
  for (int i = 0; i < 3000; ++i)
    text += fmt::format(",[{0},2,{2},4],[{1},4,-{2},4],[{1},2,5,5],[{1},4,-5,5]", 10 * i,
                        10 * i + 5, 7 + i % 100);
  const MemoryTimeline timeline = parse_memory_timeline("t.json", text + "]");
  CHECK(timeline.rows == 12001);
  CHECK(timeline.curve.size() == 750);  // two for each 32 rows
  for (std::size_t i = 0; i < timeline.curve.size(); i += 2) {
    CAPTURE(i);
    const int first = static_cast<int>(4 * i);
    int most = 0;
    for (int k = first; k < first + 8; ++k) most = std::max(most, 7 + k % 100);
    CHECK(timeline.curve[i] == TimelinePoint{10 * first, {1000, 0, 0, 0, most, 5}});
    CHECK(timeline.curve[i + 1] == TimelinePoint{10 * (first + 7) + 5, {1000}});
  }
}

TEST_CASE("memory timeline: a second one in the file is refused") {
  CHECK(timeline_error("[[1,2,3,4]]\n[[1,2,3,4]]") ==
        "t.json: byte 12: another memory timeline begins here: split the file");
}

TEST_CASE("memory timeline: rows of another form are counted, and damage has its byte") {
  const MemoryTimeline odd =
      parse_memory_timeline("t.json", "[[1,2,3],[1,2,10,8],[1,9,10,0],[1.5e3,2,10,0]]");
  CHECK(odd.rows == 4);
  CHECK(odd.left_out == 3);
  CHECK(odd.peak == 10);
  CHECK(timeline_error("[[1,2,3,4],[1,2") ==
        "t.json: byte 15: the memory timeline ends inside a list: it is cut; copy it again");
  CHECK(timeline_error("[]") == "t.json: byte 2: is no memory timeline: a list of rows of numbers");
  CHECK(timeline_error("[[1,\"a\"]]") ==
        "t.json: byte 4: is no memory timeline: a number is expected here");
  CHECK(timeline_error("[[[[1]]]]") ==
        "t.json: byte 4: is no memory timeline: lists are nested too deep");
  CHECK(timeline_error("[[1]]]") ==
        "t.json: byte 6: is no memory timeline: a list ends that did not begin");
}

TEST_CASE("embedded pickle: the bytes of a page") {
  const auto bytes_in = [](const std::string& page) {
    const auto source = embedded_pickle(std::make_unique<MemorySource>(page), "p.html");
    std::string text(100, '\0');
    text.resize(source->read(text));
    return text;
  };
  CHECK(bytes_in(R"(<script>x([{"name": "a", "base64": "aGVsbG8gPz4/"}]))") == "hello ?>?");
  CHECK(bytes_in(R"(<p "base64" : "aGVsbG8=">)") == "hello");
  CHECK_THROWS_WITH_AS(bytes_in("<html>"),
                       "p.html: is a page without a pickle: memory_viz keeps it as \"base64\"",
                       Error);
}
