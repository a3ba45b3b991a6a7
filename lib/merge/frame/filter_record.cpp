#include "merge/frame/filter_record.h"

#include "output/json_list.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {
namespace {

void write_pair(JsonWriter& json, std::optional<std::int64_t> first,
                std::optional<std::int64_t> second) {
  json.begin_array();
  json.value(first);
  json.value(second);
  json.end_array();
}

// Leaves the key out if there are no texts.
void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  if (!texts.empty()) write_list(json, key, texts);
}

std::vector<std::string> expressions(const std::vector<NamePattern>& patterns) {
  std::vector<std::string> texts;
  texts.reserve(patterns.size());
  for (const NamePattern& pattern : patterns) texts.push_back(pattern.expression());
  return texts;
}

}  // namespace

void write_filter(JsonWriter& json, const MergeFilter& filter) {
  json.begin_object();
  if (!filter.ranks.empty()) {
    json.key("ranks");
    json.begin_array();
    for (const NumberRange& range : filter.ranks) write_pair(json, range.first, range.last);
    json.end_array();
  }
  if (filter.time) {
    json.key("time_ns");
    write_pair(json, filter.time->from_ns, filter.time->to_ns);
  }
  if (filter.steps) {
    json.key("steps");
    write_pair(json, filter.steps->first, filter.steps->last);
  }
  write_texts(json, "categories", filter.labels.categories);
  write_texts(json, "exclude_categories", filter.labels.excluded_categories);
  write_texts(json, "names", expressions(filter.labels.names));
  write_texts(json, "exclude_names", expressions(filter.labels.excluded_names));
  if (filter.min_duration_ns > 0) {
    json.key("min_duration_ns");
    json.value(filter.min_duration_ns);
  }
  json.end_object();
}

}  // namespace traceloom
