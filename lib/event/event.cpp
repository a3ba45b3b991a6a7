#include "event/event.h"

#include "base/ascii.h"
#include "base/json_string.h"

#include <cstddef>

namespace traceloom {
namespace {

// Returns "7.0", "7e0" and "-0" as the integer text that they mean; empty if the number is no
// integer of at most 30 digits.
std::string integer_text(std::string_view number) {
  const bool negative = !number.empty() && number.front() == '-';
  if (negative) number.remove_prefix(1);
  const std::size_t integer_end = number.find_first_not_of("0123456789");
  std::string digits(number.substr(0, integer_end));
  if (digits.empty()) return {};
  if (integer_end != std::string_view::npos) {
    std::string_view rest = number.substr(integer_end);
    if (rest.front() == '.') {
      const std::size_t zeros_end = rest.find_first_not_of('0', 1);
      if (zeros_end == 1) return {};
      rest = zeros_end == std::string_view::npos ? std::string_view{} : rest.substr(zeros_end);
    }
    if (!rest.empty()) {
      if (rest.front() != 'e' && rest.front() != 'E') return {};
      rest.remove_prefix(1);
      if (!rest.empty() && rest.front() == '+') rest.remove_prefix(1);
      if (rest.empty() || rest.size() > 2) return {};
      std::size_t zeros = 0;
      for (const char c : rest) {
        if (c < '0' || c > '9') return {};
        zeros = zeros * 10 + static_cast<std::size_t>(c - '0');
      }
      digits.append(zeros, '0');
    }
  }
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return "0";
  digits.erase(0, first);
  if (digits.size() > 30) return {};
  return negative ? "-" + digits : digits;
}

// True for the usual ids: digits without a leading zero, fewer than 30.
bool is_plain_integer(std::string_view value) {
  return value.size() < 30 && value.front() != '0' &&
         value.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string decoded(std::string_view value) {
  return is_json_string(value) ? decode_json_string(unquoted(value)) : std::string(value);
}

std::string canonical_id(std::string_view value) {
  if (value.empty() || value == "null") return {};
  if (is_plain_integer(value)) return std::string(value);
  const std::string text = decoded(value);
  if (std::string integer = integer_text(text); !integer.empty()) return integer;
  return is_json_string(value) ? "\"" + text + "\"" : text;
}

std::optional<std::int64_t> json_integer(std::string_view value) {
  const auto plain = whole_number<std::int64_t>(value);
  return plain ? plain : whole_number<std::int64_t>(canonical_id(value));
}

namespace {

// The most characters between the values of name and category, in either order, if only one key
// stands between them: `", "name": "`. Another member between them would make the gap longer.
constexpr std::size_t kWidestGap = 11;

}  // namespace

std::string_view string_or_nothing(std::string_view value) {
  return is_json_string(value) ? value : std::string_view{};
}

std::string_view label_text(const Event& event, std::string& scratch) {
  const std::string_view name = string_or_nothing(event.text(Key::name));
  const std::string_view category = string_or_nothing(event.text(Key::cat));
  if (!name.empty() && !category.empty()) {
    const std::string_view first = name.data() < category.data() ? name : category;
    const std::string_view second = name.data() < category.data() ? category : name;
    const char* const first_end = first.data() + first.size();
    if (static_cast<std::size_t>(second.data() - first_end) <= kWidestGap)
      return {first.data(), static_cast<std::size_t>(second.data() + second.size() - first.data())};
  }
  scratch.assign(name.data(), name.size());
  scratch += '\0';
  scratch.append(category.data(), category.size());
  return scratch;
}

}  // namespace traceloom
