#include "comparison/captures/baseline.h"

#include "base/problems.h"
#include "comparison/judge/judge.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

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
  rank.rows = {{shared_key({Role::kernel, "aten::mm", "gemm"}), 3 * step_ns - 5, 3 * step_ns, 6},
               {shared_key({Role::other, "", ""}), 5, 0, 0}};
  rank.sequence = {0, 0};
  capture.ranks = {rank};
  return capture;
}

TEST_CASE("baseline: what was written is read") {
  Baseline baseline;
  baseline.append({small_capture("c0", 100), small_capture("c1", 110)});
  baseline.accept("a reason");
  baseline.append({small_capture("c2", 120)});
  const BaselineFile file(baseline_json(baseline));
  CHECK(is_baseline(file.path()));
  const Baseline read = read_baseline(file.path());
  CHECK(baseline_json(read) == baseline_json(baseline));
  CHECK(read.reason == "a reason");
  REQUIRE(read.runs.size() == 1);
  REQUIRE(read.runs[0].size() == 1);
  const Capture& capture = read.runs[0][0];
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
  CHECK(*rank.rows.at(0).key == RowKey{Role::kernel, "aten::mm", "gemm"});
  CHECK(rank.rows.at(0).exclusive_ns == 355);
  CHECK(rank.rows.at(0).total_ns == 360);
  CHECK(rank.rows.at(0).count == 6);
  CHECK(rank.sequence == std::vector<std::uint32_t>{0, 0});
}

TEST_CASE("baseline: other programs may write it with spaces and lines") {
  Baseline baseline;
  baseline.append({small_capture("c0", 100)});
  const std::string text = baseline_json(baseline);
  const std::string begin = "{\"traceloom_baseline\":";
  REQUIRE(text.starts_with(begin));
  const BaselineFile file("\n{\r\n\t    \"traceloom_baseline\" : " + text.substr(begin.size()));
  CHECK(is_baseline(file.path()));
  CHECK(baseline_json(read_baseline(file.path())) == text);
}

// "role op name module: exclusive total count" of each row, and the sequence.
std::vector<std::string> rows_in(const CaptureRank& rank) {
  std::vector<std::string> rows;
  for (const CaptureRow& row : rank.rows)
    rows.push_back(fmt::format("{} {} {} {}: {} {} {}", static_cast<int>(row.key->role),
                               row.key->op, row.key->name, row.key->module, row.exclusive_ns,
                               row.total_ns, row.count));
  rows.push_back(fmt::format("{}", fmt::join(rank.sequence, " ")));
  return rows;
}

