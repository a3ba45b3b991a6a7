// SideRank: the mean step of one rank over all captures of a side.
//
//   const SideRank base = side_rank(captures, 0);
//   base.rows[0].exclusive_ns                              // their sum is base.step_ns, exactly
//
// Each capture counts alike, whatever its number of steps. Whole ns are shared out by the largest
// remainder, so that parts always add up.
#pragma once

#include "comparison/captures/capture.h"

#include <cstdint>
#include <vector>

namespace traceloom {

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

  std::int64_t role_ns(Role role) const;
};

// Says whether rows that differ by their modules alone stay apart.
enum class ModuleRows : std::uint8_t { apart, joined };

// Captures in which the rank has no step are left out.
SideRank side_rank(const std::vector<Capture>& captures, std::int64_t rank,
                   ModuleRows modules = ModuleRows::apart);

struct ModuleCaptures {
  std::size_t all = 0;           // captures in which a rank has steps
  std::size_t with_modules = 0;  // of these, those in which a row of it names a module
};
ModuleCaptures count_modules(const std::vector<Capture>& captures, std::int64_t rank);

// Returns the ranks that have steps in any capture, ascending.
std::vector<std::int64_t> ranks_with_steps(const std::vector<Capture>& captures);

// Divides each part by `by`, so that the quotients add up to the quotient of their sum, rounded
// down. Parts are not negative.
std::vector<std::int64_t> divide_parts(const std::vector<std::int64_t>& parts, std::int64_t by);

}  // namespace traceloom
