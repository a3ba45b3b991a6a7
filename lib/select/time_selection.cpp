#include "select/time_selection.h"

#include "base/units.h"

namespace traceloom {
namespace {

// `text` is empty (no bound) or a duration; returns false if it is neither.
bool parse_time_bound(std::string_view text, std::optional<std::int64_t>& bound_ns) {
  if (text.empty()) return true;
  bound_ns = parse_duration(text);
  return bound_ns.has_value();
}

}  // namespace

std::optional<TimeSelection> TimeSelection::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  TimeSelection selection;
  if (!parse_time_bound(text.substr(0, colon), selection.from_ns)) return std::nullopt;
  if (!parse_time_bound(text.substr(colon + 1), selection.to_ns)) return std::nullopt;
  if (selection.from_ns && selection.to_ns && *selection.to_ns < *selection.from_ns)
    return std::nullopt;
  return selection;
}

}  // namespace traceloom
