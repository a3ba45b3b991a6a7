// Simulates the settings in which a comparison is hard, on step times alone, and prints its rates:
// steps of several kinds, captures of unequal length, stalls, unequal noise, stores of runs, slow
// steps, calls that vary, and whether "found in 90 of 100 cases" is true.
#pragma once

#include <cstddef>

namespace traceloom::bench {

// Prints a table; returns false if a rate misses what was promised.
bool run_settings(std::size_t pairs);

}  // namespace traceloom::bench
