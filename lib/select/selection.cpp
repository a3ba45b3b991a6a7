#include "select/selection.h"

#include "base/ascii.h"
#include "base/problems.h"
#include "base/units.h"

#include <algorithm>
#include <re2/re2.h>
#include <tuple>

namespace traceloom {

bool is_in(const std::vector<NumberRange>& ranges, std::int64_t number) {
  return std::any_of(ranges.begin(), ranges.end(), [number](const NumberRange& range) {
    return number >= range.first && number <= range.last;
  });
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  const auto number = whole_number<std::int64_t>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

std::optional<std::vector<NumberRange>> parse_number_ranges(std::string_view text) {
  std::vector<NumberRange> ranges;
  const bool is_wrong = any_part(text, [&](std::string_view word) {
    const std::size_t dash = word.find('-');
    const std::optional<std::int64_t> first = parse_number(word.substr(0, dash));
    const std::optional<std::int64_t> last =
        dash == std::string_view::npos ? first : parse_number(word.substr(dash + 1));
    if (first && last) ranges.push_back({*first, *last});
    return !first || !last;
  });
  return is_wrong ? std::nullopt : std::optional(ranges);
}

namespace {

// Reads "A:B", of which both may be empty (no bound). Returns false if `parse` knows no such bound,
// or if the second is less than the first.
bool parse_bounds(std::string_view text, std::optional<std::int64_t> (*parse)(std::string_view),
                  std::optional<std::int64_t>& first, std::optional<std::int64_t>& last) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const auto read = [&](std::string_view word, std::optional<std::int64_t>& bound) {
    if (!word.empty()) bound = parse(word);
    return word.empty() || bound.has_value();
  };
  return read(text.substr(0, colon), first) && read(text.substr(colon + 1), last) &&
         !(first && last && *last < *first);
}

}  // namespace

std::optional<TimeSelection> TimeSelection::parse(std::string_view text) {
  TimeSelection selection;
  const bool fits = parse_bounds(text, &parse_duration, selection.from_ns, selection.to_ns);
  return fits ? std::optional(selection) : std::nullopt;
}

std::optional<StepSelection> StepSelection::parse(std::string_view text) {
  StepSelection selection;
  if (parse_bounds(text, &parse_number, selection.first, selection.last)) return selection;
  selection.first = selection.last = parse_number(text);
  return selection.first ? std::optional(selection) : std::nullopt;
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

namespace {

std::shared_ptr<const RE2> compile(const std::string& expression) {
  auto regex = std::make_shared<const RE2>(expression, RE2::Quiet);
  if (!regex->ok())
    throw UsageError("'" + expression + "' is not a regular expression: " + regex->error());
  return regex;
}

bool is_found(const std::vector<NamePattern>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [name](const NamePattern& pattern) { return pattern.found_in(name); });
}

}  // namespace

NamePattern::NamePattern(const std::string& expression)
    : expression_(expression), regex_(compile(expression)) {}

NamePattern NamePattern::exactly(std::string_view name) {
  return NamePattern("^" + RE2::QuoteMeta({name.data(), name.size()}) + "$");
}

bool NamePattern::found_in(std::string_view name) const {
  return RE2::PartialMatch({name.data(), name.size()}, *regex_);
}

bool has_category(std::string_view list, const std::vector<std::string>& wanted) {
  return any_part(list, [&](std::string_view category) {
    return std::find(wanted.begin(), wanted.end(), category) != wanted.end();
  });
}

bool LabelFilter::accepts(std::string_view name, std::string_view category) const {
  return (categories.empty() || has_category(chosen_category(category), categories)) &&
         (names.empty() || is_found(names, name)) && !excludes(name, category);
}

bool LabelFilter::excludes(std::string_view name, std::string_view category) const {
  return (!excluded_categories.empty() &&
          has_category(chosen_category(category), excluded_categories)) ||
         is_found(excluded_names, name);
}

}  // namespace traceloom
