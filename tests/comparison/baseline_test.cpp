#include "comparison/captures/baseline.h"

#include "base/problems.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace traceloom {
namespace {

// A file that is removed in the end.
class BaselineFile {
 public:
  explicit BaselineFile(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  ~BaselineFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ =
      (std::filesystem::temp_directory_path() / fmt::format("baseline-{}.json", getpid()));
};

Capture small_capture(const std::string& name, std::int64_t step_ns) {
  Capture capture;
  capture.name = name;
  capture.world_size = 2;
  capture.devices = {"A \"100\""};
  capture.has_python = true;
  capture.steps_ns = {9, step_ns, step_ns, step_ns, step_ns, step_ns};
  capture.value_ns = static_cast<double>(step_ns);
  capture.shapes = {{"aten::mm", "[[4, 2]]", 70}};
  CaptureRank rank;
  rank.rank = 1;
  rank.steps = 3;
  rank.total_ns = 3 * step_ns;
  rank.rows = {{{Role::kernel, "aten::mm", "gemm"}, 3 * step_ns - 5, 3 * step_ns, 6},
               {{Role::other, "", ""}, 5, 0, 0}};
  rank.sequence = {0, 0};
  capture.ranks = {rank};
  return capture;
}

TEST_CASE("baseline: what was written is read") {
  Baseline baseline;
  baseline.append({small_capture("c0", 100), small_capture("c1", 110)});
  baseline.accept("a reason", {small_capture("c2", 120)});
  const BaselineFile file(baseline_json(baseline));
  CHECK(is_baseline(file.path()));
  const Baseline read = read_baseline(file.path());
  CHECK(baseline_json(read) == baseline_json(baseline));
  CHECK(read.reason == "a reason");
  REQUIRE(read.older.size() == 1);
  CHECK(read.older[0].numbers == std::vector<double>{100, 110});
  REQUIRE(read.captures.size() == 1);
  const Capture& capture = read.captures[0];
  CHECK(capture.name == "c2");
  CHECK(capture.world_size == 2);
  CHECK(capture.devices == std::set<std::string>{"A \"100\""});
  CHECK(capture.producers.empty());
  CHECK(capture.has_python);
  CHECK(capture.value_ns == 120.0);
  CHECK(capture.shapes == std::vector<ShapeTime>{{"aten::mm", "[[4, 2]]", 70}});
  const CaptureRank& rank = capture.ranks.at(0);
  CHECK(rank.rank == 1);
  CHECK(rank.steps == 3);
  CHECK(rank.total_ns == 360);
  CHECK(rank.rows.at(0).key == RowKey{Role::kernel, "aten::mm", "gemm"});
  CHECK(rank.rows.at(0).exclusive_ns == 355);
  CHECK(rank.rows.at(0).total_ns == 360);
  CHECK(rank.rows.at(0).count == 6);
  CHECK(rank.sequence == std::vector<std::uint32_t>{0, 0});
}

TEST_CASE("baseline: a row has its module as a seventh number, or ends before it") {
  Baseline baseline;
  baseline.append({small_capture("c0", 100)});
  CHECK(baseline_json(baseline).find(R"("rows":[[0,0,2,295,300,6],[8,3,3,5,0,0]])") !=
        std::string::npos);
  baseline.captures[0].ranks[0].rows[0].key.module = "MLP.Linear";
  const std::string text = baseline_json(baseline);
  CHECK(text.find(R"("rows":[[0,0,2,295,300,6,3],[8,4,4,5,0,0]])") != std::string::npos);
  const BaselineFile file(text);
  const CaptureRank rank = read_baseline(file.path()).captures.at(0).ranks.at(0);
  CHECK(rank.rows.at(0).key == RowKey{Role::kernel, "aten::mm", "gemm", "MLP.Linear"});
  CHECK(rank.rows.at(1).key == RowKey{Role::other, "", ""});
}

// The rows of 8 ranks over 20 steps: 300 kernels, each in a module.
TEST_CASE("baseline: 8 ranks with 300 names and modules take less than 200 KB") {
  Capture capture = small_capture("c0", 15'000'000);
  capture.steps_ns.assign(20, 15'000'000);
  capture.ranks.clear();
  for (std::int64_t rank = 0; rank < 8; ++rank) {
    CaptureRank one{rank, 12, 180'000'000, {}, {}};
    for (std::uint32_t i = 0; i < 300; ++i) {
      one.rows.push_back({{Role::kernel, fmt::format("aten::op_{}", i % 40),
                           fmt::format("void at::native::vectorized_elementwise_kernel<{}>", i),
                           fmt::format("BertSelfAttention.Linear{}", i % 30)},
                          600'000,
                          600'000,
                          12});
      one.sequence.push_back(i);
    }
    capture.ranks.push_back(std::move(one));
  }
  Baseline baseline;
  baseline.append({capture});
  CHECK(baseline_json(baseline).size() < 200'000);
}

TEST_CASE("baseline: captures and versions are bounded, the oldest go") {
  Baseline baseline;
  for (int i = 0; i < 25; ++i) baseline.append({small_capture(fmt::format("c{}", i), 100 + i)});
  REQUIRE(baseline.captures.size() == kMostCaptures);
  CHECK(baseline.captures.front().name == "c5");
  for (int i = 0; i < 25; ++i) baseline.accept(fmt::format("v{}", i), {small_capture("c", 200)});
  REQUIRE(baseline.older.size() == kMostVersions);
  CHECK(baseline.older.front().reason == "v4");
  CHECK(baseline.older.back().reason == "v23");
  CHECK(baseline.reason == "v24");
}

std::string refusal(const std::string& text) {
  const BaselineFile file(text);
  try {
    read_baseline(file.path());
  } catch (const Error& error) {
    return error.problem();
  }
  return "";
}

TEST_CASE("baseline: a file that is none, or not whole, is refused") {
  CHECK(refusal("{}") == "is no baseline; make one with trace-stats baseline");
  CHECK(refusal(R"({"traceloom_baseline":2})") ==
        "is a baseline of another version; make it again with trace-stats baseline");
  CHECK(refusal(R"({"traceloom_baseline":1,"texts":[)") ==
        "is no whole JSON document; make it again with trace-stats baseline");
  CHECK(refusal(R"({"traceloom_baseline":1})") ==
        "is no whole baseline: it has no \"texts\"; make it again with trace-stats baseline");
  CHECK(refusal(R"({"traceloom_baseline":1,"texts":[],"older":[],"reason":"","captures":[]})") ==
        "has no captures; make it again with trace-stats baseline");
  Baseline baseline;
  baseline.append({small_capture("c0", 100)});
  std::string text = baseline_json(baseline);
  text.replace(text.find("[0,0]"), 5, "[0,7]");
  CHECK(refusal(text) ==
        "is no whole baseline: a row is missing; make it again with trace-stats baseline");
  text = baseline_json(baseline);
  text.replace(text.find("5,0,0]]"), 7, "5,0,0,1,1]]");
  CHECK(refusal(text) ==
        "is no whole baseline: a row has other columns; make it again with trace-stats baseline");
}

TEST_CASE("baseline: a number that is none is refused with its text") {
  const auto with_world = [](const std::string& number) {
    Baseline baseline;
    baseline.append({small_capture("c0", 100)});
    std::string text = baseline_json(baseline);
    return text.replace(text.find("\"world_size\":2"), 14, "\"world_size\":" + number);
  };
  for (const std::string number : {"99999999999999999999", "-1", "2.0", "true", "\"2\"", "[2]"}) {
    CHECK(refusal(with_world(number)) == "is no whole baseline: '" + number +
                                             "' is not a number; make it again with trace-stats "
                                             "baseline");
  }
  CHECK(refusal(with_world("2,")) ==
        "is no whole JSON document; make it again with trace-stats baseline");
}

TEST_CASE("baseline: of two values with one key the last one counts") {
  CHECK(refusal(R"({"traceloom_baseline":1,"traceloom_baseline":2})") ==
        "is a baseline of another version; make it again with trace-stats baseline");
}

}  // namespace
}  // namespace traceloom
