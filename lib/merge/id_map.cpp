#include "merge/id_map.h"

#include "event/event.h"

#include <algorithm>

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
    max_number_ = std::max(max_number_.value_or(0), *number);
  else
    others_.intern(key);
}

void IdSet::add(const IdSet& other) {
  if (other.max_number_) max_number_ = std::max(max_number_.value_or(0), *other.max_number_);
  for (std::uint32_t i = 0; i < other.others_.size(); ++i) others_.intern(other.others_[i]);
}

IdMap::IdMap(const IdSet& ids, std::uint64_t base)
    : ids_(&ids),
      base_(base),
      others_base_(base + ids.max_number_.value_or(0) + 1),
      end_(base + ids.max_number_.value_or(0) + ids.others_.size()) {}

std::uint64_t IdMap::number(std::string_view key) const {
  if (const std::optional<std::uint64_t> number = plain_number(key)) return base_ + *number;
  return others_base_ + ids_->others_.find(key).value_or(0);
}

std::string_view id_key(std::string_view json_value, std::string& scratch) {
  if (is_json_string(json_value) || plain_number(json_value)) return json_value;
  scratch = canonical_id(json_value);
  return scratch;
}

}  // namespace traceloom
