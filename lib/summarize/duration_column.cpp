#include "summarize/duration_column.h"

#include <algorithm>
#include <cstring>

namespace traceloom {
namespace {

constexpr std::size_t kBlockWords = std::size_t{64} << 10;

}  // namespace

std::uint32_t* ColumnArena::allocate(std::size_t words) {
  words = (words + 1) & ~std::size_t{1};
  if (left_ < words) {
    left_ = std::max(kBlockWords, words);
    blocks_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(left_ / 2));
    next_ = reinterpret_cast<std::uint32_t*>(blocks_.back().get());
  }
  std::uint32_t* const place = next_;
  next_ += words;
  left_ -= words;
  return place;
}

void DurationValues::clear() {
  small.clear();
  large.clear();
}

void DurationColumn::add_large(std::int64_t ns) {
  if (!large_) large_ = std::make_unique<std::vector<std::int64_t>>();
  large_->push_back(ns);
}

void DurationColumn::grow(ColumnArena& arena) {
  const Link before{values_, capacity_};
  capacity_ = std::clamp(capacity_ * 2, kFirst, kLargest);
  values_ = arena.allocate(kLinkWords + capacity_) + kLinkWords;
  std::memcpy(values_ - kLinkWords, &before, sizeof before);
  used_ = 0;
}

void DurationColumn::copy_to(DurationValues& values) const {
  Link extent{values_, used_};
  while (extent.values != nullptr) {
    values.small.insert(values.small.end(), extent.values, extent.values + extent.capacity);
    std::memcpy(&extent, extent.values - kLinkWords, sizeof extent);
  }
  if (large_) values.large.insert(values.large.end(), large_->begin(), large_->end());
}

}  // namespace traceloom
