// Limits a verdict about devices that are not understood, or of which only whole programs are known
// (device_facts.h).
#pragma once

#include "analysis/verdict/verdict.h"

#include <cstdint>
#include <optional>

namespace traceloom {

// Returns the time of whole programs in the counted steps of the basis.
std::int64_t find_programs_ns(const Run& run, const StepBasis& basis);

// Marks the shares of a device that is not understood as unknown, and the share of computing in
// programs.
void doubt_shares(Verdict& verdict, const Findings& found);
// Takes whole programs out of the share of computing; call it after the kind has been decided.
void take_out_programs(Verdict& verdict, const Findings& found);
// Makes a verdict inconclusive if it would be about such a device.
void doubt_kind(Verdict& verdict, const Findings& found);
// Returns advice about what to record to know more; nothing if no device is in doubt.
std::optional<Advice> advice_of_doubts(const Verdict& verdict, const Findings& found);

}  // namespace traceloom
