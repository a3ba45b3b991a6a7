#include "identity/evidence/noted_filter.h"

#include <algorithm>

namespace traceloom {
namespace {

using Strings = std::vector<std::string>;

Strings read_texts(JsonValue list) {
  Strings texts;
  for (const JsonValue text : list.elements()) texts.push_back(text.string());
  return texts;
}

std::optional<NotedFilter::Steps> read_steps(JsonValue list) {
  std::vector<std::optional<std::int64_t>> ends;
  for (const JsonValue end : list.elements()) ends.push_back(end.integer());
  if (ends.size() != 2) return std::nullopt;
  return NotedFilter::Steps{ends[0], ends[1]};
}

bool is_before(const NotedFilter::Steps& a, const NotedFilter::Steps& b) {
  return a.last && b.first && *a.last < *b.first;
}

bool is_among(const Strings& chosen, const Strings& texts) {
  return !chosen.empty() && std::ranges::all_of(chosen, [&](const std::string& text) {
    return std::ranges::find(texts, text) != texts.end();
  });
}

bool share_one(const Strings& a, const Strings& b) {
  return std::ranges::find_first_of(a, b) != a.end();
}

bool excludes_all_of(const NotedFilter& a, const NotedFilter& b) {
  return is_among(b.categories, a.excluded_categories) || is_among(b.names, a.excluded_names);
}

}  // namespace

std::optional<NotedFilter> read_noted_filter(JsonValue traceloom) {
  const JsonValue filter = traceloom["filter"];
  if (!filter.is_there()) return std::nullopt;
  return NotedFilter{.steps = read_steps(filter["steps"]),
                     .categories = read_texts(filter["categories"]),
                     .excluded_categories = read_texts(filter["exclude_categories"]),
                     .names = read_texts(filter["names"]),
                     .excluded_names = read_texts(filter["exclude_names"])};
}

bool exclude_each_other(const NotedFilter& a, const NotedFilter& b) {
  if (a.steps && b.steps && (is_before(*a.steps, *b.steps) || is_before(*b.steps, *a.steps)))
    return true;
  if (!a.categories.empty() && !b.categories.empty() && !share_one(a.categories, b.categories))
    return true;
  return excludes_all_of(a, b) || excludes_all_of(b, a);
}

}  // namespace traceloom
