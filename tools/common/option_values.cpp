#include "common/option_values.h"

#include "base/problems.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace traceloom {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // These are the rows i-2, i-1 and i of the table of distances between the starts of a and b.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

namespace {

std::string_view without_dashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

// Returns the least distance from `word` to a start of `candidate`, without the dashes of an
// option.
std::size_t distance_to_start(std::string_view word, std::string_view candidate) {
  candidate = without_dashes(candidate);
  std::size_t least = word.size();
  for (std::size_t length = 1; length <= candidate.size(); ++length)
    least = std::min(least, edit_distance(word, candidate.substr(0, length)));
  return least;
}

template <typename Distance>
std::optional<std::string> nearest_by(const Distance& distance_to, std::string_view word,
                                      const std::vector<std::string>& known) {
  std::optional<std::string> nearest;
  std::size_t least = word.size() / 3 + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = distance_to(word, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& known) {
  const std::optional<std::string> nearest = nearest_by(edit_distance, word, known);
  const std::string_view bare = without_dashes(word);
  return nearest || bare.size() < 3 ? nearest : nearest_by(distance_to_start, bare, known);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::optional<std::string> nearest = nearest_word(word, known);
  if (!nearest) return "";
  const std::string quote = nearest->starts_with('-') ? "" : "'";
  return " (did you mean " + quote + *nearest + quote + "?)";
}

void refuse_word(std::string_view option, const std::string& word,
                 const std::vector<std::string>& known) {
  throw UsageError(fmt::format("{}: '{}' is not one of {}{}", option, word, fmt::join(known, ", "),
                               did_you_mean(word, known)));
}

void refuse_choice(std::string_view option, const std::string& word,
                   const std::vector<std::string>& known) {
  const std::string others = known.size() == 2
                                 ? fmt::format("neither {} nor {}", known[0], known[1])
                                 : fmt::format("none of {}", fmt::join(known, ", "));
  throw UsageError(
      fmt::format("{}: '{}' is {}{}", option, word, others, did_you_mean(word, known)));
}

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

std::vector<NumberRange> read_ranks(const std::string& option, const std::string& list,
                                    std::string_view noun) {
  if (list.empty()) return {};
  const std::optional<std::vector<NumberRange>> ranges = parse_number_ranges(list);
  if (!ranges)
    throw UsageError(fmt::format("{}: '{}' is not a list of {} (try 0,4-7)", option, list, noun));
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

MeshSizes read_mesh(const std::string& option, const std::string& text) {
  MeshSizes sizes;
  const std::vector<std::pair<std::string_view, std::int64_t*>> axes{{"tp", &sizes.tensor},
                                                                     {"cp", &sizes.context},
                                                                     {"ep", &sizes.expert},
                                                                     {"dp", &sizes.data},
                                                                     {"pp", &sizes.stages}};
  if (text.empty()) return sizes;
  for (const std::string& word : split_words(text)) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const auto axis = std::ranges::find(axes, std::string_view(word).substr(0, equals),
                                        &std::pair<std::string_view, std::int64_t*>::first);
    const std::optional<std::int64_t> size =
        equals < word.size() ? parse_number(std::string_view(word).substr(equals + 1))
                             : std::nullopt;
    if (axis == axes.end() || size.value_or(0) < 1)
      throw UsageError(
          fmt::format("{}: '{}' is no size of an axis (try tp=2,pp=4,dp=2; also cp "
                      "and ep)",
                      option, word));
    *axis->second = *size;
  }
  return sizes;
}

NamePattern read_pattern(const std::string& option, const std::string& expression) {
  try {
    return NamePattern(expression);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
}

namespace {

std::vector<std::string> texts_of(const std::vector<SwitchWord>& words) {
  std::vector<std::string> texts;
  texts.reserve(words.size());
  for (const SwitchWord& known : words) texts.push_back(known.word);
  return texts;
}

}  // namespace

void read_switches(std::string_view option, const std::string& list,
                   const std::vector<SwitchWord>& words) {
  std::vector<const SwitchWord*> listed;
  for (const std::string& word : split_words(list)) {
    const auto known = std::find_if(words.begin(), words.end(),
                                    [&](const SwitchWord& one) { return one.word == word; });
    if (known == words.end()) refuse_word(option, word, texts_of(words));
    listed.push_back(&*known);
  }
  for (const SwitchWord& known : words)
    for (bool* const one : known.switches) *one = false;
  for (const SwitchWord* const known : listed)
    for (bool* const one : known->switches) *one = true;
}

}  // namespace traceloom
