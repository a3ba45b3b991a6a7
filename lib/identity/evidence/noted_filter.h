// NotedFilter: the filter of a merge of ours, as the merge has noted it.
//
//   const std::optional<NotedFilter> filter = read_noted_filter(traceloom);  // otherData.traceloom
//   if (filter && other && exclude_each_other(*filter, *other)) ...          // no event is in both
#pragma once

#include "json/json_document.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// The parts of a filter that can prove that two traces share no event. Times are not among them:
// each merge counts them from an origin of its own.
struct NotedFilter {
  struct Steps {
    std::optional<std::int64_t> first;  // absent: from the beginning
    std::optional<std::int64_t> last;
  };
  std::optional<Steps> steps;
  std::vector<std::string> categories;
  std::vector<std::string> excluded_categories;
  std::vector<std::string> names;  // regular expressions
  std::vector<std::string> excluded_names;

  template <typename Wire>
  void wire(Wire& wire) {
    wire(steps, categories, excluded_categories, names, excluded_names);
  }
};

// Returns nullopt if the merge had no filter, or noted it in an unknown form.
std::optional<NotedFilter> read_noted_filter(JsonValue traceloom);

// True if no event of one trace passes both filters: their steps do not overlap, or one selects
// only by categories or names that the other excludes, or each selects categories of its own. The
// last is wrong for an event of several categories ("a,b"), one of which each filter selects: it
// passes both.
bool exclude_each_other(const NotedFilter& a, const NotedFilter& b);

}  // namespace traceloom
