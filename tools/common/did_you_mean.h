// The known word nearest to one that nobody knows: "sumarize" -> "summarize".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Edits (a character added, left out, replaced, or swapped with its neighbour) that make `b` of
// `a`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of `known`, the first of several; nullopt when none is near: more than a third of the
// word's characters would have to change. Where no word is near, one whose start is counts:
// "totl" -> "total_ns", "dataloader" -> "data-loading".
std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& known);

// " (did you mean --threads?)", " (did you mean 'summarize'?)", or nothing when no word is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// Throws UsageError: "--sort: 'totl' is not one of total, count (did you mean 'total'?)".
[[noreturn]] void refuse_word(std::string_view option, const std::string& word,
                              const std::vector<std::string>& known);

}  // namespace traceloom
