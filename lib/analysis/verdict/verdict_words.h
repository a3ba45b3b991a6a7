// The words of a verdict (evidence, advice, sentences about its shares), and what it doubts.
//
//   for (const std::string& line : evidence_of(verdict, found)) fmt::print("  - {}\n", line);
#pragma once

#include "analysis/verdict/verdict.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// Returns "70.2 % of the mean step of 4 ranks".
std::string percent_text(const StepShare& share);
// Returns the time of all steps as that of one step: "5.300 ms".
std::string step_text(std::int64_t ns, const StepOwner& of);
// Returns "aten::normal_ 6.000 ms in aten::randn, aten::fill_ 1.200 ms", the time of one step.
std::string names_text(const std::vector<NamedTime>& names, const StepOwner& of, std::size_t most);
// Returns the longest name, if it has half of the row's time.
std::string most_text(const AccountSum& sum, const StepOwner& of);
// Returns "compute or communication".
std::string either_text(const std::vector<Limit>& limits);
// Returns "ranks 0 or 2 hold up the others", "rank 0 holds up the others".
std::string candidates_text(const Straggler& straggler);
// Returns "Verdict: data-loading (at most 99.723 ms of 142.036 ms, 70.2 % of the mean step of 4
// ranks)".
std::string verdict_headline(const Verdict& verdict);
std::vector<std::string> evidence_of(const Verdict& verdict, const Findings& found);
// Returns the times that are in no gain, with the reason.
std::vector<std::string> left_out_of(const Findings& found);
// Returns what would save time, by gain. It recommends nothing that the run already has.
std::vector<Remedy> remedies_of(const Verdict& verdict, const Findings& found);
// Returns what to do next or, if the verdict is inconclusive, what to record.
std::string next_of(const Verdict& verdict, const Findings& found);

// These limit a verdict about devices that are not understood, or of which only whole programs are
// known (device_work.h).

// Returns the time of whole programs in the counted steps of the basis.
std::int64_t find_programs_ns(const Run& run, const StepBasis& basis);

// Marks the shares of a device that is not understood as unknown, and the share of computing in
// programs.
void doubt_shares(Verdict& verdict, const Findings& found);
// Takes whole programs out of the share of computing; call it after the kind has been decided.
void take_out_programs(Verdict& verdict, const Findings& found);
// Makes a verdict inconclusive if it would be about such a device.
void doubt_kind(Verdict& verdict, const Findings& found);
// Returns what to record to know more; nothing if no device is in doubt.
std::optional<std::string> record_for_doubts(const Verdict& verdict, const Findings& found);

// Returns what to do, in lines: the next step, and each remedy with its gain.
std::vector<std::string> advice_lines(const Verdict& verdict);

}  // namespace traceloom
