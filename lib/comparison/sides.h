// The two sides of a comparison: their mean steps, and what only one of them has.
#pragma once

#include "comparison/captures/capture.h"

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// SideRank: the mean step of one rank over all captures of a side.
//
//   const SideRank base = side_rank(captures, 0);
//   base.rows[0].exclusive_ns                              // their sum is base.step_ns, exactly
//
// Each capture counts alike, whatever its number of steps. Whole ns are shared out by the largest
// remainder, so that parts always add up.

// Means a step; a row that a capture does not have counts as 0 there.
struct SideRow {
  RowKey key;
  std::int64_t exclusive_ns = 0;
  std::int64_t total_ns = 0;  // rounded by itself
  double count = 0;
};

struct SideRank {
  std::int64_t rank = 0;
  std::int64_t step_ns = 0;
  std::vector<SideRow> rows;  // ascending by key
  // CaptureRank::sequence of the first capture, as indices in these rows.
  std::vector<std::uint32_t> sequence;
};

// Says whether rows that differ by their modules alone stay apart.
enum class ModuleRows : std::uint8_t { apart, joined };

// Captures in which the rank has no step are left out.
SideRank side_rank(const std::vector<Capture>& captures, std::int64_t rank,
                   ModuleRows modules = ModuleRows::apart);

// Says whether rows of the rank name modules: {true, false} if only some of the captures do. A
// capture without a step of the rank says nothing.
std::set<bool> name_modules(const std::vector<Capture>& captures, std::int64_t rank);

// Returns the ranks that have steps in any capture, ascending.
std::vector<std::int64_t> ranks_with_steps(const std::vector<Capture>& captures);

// Divides each part by `by`, so that the quotients add up to the quotient of their sum, rounded
// down. Parts are not negative.
std::vector<std::int64_t> divide_parts(const std::vector<std::int64_t>& parts, std::int64_t by);

// find_differences: what two sides do not have in common, besides their times.
//
//   for (const Difference& difference : find_differences(base, changed))
//     if (difference.forbids) fmt::print("{}\n", difference.text);

// The differences that make times incomparable, unless the caller allows them.
inline constexpr std::array<std::string_view, 4> kForbidding{"ranks", "world-size", "devices",
                                                             "shapes"};

struct Difference {
  std::string_view key;  // one of kForbidding, or "producer", "python", "shapes-recorded"
  std::string text;      // "shapes: aten::mm has [[64, 32]] in base/c0, [[128, 32]] in new/c0"
  bool forbids = false;
};

// Compares the captures of each side with its first one, then both sides. Shapes differ if
// operators with more than half of the device time of those that both have were called with input
// shapes that the other capture does not have.
std::vector<Difference> find_differences(const std::vector<Capture>& base,
                                         const std::vector<Capture>& changed);

}  // namespace traceloom
