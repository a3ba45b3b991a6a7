#include "merge/ids/id_map.h"

#include "flows/flow_id.h"

#define XXH_INLINE_ALL  // xxHash asks for it where its library is not linked
#include <xxhash.h>

#include <algorithm>
#include <optional>

namespace traceloom {

void IdSet::add(std::string_view key) {
  const std::optional<std::uint64_t> number = whole_id(key);
  if (number && *number < kPlainIdLimit) {
    max_number_ = std::max(max_number_, *number);
    return;
  }
  max_large_ = std::max(max_large_, number.value_or(0));
  others_.intern(key);
}

void IdSet::add(const IdSet& other) {
  max_number_ = std::max(max_number_, other.max_number_);
  max_large_ = std::max(max_large_, other.max_large_);
  for (std::uint32_t i = 0; i < other.others_.size(); ++i) others_.intern(other.others_[i]);
}

std::uint64_t common_id_range(const std::vector<std::uint64_t>& ranges) {
  std::uint64_t needed = 0;
  for (const std::uint64_t range : ranges) needed = std::max(needed, range);
  if (needed < 2) return 0;
  if (ranges.size() == 1) return needed;
  std::uint64_t range = 1;
  while (range < needed) range *= 10;
  return range;
}

std::uint64_t IdMap::number(std::string_view key) const {
  const std::optional<std::uint64_t> number = whole_id(key);
  if (number && *number < limit_) return begin_ + *number;
  return end_ - 1 - ids_->others_.find(key).value_or(0);
}

std::optional<std::uint64_t> IdMap::find(std::string_view key) const {
  const std::optional<std::uint64_t> number = whole_id(key);
  const bool is_known =
      number && *number < limit_ ? begin_ + *number < end_ : ids_->others_.find(key).has_value();
  if (!is_known) return std::nullopt;
  return this->number(key);
}

bool IdMap::operator==(const IdMap& other) const {
  const StringTable& texts = ids_->others_;
  const StringTable& other_texts = other.ids_->others_;
  if (begin_ != other.begin_ || limit_ != other.limit_ || texts.size() != other_texts.size())
    return false;
  for (std::uint32_t i = 0; i < texts.size(); ++i)
    if (texts[i] != other_texts[i]) return false;
  return texts.size() == 0 || end_ == other.end_;
}

std::uint64_t shared_id_number(std::string_view key) {
  if (const std::optional<std::uint64_t> number = whole_id(key)) return *number;
  constexpr std::uint64_t kFirst = kMergedIdLimit / 2;
  return kFirst + XXH3_64bits(key.data(), key.size()) % kFirst;
}

}  // namespace traceloom
