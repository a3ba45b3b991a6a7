#include "common/did_you_mean.h"

#include "base/error.h"

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

}  // namespace traceloom
