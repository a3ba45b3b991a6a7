// The rows of two sides that are the same work, although their names differ.
#pragma once

#include "comparison/sides.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// canonical_name: returns the part of a kernel's name that stays when it is compiled for other
// sizes.
//
//   canonical_name("ampere_fp16_s16816gemm_fp16_128x128_ldg8_stages_64x3_tn")
//   == canonical_name("ampere_fp16_s16816gemm_fp16_64x64_ldg8_stages_32x6_tn")
//
// It leaves out template arguments, parameters, addresses and all numbers, and of a wait for
// torch's DataLoader the class of the iterator. Different kernels may have one canonical name: a
// GEMM with other tiles may be another GEMM. So it only joins names that are missing on the other
// side, and match_rows() looks at their operators and places, too.

std::string canonical_name(std::string_view name);

// match_rows: finds the rows of two sides that are the same work.
//
//   for (const RowMatch& match : match_rows(base, changed)) use(match.base, match.changed);
//
// Each row is in one match. They are found in this order, each among the rows that are left:
// 1. the same name, role, operator and module; then the same name, role and operator, where all
//    modules of a kernel that the other side does not have are one match (and all its modules, if
//    only one side has such rows and both call it as often); then the same name and role;
// 2. the same canonical name (match_rows.h) and role, if the operator and the calls a step are
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

}  // namespace traceloom
