#include "event/event_side.h"

#include "base/ascii.h"

#include <algorithm>
#include <string>

namespace traceloom {

EventSide event_side(std::string_view category) {
  const std::string lower = to_lower(category);
  std::string_view rest = lower;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (is_device_category(rest.substr(0, comma))) return EventSide::device;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return EventSide::host;
}

}  // namespace traceloom
