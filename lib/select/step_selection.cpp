#include "select/step_selection.h"

#include "select/number_range.h"

#include <algorithm>
#include <tuple>

namespace traceloom {
namespace {

// `text` is empty (no bound) or a number; returns false if it is neither.
bool parse_step_bound(std::string_view text, std::optional<std::int64_t>& bound) {
  if (text.empty()) return true;
  bound = parse_number(text);
  return bound.has_value();
}

}  // namespace

std::optional<StepSelection> StepSelection::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  StepSelection selection;
  if (!parse_step_bound(text.substr(0, colon), selection.first)) return std::nullopt;
  if (colon == std::string_view::npos) {
    selection.last = selection.first;
    return selection.first ? std::optional(selection) : std::nullopt;
  }
  if (!parse_step_bound(text.substr(colon + 1), selection.last)) return std::nullopt;
  if (selection.first && selection.last && *selection.last < *selection.first) return std::nullopt;
  return selection;
}

std::vector<TimeWindow> StepSelection::windows_of(std::vector<StepStart> starts) const {
  std::sort(starts.begin(), starts.end(), [](const StepStart& a, const StepStart& b) {
    return std::tie(a.begin_ns, a.number) < std::tie(b.begin_ns, b.number);
  });
  std::vector<TimeWindow> windows;
  const auto add = [&](std::int64_t from_ns, std::int64_t to_ns) {
    if (!windows.empty() && windows.back().to_ns == from_ns)
      windows.back().to_ns = to_ns;
    else if (from_ns < to_ns)
      windows.push_back({from_ns, to_ns});
  };
  constexpr TimeWindow kAll;
  if (!first) add(kAll.from_ns, starts.empty() ? kAll.to_ns : starts.front().begin_ns);
  for (std::size_t i = 0; i < starts.size(); ++i)
    if (contains(starts[i].number))
      add(starts[i].begin_ns, i + 1 < starts.size() ? starts[i + 1].begin_ns : kAll.to_ns);
  return windows;
}

}  // namespace traceloom
