
#include "comparison/sides.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace traceloom {
namespace {

SideRow kernel(const std::string& op, const std::string& name, double calls = 1) {
  return {{Role::kernel, op, name}, 1000, 1000, calls};
}

// Rows run in the order of `rows`.
SideRank side_of(const std::vector<SideRow>& rows) {
  SideRank side;
  side.rows = rows;
  for (std::uint32_t i = 0; i < rows.size(); ++i) side.sequence.push_back(i);
  return side;
}

const RowMatch& match_of_base(const std::vector<RowMatch>& matches, std::size_t row) {
  for (const RowMatch& match : matches)
    for (const std::size_t base : match.base)
      if (base == row) return match;
  REQUIRE(false);
  return matches.front();
}

TEST_CASE("canonical_name: sizes, arguments and addresses are left out") {
  CHECK(canonical_name("triton_poi_fused_add_3") == canonical_name("triton_poi_fused_add_12"));
  CHECK(canonical_name("void flash::fwd<64, true>(Params)") ==
        canonical_name("void flash::fwd<128, false>(Params)"));
  CHECK(canonical_name("gemm_64x64_tn") != canonical_name("gemm_64x64_nt"));
  CHECK(canonical_name("call_0x7fab12 end") == "call_ end");
  CHECK(canonical_name("operator<") == "operator<");
}

TEST_CASE("match_rows: waits for a loader with another number of workers are one row") {
  const auto wait = [](const std::string& iterator) {
    const std::string name = "enumerate(DataLoader)#" + iterator + ".__next__";
    return SideRow{{Role::dataloader, "", name}, 1000, 1000, 1};
  };
  CHECK(canonical_name(wait("_SingleProcessDataLoaderIter").key.name) ==
        "enumerate(DataLoader)#.__next__");
  CHECK(canonical_name("enumerate(DataLoader)#_Iter") == "enumerate(DataLoader)#_Iter");
  const SideRank base = side_of({wait("_MultiProcessingDataLoaderIter")});
  const SideRank changed = side_of({wait("_SingleProcessDataLoaderIter")});
  const std::vector<RowMatch> matches = match_rows(base, changed);
  REQUIRE(matches.size() == 1);
  CHECK(matches[0].level == MatchLevel::canonical);
  CHECK(matches[0].changed == std::vector<std::size_t>{0});
}

TEST_CASE("divide_parts: quotients add up to the quotient of the sum") {
  CHECK(divide_parts({5, 5, 5}, 3) == std::vector<std::int64_t>{2, 2, 1});
  CHECK(divide_parts({1, 1}, 3) == std::vector<std::int64_t>{0, 0});
  CHECK(divide_parts({7, 3, 0}, 5) == std::vector<std::int64_t>{1, 1, 0});
  CHECK(divide_parts({}, 4).empty());
}

TEST_CASE("match_rows: names that are the same match before all else") {
  const SideRank base = side_of({kernel("aten::mm", "gemm_64"), kernel("aten::mm", "gemm_128")});
  const SideRank changed =
      side_of({kernel("aten::mm", "gemm_128"), kernel("aten::mm", "gemm_256")});
  const std::vector<RowMatch> matches = match_rows(base, changed);
  CHECK(match_of_base(matches, 1).level == MatchLevel::exact);
  CHECK(match_of_base(matches, 1).changed == std::vector<std::size_t>{0});
  CHECK(match_of_base(matches, 0).level == MatchLevel::canonical);
  CHECK(match_of_base(matches, 0).changed == std::vector<std::size_t>{1});
}

TEST_CASE("match_rows: kernels with one canonical name match by their operator and place") {
  const SideRank base = side_of({kernel("aten::mm", "g_1", 4), kernel("aten::addmm", "g_2", 4),
                                 kernel("aten::mm", "g_3", 2)});
  const SideRank changed = side_of({kernel("aten::mm", "g_7", 4), kernel("aten::addmm", "g_8", 4),
                                    kernel("aten::mm", "g_9", 2)});
  const std::vector<RowMatch> matches = match_rows(base, changed);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(match_of_base(matches, i).level == MatchLevel::canonical);
    CHECK(match_of_base(matches, i).changed == std::vector<std::size_t>{i});
  }
}

