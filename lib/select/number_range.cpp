#include "select/number_range.h"

#include <algorithm>
#include <charconv>

namespace traceloom {

bool is_in(const std::vector<NumberRange>& ranges, std::int64_t number) {
  return std::any_of(ranges.begin(), ranges.end(), [number](const NumberRange& range) {
    return number >= range.first && number <= range.last;
  });
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = -1;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end || number < 0) return std::nullopt;
  return number;
}

std::optional<std::vector<NumberRange>> parse_number_ranges(std::string_view text) {
  std::vector<NumberRange> ranges;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const std::size_t dash = word.find('-');
    const std::optional<std::int64_t> first = parse_number(word.substr(0, dash));
    const std::optional<std::int64_t> last =
        dash == std::string_view::npos ? first : parse_number(word.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    ranges.push_back({*first, *last});
    if (comma == std::string_view::npos) return ranges;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace traceloom
