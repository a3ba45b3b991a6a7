// The slow, obvious filter: what lib/merge's MergeFilter has to leave of a merged trace.
//
//   std::vector<std::string> kept = filter_events(merged_text, {.categories = {"kernel"}});
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace traceloom::oracle {

// Empty members ask for nothing. Names are plain texts that are searched for.
struct Filter {
  std::vector<std::int64_t> ranks = {};
  // By rank, in times of the trace: [from, to). A rank that is not there has all time.
  std::map<std::int64_t, std::vector<std::pair<std::int64_t, std::int64_t>>> windows = {};
  std::vector<std::string> names = {};
  std::vector<std::string> excluded_names = {};
  std::vector<std::string> categories = {};
  std::vector<std::string> excluded_categories = {};
  std::int64_t min_duration_ns = 0;
};

// The events that stay but metadata (M), as canonical_text(), in the order of the file. `merged` is
// what a merge has written; every B in it has an E.
std::vector<std::string> filter_events(const std::string& merged, const Filter& filter);

}  // namespace traceloom::oracle
