#include "common/did_you_mean.h"

#include "base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace traceloom {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows i-2, i-1 and i of the table of distances between the starts of a and b.
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

std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& known) {
  std::optional<std::string> nearest;
  std::size_t least = word.size() / 3 + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  if (nearest || word.size() < 3) return nearest;
  const auto longer = std::find_if(known.begin(), known.end(), [&](const std::string& candidate) {
    return candidate.starts_with(word);
  });
  return longer == known.end() ? std::nullopt : std::optional(*longer);
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