TEST_CASE("match_rows: one kernel becomes two in its place") {
  const SideRank base =
      side_of({kernel("a", "first"), kernel("aten::mm", "gemm"), kernel("b", "last")});
  const SideRank changed = side_of({kernel("a", "first"), kernel("aten::mm", "gemm_splitK"),
                                    kernel("aten::mm", "reduce"), kernel("b", "last")});
  const RowMatch match = match_of_base(match_rows(base, changed), 1);
  CHECK(match.level == MatchLevel::place);
  CHECK(match.changed == std::vector<std::size_t>{1, 2});
}

TEST_CASE("match_rows: a kernel of Triton takes the operators that its name lists") {
  const SideRank base =
      side_of({kernel("aten::native_layer_norm", "norm"), kernel("aten::mm", "gemm"),
               kernel("aten::add", "triton_poi_fused_add_3"), kernel("b", "last")});
  const SideRank changed = side_of({kernel("aten::mm", "gemm"),
                                    kernel("aten::add", "triton_red_fused_add_native_layer_norm_5"),
                                    kernel("b", "last")});
  const RowMatch match = match_of_base(match_rows(base, changed), 0);
  CHECK(match.level == MatchLevel::place);
  CHECK(match.base == std::vector<std::size_t>{0, 2});
  CHECK(match.changed == std::vector<std::size_t>{1});
  const RowMatch back = match_of_base(match_rows(changed, base), 1);
  CHECK(back.changed == std::vector<std::size_t>{0, 2});
}

TEST_CASE("match_rows: kernels of Triton on both sides match alike in both directions") {
  const SideRank some = side_of({kernel("aten::mul", "k"), kernel("aten::mm", "gemm"),
                                 kernel("aten::add", "triton_poi_fused_add_2"), kernel("b", "last"),
                                 kernel("aten::layer_norm", "norm")});
  const SideRank others =
      side_of({kernel("aten::mm", "gemm"), kernel("aten::add", "triton_red_fused_mul_layer_norm_1"),
               kernel("b", "last"), kernel("aten::add", "plain")});
  const std::vector<RowMatch> there = match_rows(some, others);
  const std::vector<RowMatch> back = match_rows(others, some);
  CHECK(there.size() == back.size());
  for (const RowMatch& match : there)
    CHECK(std::any_of(back.begin(), back.end(), [&](const RowMatch& other) {
      return other.base == match.changed && other.changed == match.base &&
             other.level == match.level;
    }));
}

TEST_CASE("match_rows: kernels of Triton match by their order if they are numbered otherwise") {
  const auto chain = [](const std::vector<std::int64_t>& times, int first) {
    std::vector<SideRow> rows;
    for (const std::int64_t ns : times) {
      rows.push_back(kernel("relu", "triton_poi_fused_relu_" + std::to_string(first++)));
      rows.back().total_ns = ns;
    }
    return rows;
  };
  const auto partners = [](const std::vector<SideRow>& base, const std::vector<SideRow>& changed) {
    std::vector<std::vector<std::size_t>> found;
    const std::vector<RowMatch> matches = match_rows(side_of(base), side_of(changed));
    for (std::size_t row = 0; row < base.size(); ++row)
      found.push_back(match_of_base(matches, row).changed);
    return found;
  };
  using Partners = std::vector<std::vector<std::size_t>>;
  // Another kernel took number 8, and the others count on: 9 stands before 10.
  CHECK(partners(chain({200, 150, 90}, 8), chain({201, 149, 90}, 9)) == Partners{{0}, {1}, {2}});
  CHECK(partners(chain({200, 150, 90}, 0), chain({150, 90}, 0)) == Partners{{}, {0}, {1}});
  CHECK(partners(chain({200, 150, 90}, 0), chain({200, 90}, 0)) == Partners{{0}, {}, {1}});
  CHECK(partners(chain({150, 90}, 0), chain({200, 151, 90}, 0)) == Partners{{1}, {2}});
  // One is gone and another one is new: the others keep their names.
  std::vector<SideRow> base = chain({300, 300, 10}, 0);
  std::vector<SideRow> changed = chain({300, 0, 10, 300}, 0);
  changed.erase(changed.begin() + 1);
  CHECK(partners(base, changed) == Partners{{0}, {2}, {1}});
  // With the same numbers on both sides, the names tell more than the times.
  CHECK(partners(chain({200, 150}, 0), chain({150, 200}, 0)) == Partners{{0}, {1}});
}

