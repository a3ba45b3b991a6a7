// The two sides of a comparison: their mean steps, the rows of both that are the same work, and
// what only one of them has.
#pragma once

#include "comparison/captures/capture.h"
#include "comparison/captures/compared_steps.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// SideRank: the mean step of one rank over all captures of a side.
//
//   const SideRank base = side_rank(captures, 0, steps);
//   base.rows[0].exclusive_ns                              // their sum is base.step_ns, exactly
//
// Each capture counts alike, whatever its number of steps, and kinds of steps count for their share
// (ComparedSteps). Whole ns are shared out by the largest
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
  // CaptureRank::sequence of the first capture, the longest of its contents, as indices in these
  // rows.
  std::vector<std::uint32_t> sequence;
};

// Says whether rows that differ by their modules alone stay apart.
enum class ModuleRows : std::uint8_t { apart, joined };

// Captures in which the rank has no step are left out.
SideRank side_rank(std::span<const Capture> captures, std::int64_t rank,
                   const ComparedSteps& steps = {}, ModuleRows modules = ModuleRows::apart);

// Says whether rows of the rank name modules: {true, false} if only some of the captures do. A
// capture without a step of the rank says nothing.
std::set<bool> name_modules(const std::vector<Capture>& captures, std::int64_t rank);

// Returns the ranks that have steps in any capture, ascending.
std::vector<std::int64_t> ranks_with_steps(const std::vector<Capture>& captures);

// Divides each part by `by`, so that the quotients add up to the quotient of their sum, rounded
// down. Parts are not negative.
std::vector<std::int64_t> divide_parts(const std::vector<std::int64_t>& parts, std::int64_t by);

// match_rows: finds the rows of two sides that are the same work.
//
//   for (const RowMatch& match : match_rows(base, changed)) use(match.base, match.changed);
//
// Each row is in one match. Triton's kernels that are numbered otherwise on both sides come first:
// triton_poi_fused_add_3 and triton_poi_fused_add_4 are the same if they are so by their order and,
// where one side has more of them, by their times. Then rows are found in this order, each among
// those that are left:
// 1. the same name, role, operator and module; then the same name, role and operator, where all
//    modules of a kernel that the other side does not have are one match (and all its modules, if
//    only one side has such rows and both call it as often); then the same name and role;
// 2. the same canonical_name() and role, if the operator and the calls a step are
//    the same, or if no other row could be meant;
// 3. the same place: kernels of one operator in one module, if a side has only one of them; then
//    kernels of one stream between the same two known kernels. One may have become
//    several there (split), or several one (fused). So has a kernel whose operator the name of a
//    new kernel of Triton lists;
// 4. the same operator.
// In 2 and 4 rows of one module match first, then those of different modules. A row without a match
// is new or gone.

enum class MatchLevel : std::uint8_t { exact, canonical, place, by_operator, none };
inline constexpr std::size_t kMatchLevels = 5;
// Returns "name", "canonical name", "place", "operator" or "none".
std::string_view to_string(MatchLevel level);

struct RowMatch {
  MatchLevel level = MatchLevel::none;
  std::vector<std::size_t> base;     // indices in SideRank::rows, ascending
  std::vector<std::size_t> changed;  // the same of the other side
};

std::vector<RowMatch> match_rows(const SideRank& base, const SideRank& changed);

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
