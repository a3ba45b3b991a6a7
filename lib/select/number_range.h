// NumberRange: some of the ranks, or of the steps.
//
//   std::vector<NumberRange> ranks = parse_number_ranges("0,4-7").value();
//   is_in(ranks, 5);   // true
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace traceloom {

// Both ends belong to it.
struct NumberRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

bool is_in(const std::vector<NumberRange>& ranges, std::int64_t number);

// "0,4-7" -> ranges; nullopt when it is no list of numbers from 0 on. A range may end before it
// begins: whoever asked can say so.
std::optional<std::vector<NumberRange>> parse_number_ranges(std::string_view text);

// A whole number from 0 on and nothing else; nullopt for any other text.
std::optional<std::int64_t> parse_number(std::string_view text);

}  // namespace traceloom
