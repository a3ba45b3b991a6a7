// Finds the known word that is nearest to an unknown one: "sumarize" -> "summarize".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Returns how many edits turn `a` into `b`. An edit adds, removes or replaces a character, or swaps
// two neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the nearest of `known`, the first one if several are equally near. A word is near if at
// most a third of its characters have to change. If no word is near, one whose start is near is
// returned
// ("totl" -> "total_ns", "dataloader" -> "data-loading"), else nullopt.
std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& known);

// Returns " (did you mean --threads?)" or " (did you mean 'summarize'?)"; "" if no word is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// Throws UsageError: "--sort: 'totl' is not one of total, count (did you mean 'total'?)".
[[noreturn]] void refuse_word(std::string_view option, const std::string& word,
                              const std::vector<std::string>& known);

}  // namespace traceloom
