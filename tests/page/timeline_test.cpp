#include "page/timeline/timeline.h"

#include "analysis/waits/rank_waits.h"
#include "page/read_for_page.h"
#include "page/step_grid.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

struct ShownSlice {
  std::int64_t start_ns;
  std::int64_t length_ns;
  std::string name;
  int depth;
  Role role;
  std::int64_t wait_ns = 0;

  friend bool operator==(const ShownSlice&, const ShownSlice&) = default;
};

// Reads the slices as the page's script does.
std::vector<std::vector<ShownSlice>> slices_of(const Timeline& timeline) {
  std::size_t at = 0;
  const auto byte = [&] { return static_cast<unsigned char>(timeline.slices.at(at++)); };
  const auto number = [&] {
    std::int64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const unsigned char next = byte();
      value |= std::int64_t{next & 127} << shift;
      if (next < 128) return value;
    }
  };
  std::vector<std::vector<ShownSlice>> rows;
  for (const TimelineRow& row : timeline.rows) {
    std::int64_t start = 0;
    rows.emplace_back();
    for (std::size_t i = 0; i < row.slices; ++i) {
      start += number();
      const std::int64_t length = number();
      const std::string name = timeline.names.at(static_cast<std::size_t>(number()));
      const unsigned char kind = byte();
      const auto role = static_cast<Role>(kind & 15);
      const std::int64_t wait = role == Role::communication ? number() : 0;
      rows.back().push_back({start, length, name, kind >> 4, role, wait});
    }
  }
  CHECK(at == timeline.slices.size());
  return rows;
}

Timeline timeline_of(const Run& run, const TimelineLimits& limits = {},
                     std::optional<std::int64_t> first = {}) {
  const std::vector<RankRoles> roles = find_all_roles(run);
  return make_timeline(run, roles, match_collectives(run), limits,
                       {first, {}, make_step_grid(roles, {}, kMostGridCells).keys});
}

const char* const kOnDevice = R"({"device": 0, "stream": 7})";

// A rank with short operators on its main thread, one on another, and kernels.
std::string rank_of_operators(int rank, int operators) {
  TraceText text;
  text.m("process_name", "{\"name\": \"python\"}");
  text.cat("cpu_op").tid("7");
  for (int i = 0; i < operators; ++i)
    text.x("aten::op" + std::to_string(i % 5), 100 * i, 1 + i % 60);
  text.tid("9").x("other thread", 0, 5);
  text.pid("0").cat("kernel");
  for (int i = 0; i < operators; ++i)
    text.x(i % 4 == 3 ? "ncclDevKernel_AllReduce" : "gemm", 100 * i + 10, 50, kOnDevice);
  return text.object("\"distributedInfo\": {\"rank\": " + std::to_string(rank) + "}");
}

}  // namespace