TEST_CASE("baseline: ranks share their rows, and have what differs from the first") {
  Capture capture = small_capture("c0", 100);
  CaptureRank other = capture.ranks[0];
  other.rank = 2;
  other.rows[0].exclusive_ns += 7;
  other.rows[0].total_ns -= 3;
  CaptureRank lacking = capture.ranks[0];
  lacking.rank = 3;
  lacking.rows.erase(lacking.rows.begin());
  lacking.rows.push_back({shared_key({Role::other, "", "late", "MLP.Linear"}), 50, 60, 1});
  lacking.sequence.clear();
  capture.ranks.insert(capture.ranks.end(), {other, lacking});
  Baseline baseline;
  baseline.append({capture});
  const std::string text = baseline_json(baseline);
  const std::string expected =
      R"("rows":[[0,0,2],[8,3,3],[8,3,4,5]],"ranks":[)"
      R"({"rank":1,"steps":3,"has":[0,1],"ns":[295,5],"more_ns":[5,-5],"calls":[6,0],"sequence":[0,0]},)"
      R"({"rank":2,"steps":3,"has":[0,1],"ns":[7,0],"more_ns":[-10,0]},)"
      R"({"rank":3,"steps":3,"has":[1,2],"ns":[0,50],"more_ns":[0,10],"calls":[0,1],"sequence":[]}])";
  CHECK(text.substr(text.find("\"rows\""), expected.size()) == expected);
  const BaselineFile file(text);
  const Baseline again = read_baseline(file.path());
  REQUIRE(again.runs.back().at(0).ranks.size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(rows_in(again.runs.back()[0].ranks[i]) == rows_in(capture.ranks[i]));
  CHECK(again.runs.back()[0].ranks[2].total_ns == 55);
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

TEST_CASE("baseline: rows of each content of steps, and what ran in them") {
  Capture capture = small_capture("c0", 100);
  capture.contents = {{{"gemm"}, {"adam", "gemm"}}, {0, 0, 1, 0, 0, 0}};
  CaptureRank other = capture.ranks[0];
  other.content = 1;
  other.steps = 1;
  other.sequence = {0};
  capture.ranks.push_back(other);
  Baseline baseline;
  baseline.append({capture});
  const BaselineFile file(baseline_json(baseline));
  const Baseline again = read_baseline(file.path());
  CHECK(baseline_json(again) == baseline_json(baseline));
  const Capture& read = again.runs.back().at(0);
  CHECK(read.contents.different == capture.contents.different);
  CHECK(read.contents.of_step == capture.contents.of_step);
  REQUIRE(read.ranks.size() == 2);
  CHECK_FALSE(read.ranks[0].content);
  CHECK(read.ranks[1].content == 1U);
  CHECK(rows_in(read.ranks[1]) == rows_in(other));
  const auto with = [&](const std::string& before, const std::string& after) {
    std::string changed = baseline_json(baseline);
    return refusal(changed.replace(changed.find(before), before.size(), after));
  };
  const std::string missing =
      "is no whole baseline: what ran in a step is missing; make it again with trace-stats "
      "baseline";
  CHECK(with("\"content_of_steps\":[0,0,1,", "\"content_of_steps\":[0,0,2,") == missing);
  CHECK(with("\"content_of_steps\":[0,0,1,", "\"content_of_steps\":[0,1,") == missing);
  CHECK(with("\"content\":1", "\"content\":2") == missing);
}

// A tenth of a percent of noise on rows of 0.1 to 25 ms.
TEST_CASE("baseline: 1,024 ranks with 500 rows take at most 10 MB") {
  Capture capture = small_capture("c0", 15'000'000);
  capture.ranks.clear();
  std::vector<SharedKey> keys;
  for (int i = 0; i < 500; ++i)
    keys.push_back(shared_key({Role::kernel, fmt::format("aten::op_{:03}", i),
                               fmt::format("void at::native::vectorized_kernel<{}>", i)}));
  std::uint64_t noise = 1;
  for (std::int64_t rank = 0; rank < 1024; ++rank) {
    CaptureRank one{rank, {}, 12, 0, {}, {}};
    for (std::uint32_t i = 0; i < 500; ++i) {
      noise = noise * 6364136223846793005U + 1442695040888963407U;
      const std::int64_t ns = 100'000 + 50'000 * i;
      const std::int64_t own = ns + static_cast<std::int64_t>(noise >> 33U) % (ns / 500);
      one.rows.push_back({keys[i], own, own, 12});
      one.sequence.push_back(i);
    }
    capture.ranks.push_back(std::move(one));
  }
  Baseline baseline;
  baseline.append({capture});
  const std::string text = baseline_json(baseline);
  CHECK(text.size() < 10'000'000);
  const BaselineFile file(text);
  CHECK(rows_in(read_baseline(file.path()).runs.back().at(0).ranks.at(1023)) ==
        rows_in(capture.ranks[1023]));
}

// The rows of 8 ranks over 20 steps: 300 kernels, each in a module.
TEST_CASE("baseline: 8 ranks with 300 names and modules take less than 200 KB") {
  Capture capture = small_capture("c0", 15'000'000);
  capture.steps_ns.assign(20, 15'000'000);
  capture.ranks.clear();
  for (std::int64_t rank = 0; rank < 8; ++rank) {
    CaptureRank one{rank, {}, 12, 180'000'000, {}, {}};
    for (std::uint32_t i = 0; i < 300; ++i) {
      one.rows.push_back({shared_key({Role::kernel, fmt::format("aten::op_{}", i % 40),
                                      fmt::format("void at::native::elementwise_kernel<{}>", i),
                                      fmt::format("BertSelfAttention.Linear{}", i % 30)}),
                          600'000, 600'000, 12});
      one.sequence.push_back(i);
    }
    capture.ranks.push_back(std::move(one));
  }
  Baseline baseline;
  baseline.append({capture});
  CHECK(baseline_json(baseline).size() < 200'000);
}

TEST_CASE("baseline: the first 5 and the newest 20 runs stay, of each the newest 20 captures") {
  Baseline baseline;
  for (int i = 0; i < 30; ++i) baseline.append({small_capture(fmt::format("c{}", i), 100 + i)});
  baseline.append({});  // no run
  REQUIRE(baseline.runs.size() == kFirstRuns + kNewestRuns);
  CHECK(baseline.runs[4].front().name == "c4");
  CHECK(baseline.runs[5].front().name == "c10");
  CHECK(baseline.runs[24].front().name == "c29");
  std::vector<Capture> many;
  for (int i = 0; i < 25; ++i) many.push_back(small_capture(fmt::format("c{}", i), 100 + i));
  baseline.append(many);
  REQUIRE(baseline.runs.back().size() == kMostCaptures);
  CHECK(baseline.runs.back().front().name == "c5");
}

TEST_CASE("baseline: earlier runs have their steps and what ran in them, but no rows") {
  Capture first = small_capture("c0", 100);
  first.contents = {{{"gemm"}, {"adam", "gemm"}}, {0, 0, 1, 0, 0, 0}};
  Baseline baseline;
  baseline.append({first, small_capture("c1", 110)});
  baseline.append({small_capture("c2", 120)});
  const std::string text = baseline_json(baseline);
  const BaselineFile file(text);
  const Baseline read = read_baseline(file.path());
  CHECK(baseline_json(read) == text);
  REQUIRE(read.runs.size() == 2);
  REQUIRE(read.runs[0].size() == 2);
  const Capture& capture = read.runs[0][0];
  CHECK(capture.name == "c0");
  CHECK(capture.steps_ns == first.steps_ns);
  CHECK(capture.value_ns == 100.0);
  CHECK(capture.contents.different == first.contents.different);
  CHECK(capture.contents.of_step == first.contents.of_step);
  CHECK(capture.ranks.empty());
  CHECK(capture.shapes.empty());
  CHECK(read.runs[1].front().ranks.size() == 1);
}

TEST_CASE("baseline: a file that is none, or not whole, is refused") {
  CHECK(refusal("{}") == "is no baseline; make one with trace-stats baseline");
  for (const int version : {1, 5})
    CHECK(refusal(fmt::format("{{\"traceloom_baseline\":{}}}", version)) ==
          "is a baseline of another version; make it again with trace-stats baseline");
  CHECK(refusal(R"({"traceloom_baseline":2,"texts":[)") ==
        "is no whole JSON document; make it again with trace-stats baseline");
  CHECK(refusal(R"({"traceloom_baseline":2})") ==
        "is no whole baseline: it has no \"texts\"; make it again with trace-stats baseline");
  CHECK(refusal(R"({"traceloom_baseline":2,"texts":[],"older":[],"reason":"","captures":[]})") ==
        "has no captures; make it again with trace-stats baseline");
  Baseline baseline;
  baseline.append({small_capture("c0", 100)});
  std::string text = baseline_json(baseline);
  text.replace(text.find("[0,0]"), 5, "[0,7]");
  CHECK(refusal(text) ==
        "is no whole baseline: a row is missing; make it again with trace-stats baseline");
  const auto with = [&](const std::string& before, const std::string& after) {
    std::string changed = baseline_json(baseline);
    return changed.replace(changed.find(before), before.size(), after);
  };
  const std::string columns =
      "is no whole baseline: a row has other columns; make it again with trace-stats baseline";
  CHECK(refusal(with("[8,3,3]", "[8,3,3,3,3]")) == columns);
  CHECK(refusal(with("[295,5]", "[295,5,1]")) == columns);
  CHECK(refusal(with("[295,5]", "[295]")) == columns);
  CHECK(refusal(with(R"("ns":[295,5],)", "")) ==
        "is no whole baseline: it has no \"ns\"; make it again with trace-stats baseline");
  const std::string negative =
      "is no whole baseline: a row has a negative number; make it again with trace-stats baseline";
  CHECK(refusal(with("[295,5]", "[-295,5]")) == negative);
  CHECK(refusal(with("[295,5]", "[9223372036854775807,5]")) == negative);
  CHECK(refusal(with("[8,3,3]", "[8,3,9]")) ==
        "is no whole baseline: a text is missing; make it again with trace-stats baseline");
}

// A file of 4 KB asked for 8 GB.
TEST_CASE("baseline: what ranks have of the sequence of another is bounded") {
  Capture capture = small_capture("c0", 100);
  capture.ranks[0].sequence.assign(1'000'000, 0);
  capture.ranks.push_back(capture.ranks[0]);
  Baseline baseline;
  baseline.append({capture});
  std::string text = baseline_json(baseline);
  const std::size_t begin = text.rfind("{\"rank\":");
  REQUIRE(begin != std::string::npos);
  const std::string second = "," + text.substr(begin, text.find('}', begin) + 1 - begin);
  CHECK(second.size() < 200);
  for (int i = 0; i < 70; ++i) text.insert(begin + second.size() - 1, second);
  CHECK(refusal(text) ==
        "has more kernels than a run of 4,096 ranks; make it again with trace-stats baseline");
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
  CHECK(refusal(R"({"traceloom_baseline":2,"traceloom_baseline":5})") ==
        "is a baseline of another version; make it again with trace-stats baseline");
}

}  // namespace
}  // namespace traceloom
