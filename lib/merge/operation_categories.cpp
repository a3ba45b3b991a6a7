#include "merge/operation_categories.h"

#include "scan/event_repair.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace traceloom {

std::string_view OperationCategories::find(std::string_view key, std::uint64_t offset) const {
  const auto found = begins_.find(key);
  if (found == begins_.end()) return {};
  const std::vector<Begin>& begins = found->second;
  const auto later = std::upper_bound(
      begins.begin(), begins.end(), offset,
      [](std::uint64_t place, const Begin& begin) { return place < begin.offset; });
  return later == begins.begin() ? std::string_view{} : std::prev(later)->category;
}

void OperationBatch::add(std::string_view key, const Event& event) {
  const std::string_view category = strict_value(event.text(Key::cat), scratch_);
  records_.push_back({event.offset, keys_.intern(key),
                      categories_.intern(category.empty() ? "\"\"" : category), event.phase});
}

void OperationCategoryFinder::take(const OperationBatch& later) {
  std::vector<std::uint32_t> keys;
  keys.reserve(later.keys_.size());
  for (std::uint32_t i = 0; i < later.keys_.size(); ++i)
    keys.push_back(keys_.intern(later.keys_[i]));
  std::vector<std::uint32_t> categories;
  categories.reserve(later.categories_.size());
  for (std::uint32_t i = 0; i < later.categories_.size(); ++i)
    categories.push_back(categories_.intern(later.categories_[i]));
  operations_.resize(keys_.size());
  for (const OperationBatch::Record& record : later.records_)
    add(operations_[keys[record.key]], record.offset, record.phase, categories[record.category]);
}

void OperationCategoryFinder::add(Operation& operation, std::uint64_t offset, char phase,
                                  std::uint32_t category) {
  const bool is_known = !operation.begins.empty();
  const bool differs = is_known && operation.begins.back().category != category;
  if (phase == 'S') {
    if (differs && operation.open > 0) operation.overlaps = true;
    if (!is_known || differs) operation.begins.push_back({offset, category});
    ++operation.open;
    return;
  }
  if (differs) operation.is_torn = true;
  if (phase == 'F' && operation.open > 0) --operation.open;
}

OperationCategories OperationCategoryFinder::finish() const {
  OperationCategories result;
  for (std::uint32_t key = 0; key < operations_.size(); ++key) {
    const Operation& operation = operations_[key];
    if (!operation.is_torn || operation.overlaps) continue;
    std::vector<OperationCategories::Begin>& begins = result.begins_[std::string(keys_[key])];
    begins.reserve(operation.begins.size());
    for (const Begin& begin : operation.begins)
      begins.push_back({begin.offset, std::string(categories_[begin.category])});
  }
  return result;
}

}  // namespace traceloom
