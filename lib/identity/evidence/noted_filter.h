// NotedFilter: which events of its inputs a merge of ours has kept, as it has noted that.
//
//   const std::optional<NotedFilter> filter = read_noted_filter(traceloom);  // otherData.traceloom
//   if (filter && other && exclude_each_other(*filter, *other)) ...          // no event is in both
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// What may tell that two parts of a trace share no event. Times are not here: each merge counts
// them from an origin of its own.
struct NotedFilter {
  struct Steps {
    std::optional<std::int64_t> first;  // none: from the beginning
    std::optional<std::int64_t> last;
  };
  std::optional<Steps> steps;
  std::vector<std::string> categories;
  std::vector<std::string> excluded_categories;
  std::vector<std::string> names;  // regular expressions
  std::vector<std::string> excluded_names;
};

// nullopt where the merge had no filter, or says it in no way that is known.
std::optional<NotedFilter> read_noted_filter(std::string_view traceloom);

// True where no event of one trace passes both: their steps are apart, or one chooses only by
// categories or names which the other excludes, or each by categories of its own. An event of
// several categories ("a,b") that are chosen apart is the exception: it passes both.
bool exclude_each_other(const NotedFilter& a, const NotedFilter& b);

}  // namespace traceloom
