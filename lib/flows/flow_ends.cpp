#include "flows/flow_ends.h"

#include <charconv>
#include <functional>
#include <optional>
#include <string_view>

namespace traceloom {
namespace {

// They tell 31, "31" and "0x1f" apart, which are three ids.
constexpr std::uint64_t kQuotedIds = 0x5851f42d4c957f2d;
constexpr std::uint64_t kHexIds = 0x94057b7ef767814f;

// Returns a number that is written in one way only: without leading zeros and in small letters.
std::optional<std::uint64_t> number_of(std::string_view digits, int base) {
  if (digits.empty() || digits.front() == '0') return std::nullopt;
  if (digits.find_first_of("ABCDEF") != std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

// Returns a number for an id. Ids mostly follow each other, and so must their numbers, so that
// ArrowTally needs little memory. Only an id that is no number at all is hashed.
std::uint64_t number_of_id(std::string_view key) {
  if (const std::optional<std::uint64_t> number = number_of(key, 10)) return *number;
  if (is_json_string(key)) {
    const std::string_view text = unquoted(key);
    if (const std::optional<std::uint64_t> number = number_of(text, 10))
      return kQuotedIds + *number;
    constexpr std::string_view kHex = "0x";
    if (text.starts_with(kHex))
      if (const std::optional<std::uint64_t> number = number_of(text.substr(kHex.size()), 16))
        return kHexIds + *number;
  }
  return std::hash<std::string_view>()(key);
}

}  // namespace

void FlowEnds::add(const Event& event, std::int64_t start_ns) {
  const std::string_view id = flow_id_key(event, scratch_);
  if (id.empty()) return;
  ends_.push_back({.arrow = label_.hash(event) + number_of_id(id),
                   .ns = start_ns,
                   .offset = event.offset,
                   .is_start = event.phase == 's'});
}

}  // namespace traceloom
