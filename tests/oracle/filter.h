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
  // Windows [from, to) of each rank, in times of the trace. A rank without an entry has all times.
  std::map<std::int64_t, std::vector<std::pair<std::int64_t, std::int64_t>>> windows = {};
  std::vector<std::string> names = {};
  std::vector<std::string> excluded_names = {};
  std::vector<std::string> categories = {};
  std::vector<std::string> excluded_categories = {};
  std::int64_t min_duration_ns = 0;
};

// Returns the events that stay, except metadata (M), as canonical_text() in the order of the file.
// `merged` is the output of a merge, in which every B has an E.
std::vector<std::string> filter_events(const std::string& merged, const Filter& filter);

}  // namespace traceloom::oracle
