#include "common/selection_options.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {

std::vector<std::string> split_words(const std::string& list) {
  std::vector<std::string> words;
  std::size_t start = 0;
  while (true) {
    const std::size_t comma = list.find(',', start);
    words.push_back(list.substr(start, comma - start));
    if (comma == std::string::npos) return words;
    start = comma + 1;
  }
}

std::vector<std::string> read_categories(const std::string& option, const std::string& list) {
  std::vector<std::string> categories = split_words(list);
  if (std::find(categories.begin(), categories.end(), "") != categories.end())
    throw UsageError(
        fmt::format("{}: '{}' has a category without a name ('{}' stands for events without one)",
                    option, list, kNoName));
  return categories;
}

std::vector<NumberRange> read_ranks(const std::string& option, const std::string& list) {
  if (list.empty()) return {};
  const std::optional<std::vector<NumberRange>> ranges = parse_number_ranges(list);
  if (!ranges)
    throw UsageError(fmt::format("{}: '{}' is not a list of ranks (try 0,4-7)", option, list));
  for (const NumberRange& range : *ranges)
    if (range.last < range.first)
      throw UsageError(
          fmt::format("{}: '{}-{}' ends before it begins", option, range.first, range.last));
  return *ranges;
}

std::optional<TimeSelection> read_time(const std::string& option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::optional<TimeSelection> selection = TimeSelection::parse(text);
  if (!selection)
    throw UsageError(
        fmt::format("{}: '{}' is not a span of time (try 1.5s:2s, 200ms: or :1s)", option, text));
  return selection;
}

std::optional<StepSelection> read_steps(const std::string& option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::optional<StepSelection> steps = StepSelection::parse(text);
  if (!steps)
    throw UsageError(
        fmt::format("{}: '{}' is not a span of steps (try 3:5, 3:, :5 or 3)", option, text));
  return steps;
}

NamePattern read_pattern(const std::string& option, const std::string& expression) {
  try {
    return NamePattern(expression);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
}

}  // namespace traceloom
