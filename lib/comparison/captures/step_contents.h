// StepContents tells what ran in the steps of a capture.
#pragma once

#include "analysis/waits/step_roles.h"
#include "run/run.h"

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

// StepContents: which steps of a capture had the same work.
//
//   const StepContents contents = find_contents(run, roles, steps);
//   contents.different[contents.of_step[5]]                // {"adam_kernel", "gemm", ...}
//
// The content of a step is the set of canonical names of the kernels and collectives that began in
// it, over all ranks; of operators and collectives on ranks without a device. Numbers of calls,
// copies and times are none of it.

using StepContent = std::vector<std::string>;  // ascending

// The most frequent contents of a capture stay, and others are joined, each to that with which it
// has most in common. Where more than one step of thirty has others, one more stays, and says so.
inline constexpr std::size_t kMostContents = 5;

struct StepContents {
  std::vector<StepContent> different = {};  // at most kMostContents + 1, by their first step
  std::vector<std::uint32_t> of_step = {};  // index in `different`; empty: not known

  std::uint32_t count() const { return static_cast<std::uint32_t>(different.size()); }
};

// Returns the share of the names of both that both have.
double overlap(const StepContent& one, const StepContent& other);
// Returns the index of the content with the largest overlap, the first of several. There is one.
std::uint32_t nearest_content(const StepContent& one, const std::vector<StepContent>& others);

// The first step is none of those that are compared, so it has the content that is nearest. All
// processes of a team call this, and get the same.
StepContents find_contents(const Run& run, const std::vector<RankRoles>& roles,
                           const std::vector<StepKey>& steps);

// Returns the times of the steps on a rank, ascending by key; of several with one key, the longest.
std::vector<std::pair<StepKey, Interval>> times_of(const RankRoles& rank,
                                                   const std::vector<StepKey>& steps);

}  // namespace traceloom