TEST_CASE(
    "timeline: rows of devices, communication and the busiest threads, with all their spans") {
  const Run run = read_for_page({{"rank0.json", TraceText()
                                                    .cat("cpu_op")
                                                    .tid("7")
                                                    .x("outer", 0, 100)
                                                    .x("inner", 10, 20)
                                                    .x("deep", 12, 9)
                                                    .x("deeper", 13, 5)
                                                    .x("deepest", 14, 1)
                                                    .x("next", 100, 5)
                                                    .tid("8")
                                                    .x("elsewhere", 0, 500)
                                                    .x("elsewhere", 500, 10)
                                                    .tid("9")
                                                    .x("quiet", 0, 5)
                                                    .pid("0")
                                                    .cat("kernel")
                                                    .x("gemm", 30, 40, kOnDevice)
                                                    .x("ncclDevKernel_AllReduce", 60, 40, kOnDevice)
                                                    .array()}});
  const Timeline timeline = timeline_of(run);
  REQUIRE(timeline.rows.size() == 4);
  CHECK(timeline.rows[0].label == "rank 0 devices");
  CHECK(timeline.rows[1].label == "rank 0 comm");
  CHECK(timeline.rows[2].label == "rank 0 host");
  CHECK(timeline.rows[3].label == "rank 0 host 2");
  CHECK(!timeline.rows[2].is_last);
  CHECK(timeline.rows[3].is_last);
  CHECK(timeline.rows[2].lines == 4);
  CHECK(timeline.rows[2].all_slices == 5);
  CHECK(timeline.rows[2].deeper == 1);
  CHECK(timeline.end_ns == 510'000);
  const auto rows = slices_of(timeline);
  CHECK(rows[0] == std::vector<ShownSlice>{{30'000, 40'000, "gemm", 0, Role::kernel}});
  CHECK(rows[1] == std::vector<ShownSlice>{
                       {60'000, 40'000, "ncclDevKernel_AllReduce", 0, Role::communication}});
  CHECK(rows[2] == std::vector<ShownSlice>{{0, 100'000, "outer", 0, Role::cpu},
                                           {10'000, 20'000, "inner", 1, Role::cpu},
                                           {12'000, 9'000, "deep", 2, Role::cpu},
                                           {13'000, 5'000, "deeper", 3, Role::cpu},
                                           {100'000, 5'000, "next", 0, Role::cpu}});
  CHECK(rows[3].size() == 2);
}

namespace {

std::vector<std::string> labels_of_rows(const TraceText& text) {
  std::vector<std::string> labels;
  for (const TimelineRow& row : timeline_of(read_for_page({{"rank0.json", text.array()}})).rows)
    labels.push_back(row.label);
  return labels;
}

std::string on_stream(int stream, int device = 0) {
  return fmt::format(R"({{"device": {}, "stream": {}}})", device, stream);
}

}  // namespace

TEST_CASE("timeline: a stream that overlaps another one has a row of its own") {
  TraceText text;
  text.pid("0").cat("kernel");
  text.x("gemm", 0, 40, on_stream(7)).x("gemm", 50, 40, on_stream(7));
  text.x("copy", 40, 10, on_stream(20));  // between those of stream 7
  CHECK(labels_of_rows(text) == std::vector<std::string>{"rank 0 devices"});
  text.x("relu", 30, 15, on_stream(13));  // at the same time as the first gemm, and the copy
  CHECK(labels_of_rows(text) ==
        std::vector<std::string>{"rank 0 streams 7, 20", "rank 0 stream 13"});
  text.x("ncclDevKernel_AllReduce", 0, 100, on_stream(30));
  text.x("ncclDevKernel_AllGather", 0, 90, on_stream(31, 1));
  CHECK(labels_of_rows(text) == std::vector<std::string>{"rank 0 streams 7, 20", "rank 0 stream 13",
                                                         "rank 0 comm stream 0:30",
                                                         "rank 0 comm stream 1:31"});
  const Timeline timeline = timeline_of(read_for_page({{"rank0.json", text.array()}}));
  const auto rows = slices_of(timeline);
  CHECK(rows[0] == std::vector<ShownSlice>{{0, 40'000, "gemm", 0, Role::kernel},
                                           {40'000, 10'000, "copy", 0, Role::kernel},
                                           {50'000, 40'000, "gemm", 0, Role::kernel}});
  CHECK(rows[1] == std::vector<ShownSlice>{{30'000, 15'000, "relu", 0, Role::kernel}});
}

TEST_CASE("timeline: streams beyond the rows of a rank share the last one") {
  TraceText text;
  text.pid("0").cat("kernel");
  for (int stream = 1; stream <= 6; ++stream)
    text.x("gemm", stream, 100 - stream, on_stream(stream));
  const Timeline timeline = timeline_of(read_for_page({{"rank0.json", text.array()}}));
  REQUIRE(timeline.rows.size() == 4);
  CHECK(timeline.rows[0].label == "rank 0 stream 1");
  CHECK(timeline.rows[2].label == "rank 0 stream 3");
  CHECK(timeline.rows[3].label == "rank 0 other streams");
  CHECK(timeline.rows[3].all_slices == 3);
}

TEST_CASE("timeline: the thread with the steps is the host, however busy another one is") {
  TraceText text;
  text.cat("user_annotation").tid("5").x("ProfilerStep#1", 0, 1000).x("ProfilerStep#2", 1000, 1000);
  text.cat("cpu_op").x("aten::mm", 10, 100);
  text.cat("python_function").x("module.py(1): outer", 0, 2000);
  text.cat("cpu_op").tid("6");
  for (int i = 0; i < 60; ++i) text.x("pin_memory", 30 * i, 5);
  const Run run = read_for_page({{"rank0.json", text.array()}});
  const Timeline timeline = timeline_of(run);
  REQUIRE(timeline.rows.size() == 2);
  const auto rows = slices_of(timeline);
  REQUIRE(rows[0].size() == 1);  // without the function of Python
  CHECK(rows[0][0].name == "aten::mm");
  CHECK(rows[1].size() == 60);
}

TEST_CASE("timeline: of many steps it has those to which the heat map leads") {
  TraceText text;
  text.cat("user_annotation");
  for (int i = 0; i < 1000; ++i)
    text.x("ProfilerStep#" + std::to_string(i), 100 * i, i == 4 ? 95 : 90);
  text.cat("cpu_op").x("aten::mm", 405, 40).x("aten::mm", 450, 40).x("aten::mm", 910, 40);
  const Timeline timeline = timeline_of(read_for_page({{"rank0.json", text.array()}}));
  CHECK(timeline.all_steps == 1000);
  REQUIRE(timeline.steps.size() == 335);  // with the median one
  CHECK(timeline.steps[0].label == "0");
  CHECK(timeline.steps[1].label == "4");  // the slowest of 3, 4, 5
  CHECK(timeline.steps[1].spans == 2);
  CHECK(timeline.steps[2].label == "6");
  CHECK(timeline.steps[3].spans == 1);
  CHECK(timeline.steps[334].label == "999");
}

TEST_CASE("timeline: where there is no room, the longest spans are kept, in their order") {
  const Run run = read_for_page({{"rank0.json", rank_of_operators(0, 400)}});
  const Timeline timeline =
      timeline_of(run, {.slices = 90, .slices_a_step = 1, .bins = 3000, .bins_a_row = 1000});
  const auto rows = slices_of(timeline);
  REQUIRE(rows.size() == 3);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    kept += rows[i].size();
    CHECK(std::is_sorted(
        rows[i].begin(), rows[i].end(),
        [](const ShownSlice& a, const ShownSlice& b) { return a.start_ns < b.start_ns; }));
  }
  CHECK(kept == 90);
  CHECK(timeline.rows[2].all_slices == 400);
  // 30 of the lengths 1 to 60 us: the six or seven spans of each from 56 us on, and some of 55.
  for (const ShownSlice& slice : rows[2]) CHECK(slice.length_ns >= 55'000);
}

TEST_CASE("timeline: shades are the covered share of each bin, by its main role") {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    TraceText text;
    text.cat("kernel");
    std::vector<Interval> spans;
    std::int64_t time = 0;
    while (time < 60'000) {
      const auto length = static_cast<std::int64_t>(random() % 900);
      text.x("gemm", time / 1, length, kOnDevice);
      spans.push_back({time * 1000, (time + length) * 1000});
      time += length + static_cast<std::int64_t>(random() % 900) + 1;
    }
    const Run run = read_for_page({{"rank0.json", text.array()}});
    const Timeline timeline = timeline_of(run, {.bins_a_row = 50});
    REQUIRE(timeline.rows.size() == 1);
    REQUIRE(timeline.rows[0].bins == 50);
    REQUIRE(timeline.windows.size() == 1);
    const double width = static_cast<double>(timeline.end_ns) / 50;
    for (std::size_t bin = 0; bin < 50; ++bin) {
      double covered = 0;
      bool is_touched = false;
      for (const Interval& span : spans) {
        const double from =
            std::max(static_cast<double>(span.from_ns), width * static_cast<double>(bin));
        const double to =
            std::min(static_cast<double>(span.to_ns), width * static_cast<double>(bin + 1));
        if (to >= from) is_touched = true;
        covered += std::max(to - from, 0.0);
      }
      const auto shade = static_cast<unsigned char>(timeline.shades[bin]);
      if (shade != 0) CHECK(static_cast<Role>(shade >> 4) == Role::kernel);
      CHECK(std::abs((shade & 15) - 15 * covered / width) <= 1.001);
      if (covered > 0) CHECK((shade & 15) > 0);
      if (!is_touched) CHECK(shade == 0);
    }
  }
}

TEST_CASE("timeline: windows of the slowest and the median step, whose pixels are kept first") {
  TraceText text;
  text.cat("user_annotation").x("ProfilerStep#1", 0, 1000).x("ProfilerStep#2", 1000, 3000);
  text.x("ProfilerStep#3", 4000, 2000).x("ProfilerStep#4", 6000, 500);
  text.cat("cpu_op");
  for (int i = 0; i < 40; ++i) text.x("short", 1010 + 60 * i, 5);  // in the slowest step
  for (int i = 0; i < 30; ++i) text.x("long", 6001 + 16 * i, 15);  // in another
  for (int i = 0; i < 40; ++i) text.x("median", 10 + 20 * i, 4);
  const Run run = read_for_page({{"rank0.json", text.array()}});
  const Timeline timeline = timeline_of(run, {.slices = 95, .slices_a_step = 1});
  REQUIRE(timeline.windows.size() == 3);
  CHECK(timeline.windows[0].name == "Whole run");
  CHECK(timeline.windows[1].name == "Slowest step, 2");
  CHECK(timeline.windows[1].time == Interval{1'000'000, 4'000'000});
  CHECK(timeline.windows[2].name == "Median step, 1");
  REQUIRE(timeline.steps.size() == 4);
  CHECK(timeline.steps[3].label == "4");
  std::map<std::string, int> names;
  const auto rows = slices_of(timeline);
  for (const ShownSlice& slice : rows[0]) ++names[slice.name];
  CHECK(names["short"] == 40);
  CHECK(names["median"] == 40);
  CHECK(names["long"] < 30);
}

TEST_CASE("timeline: many ranks have one line each, and the verdict's rank is shown in full") {
  std::vector<std::pair<std::string, std::string>> files;
  files.reserve(40);
  for (int rank = 0; rank < 40; ++rank)
    files.emplace_back("rank" + std::to_string(rank) + ".json", rank_of_operators(rank, 8));
  const Run run = read_for_page(files);
  const Timeline timeline = timeline_of(run, {}, 17);
  std::map<std::int64_t, std::size_t> full;
  std::size_t thin = 0;
  for (const TimelineRow& row : timeline.rows)
    if (row.is_thin)
      ++thin;
    else
      ++full[row.rank];
  CHECK(full == std::map<std::int64_t, std::size_t>{{0, 3}, {1, 3}, {2, 3}, {17, 3}});
  REQUIRE(timeline.ranks.size() == 4);
  CHECK(timeline.ranks[0].rank == 17);
  CHECK(timeline.ranks[0].why == "named");
  CHECK(timeline.rows.front().rank == 17);
  // A thin row has the longest slice of each step.
  CHECK(timeline.rows.back().slices == timeline.steps.size());
  CHECK(thin == 36);
  std::size_t bytes = 0;
  for (const TimelineRow& row : timeline.rows)
    bytes += row.bins * (row.is_thin ? 1 : timeline.windows.size());
  CHECK(bytes == timeline.shades.size());
}

TEST_CASE("timeline: names have a budget") {
  TraceText text;
  text.cat("cpu_op");
  for (int i = 0; i < 2000; ++i)
    text.x("operator_" + std::string(50, 'x') + std::to_string(i), 10 * i, 5);
  const Run run = read_for_page({{"rank0.json", text.array()}});
  const Timeline timeline = timeline_of(run, {.names_bytes = 1000});
  std::size_t bytes = 0;
  for (const std::string& name : timeline.names) bytes += name.size();
  CHECK(bytes <= 1020);
  const auto rows = slices_of(timeline);
  CHECK(rows[0].back().name == "(name left out)");
  CHECK(rows[0].size() == 2000);
}

TEST_CASE("timeline: every step has its longest slice, however many are longer elsewhere") {
  TraceText text;
  text.cat("user_annotation");
  for (int i = 0; i < 20; ++i) text.x("ProfilerStep#" + std::to_string(i), 1000 * i, 1000);
  text.cat("cpu_op");
  for (int i = 0; i < 20; ++i)
    for (int k = 0; k < 30; ++k)
      text.x("op" + std::to_string(k), 1000 * i + 30 * k, i < 2 ? 25 : 5 + (k == 7 ? 1 : 0));
  const Run run = read_for_page({{"rank0.json", text.array()}});
  const Timeline timeline = timeline_of(run, {.slices = 70, .slices_a_step = 1});
  std::map<std::int64_t, std::string> longest;
  const auto rows = slices_of(timeline);
  for (const ShownSlice& slice : rows[0])
    if (slice.length_ns == 6000) longest[slice.start_ns / 1'000'000] = slice.name;
  REQUIRE(longest.size() == 18);
  for (const auto& [step, name] : longest) CHECK(name == "op7");
  REQUIRE(timeline.sums.size() == 20);
  CHECK(timeline.sums[3].label == "3");
  CHECK(timeline.sums[3].time == Interval{3'000'000, 4'000'000});
  CHECK(timeline.sums[3].roles[Role::cpu] == 151'000);
  CHECK(timeline.sums[3].roles[Role::other] == 849'000);
}

TEST_CASE("timeline: communication says how long it waits, also of threads of the host") {
  std::vector<std::pair<std::string, std::string>> files;
  for (int rank = 0; rank < 2; ++rank) {
    TraceText text;
    text.cat("user_annotation").x("ProfilerStep#1", 0, 1000);
    text.cat("cpu_op").x("aten::mm", 10, 100 + 300 * rank);
    text.cat("cpu_op").tid("9").x("gloo:all_reduce", 200 + 300 * rank, 400 - 300 * rank);
    files.emplace_back("rank" + std::to_string(rank) + ".json",
                       text.object("\"distributedInfo\": {\"rank\": " + std::to_string(rank) +
                                   ", \"world_size\": 2}"));
  }
  const Timeline timeline = timeline_of(read_for_page(files));
  const auto rows = slices_of(timeline);
  REQUIRE(timeline.rows.size() == 6);  // both have rows of two threads, too
  CHECK(timeline.rows[0].label == "rank 0 comm");
  REQUIRE(rows[0].size() == 1);
  CHECK(rows[0][0] ==
        ShownSlice{200'000, 400'000, "gloo:all_reduce", 0, Role::communication, 300'000});
  CHECK(timeline.rows[3].label == "rank 1 comm");
  CHECK(rows[3].at(0).wait_ns == 0);
}
