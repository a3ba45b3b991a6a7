// NumberRange: a range of ranks or of steps.
//
//   std::vector<NumberRange> ranks = parse_number_ranges("0,4-7").value();
//   is_in(ranks, 5);   // true
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace traceloom {

// Both ends belong to the range.
struct NumberRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

bool is_in(const std::vector<NumberRange>& ranges, std::int64_t number);

// Parses "0,4-7" into ranges; nullopt if the text is no list of numbers >= 0. A range may end
// before it begins: the caller can report that.
std::optional<std::vector<NumberRange>> parse_number_ranges(std::string_view text);

// Parses a whole number >= 0; nullopt for any other text.
std::optional<std::int64_t> parse_number(std::string_view text);

}  // namespace traceloom
