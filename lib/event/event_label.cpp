#include "event/event_label.h"

#include <cstddef>

namespace traceloom {
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