TEST_CASE("match_rows: rows without a partner are new or gone") {
  const SideRank base = side_of({kernel("a", "first"), kernel("c", "old"), kernel("b", "last")});
  const SideRank changed =
      side_of({kernel("a", "first"), kernel("b", "last"), kernel("d", "fresh")});
  const std::vector<RowMatch> matches = match_rows(base, changed);
  CHECK(match_of_base(matches, 1).level == MatchLevel::none);
  CHECK(match_of_base(matches, 1).changed.empty());
  CHECK(matches.back().base.empty());
  CHECK(matches.back().changed == std::vector<std::size_t>{2});
}

Capture capture_of(const std::string& name) {
  Capture capture;
  capture.name = name;
  capture.world_size = 2;
  capture.devices = {"H100"};
  capture.ranks.resize(2);
  capture.ranks[1].rank = 1;
  capture.shapes = {{"aten::add", "[[8]]", 100}, {"aten::mm", "[[64, 8]]", 900}};
  return capture;
}

TEST_CASE("find_differences: what makes times incomparable") {
  const Capture base = capture_of("base/c0");
  Capture changed = capture_of("new/c0");
  CHECK(find_differences({base}, {changed}).empty());
  changed.devices = {"A100"};
  REQUIRE(find_differences({base}, {changed}).size() == 1);
  CHECK(find_differences({base}, {changed})[0].text == "devices: H100 in base/c0, A100 in new/c0");
  CHECK(find_differences({base}, {changed})[0].forbids);
  changed = capture_of("new/c0");
  changed.world_size = 4;
  changed.ranks.pop_back();
  const std::vector<Difference> found = find_differences({base}, {changed});
  REQUIRE(found.size() == 2);
  CHECK(found[0].text == "ranks: 0 1 in base/c0, 0 in new/c0");
  CHECK(found[1].text == "world-size: 2 ranks in base/c0, 4 ranks in new/c0");
}

TEST_CASE("find_differences: shapes of most of the time, not of a little of it") {
  const Capture base = capture_of("base/c0");
  Capture changed = capture_of("new/c0");
  changed.shapes[0].shapes = "[[16]]";
  CHECK(find_differences({base}, {changed}).empty());
  changed.shapes[1].shapes = "[[128, 8]]";
  REQUIRE(find_differences({base}, {changed}).size() == 1);
  CHECK(find_differences({base}, {changed})[0].text ==
        "shapes: aten::mm has [[64, 8]] in base/c0, [[128, 8]] in new/c0");
  changed.shapes.clear();
  REQUIRE(find_differences({base}, {changed}).size() == 1);
  CHECK(find_differences({base}, {changed})[0].key == "shapes-recorded");
  CHECK(!find_differences({base}, {changed})[0].forbids);
}

TEST_CASE("find_differences: a side that is not alike within itself") {
  Capture other = capture_of("base/c1");
  other.devices = {"A100"};
  const std::vector<Difference> found =
      find_differences({capture_of("base/c0"), other}, {capture_of("new/c0")});
  REQUIRE(found.size() == 1);
  CHECK(found[0].text == "devices: H100 in base/c0, A100 in base/c1");
}

}  // namespace
}  // namespace traceloom
