// What a verdict may not say of devices that are not understood, or of which only whole programs
// are known (device_doubts.h).
#pragma once

#include "analysis/verdict/verdict.h"

#include <cstdint>
#include <string>

namespace traceloom {

// How long whole programs ran in the steps of the basis that count.
std::int64_t find_programs_ns(const Run& run, const StepBasis& basis);

// Nothing tells the shares of a device that is not understood, nor how much of a program is
// computing.
void doubt_shares(Verdict& verdict, const Findings& found);
// Makes a verdict inconclusive that would be about such a device.
void doubt_kind(Verdict& verdict, const Findings& found);
// What to record to know it; empty where that is not what is missing.
std::string advice_of_doubts(const Verdict& verdict, const Findings& found);

}  // namespace traceloom
