#include "merge/id_map.h"

#include "event/event.h"

#include <algorithm>
#include <optional>

namespace traceloom {
namespace {

constexpr std::uint64_t kMaxNumber = (std::uint64_t{1} << 40) - 1;

// A whole number from 1 to kMaxNumber, without sign, leading zeros or anything else. Not 0: viewers
// take that for no id, so it gets another number.
std::optional<std::uint64_t> plain_number(std::string_view key) {
  if (key.empty() || key.size() > 13 || key.front() == '0') return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : key) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (number > kMaxNumber) return std::nullopt;
  return number;
}

}  // namespace

void IdSet::add(std::string_view key) {
  if (const std::optional<std::uint64_t> number = plain_number(key))
    max_number_ = std::max(max_number_, *number);
  else
    others_.intern(key);
}

void IdSet::add(const IdSet& other) {
  max_number_ = std::max(max_number_, other.max_number_);
  for (std::uint32_t i = 0; i < other.others_.size(); ++i) others_.intern(other.others_[i]);
}

std::uint64_t common_id_range(const std::vector<const IdSet*>& sets) {
  std::uint64_t needed = 0;
  for (const IdSet* set : sets)
    if (!set->empty()) needed = std::max(needed, set->range());
  // Nothing comes behind the ids of one file.
  if (sets.size() < 2) return needed;
  std::uint64_t range = needed > 0 ? 1 : 0;
  while (range < needed) range *= 10;
  return range;
}

std::uint64_t IdMap::number(std::string_view key) const {
  if (const std::optional<std::uint64_t> number = plain_number(key)) return begin_ + *number;
  return end_ - 1 - ids_->others_.find(key).value_or(0);
}

bool IdMap::operator==(const IdMap& other) const {
  const StringTable& texts = ids_->others_;
  const StringTable& other_texts = other.ids_->others_;
  if (begin_ != other.begin_ || texts.size() != other_texts.size()) return false;
  for (std::uint32_t i = 0; i < texts.size(); ++i)
    if (texts[i] != other_texts[i]) return false;
  return texts.size() == 0 || end_ == other.end_;
}

std::string_view id_key(std::string_view json_value, std::string& scratch) {
  if (is_json_string(json_value) || plain_number(json_value)) return json_value;
  scratch = canonical_id(json_value);
  return scratch;
}

}  // namespace traceloom
