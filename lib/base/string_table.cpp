#include "base/string_table.h"

#define XXH_INLINE_ALL  // xxHash needs this macro to be used without its library
#include <xxhash.h>

namespace traceloom {
namespace {

constexpr std::size_t kFirstSlots = 64;
// A merge of thousands of inputs has thousands of small tables.
constexpr std::size_t kFirstBlockBytes = 512;
constexpr std::size_t kMaxBlockBytes = std::size_t{64} << 10;

}  // namespace

// Returns the slot that holds `text`, or the free slot where it belongs.
std::size_t StringTable::slot_of(std::string_view text, std::uint64_t hash) const {
  const std::uint32_t tag = static_cast<std::uint32_t>(hash >> 32);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.id_plus_1 == 0) return i;
    if (slot.tag == tag && texts_[slot.id_plus_1 - 1] == text) return i;
  }
}

std::uint32_t StringTable::intern(std::string_view text) {
  if (texts_.size() * 2 >= slots_.size()) grow();
  const std::uint64_t hash = XXH3_64bits(text.data(), text.size());
  Slot& slot = slots_[slot_of(text, hash)];
  if (slot.id_plus_1 == 0) {
    texts_.push_back(keep(text));
    slot = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(texts_.size())};
  }
  return slot.id_plus_1 - 1;
}

std::optional<std::uint32_t> StringTable::find(std::string_view text) const {
  if (texts_.empty()) return std::nullopt;
  const Slot& slot = slots_[slot_of(text, XXH3_64bits(text.data(), text.size()))];
  if (slot.id_plus_1 == 0) return std::nullopt;
  return slot.id_plus_1 - 1;
}

void StringTable::clear() {
  if (texts_.empty()) return;
  std::fill(slots_.begin(), slots_.end(), Slot{});
  texts_.clear();
  if (blocks_.size() > 1) blocks_.erase(blocks_.begin(), blocks_.end() - 1);
  block_used_ = 0;
}

void StringTable::grow() {
  slots_.assign(std::max(kFirstSlots, slots_.size() * 2), Slot{});
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t id = 0; id < texts_.size(); ++id) {
    const std::uint64_t hash = XXH3_64bits(texts_[id].data(), texts_[id].size());
    std::size_t i = hash & mask;
    while (slots_[i].id_plus_1 != 0) i = (i + 1) & mask;
    slots_[i] = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(id + 1)};
  }
}

std::string_view StringTable::keep(std::string_view text) {
  if (text.empty()) return {};
  if (block_size_ - block_used_ < text.size()) {
    const std::size_t next = std::clamp(block_size_ * 2, kFirstBlockBytes, kMaxBlockBytes);
    block_size_ = std::max(next, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_size_));
    block_used_ = 0;
  }
  char* const place = blocks_.back().get() + block_used_;
  std::memcpy(place, text.data(), text.size());
  block_used_ += text.size();
  return {place, text.size()};
}

}  // namespace traceloom
