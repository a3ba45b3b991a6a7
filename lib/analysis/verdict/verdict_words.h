// The words of a verdict: evidence, advice, and sentences about its shares.
//
//   for (const std::string& line : evidence_of(verdict, found)) fmt::print("  - {}\n", line);
#pragma once

#include "analysis/verdict/verdict.h"

#include <string>
#include <vector>

namespace traceloom {

// Returns "70.2 % of the mean step of 4 ranks".
std::string percent_text(const StepShare& share);
// Returns "compute or communication".
std::string either_text(const std::vector<Limit>& limits);
// Returns "ranks 0 or 2 hold up the others", "rank 0 holds up the others".
std::string candidates_text(const Straggler& straggler);
// Returns "Verdict: data-loading (70.2 % of the mean step of 4 ranks)".
std::string verdict_headline(const Verdict& verdict);
std::vector<std::string> evidence_of(const Verdict& verdict, const Findings& found);
std::vector<Advice> advice_of(const Verdict& verdict, const Findings& found);
std::vector<std::string> texts_of(const std::vector<Advice>& advice);

}  // namespace traceloom
