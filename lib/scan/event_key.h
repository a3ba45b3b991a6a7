// The key of an event's member, found by one multiplication and one compare.
#pragma once

#include "event/event.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace traceloom {

// Perfect hashing over the first eight bytes: the multiplier is searched at compile time, so a new
// Key costs nothing here. A chain of compares by length took 30 % of the walk.
class EventKeyTable {
 public:
  constexpr EventKeyTable() {
    while (!fill()) multiplier_ = multiplier_ * 6364136223846793005U + 1442695040888963407U;
  }

  // `name` (at most eight bytes) as a little-endian number.
  static constexpr std::uint64_t pack(std::string_view name) {
    std::uint64_t packed = 0;
    for (std::size_t i = name.size(); i-- > 0;)
      packed = packed << 8 | static_cast<unsigned char>(name[i]);
    return packed;
  }
  // The same from memory of which eight bytes may be read.
  static std::uint64_t load(const char* name, std::size_t size) {
    std::uint64_t packed = 0;
    std::memcpy(&packed, name, sizeof packed);
    if constexpr (std::endian::native == std::endian::big) packed = __builtin_bswap64(packed);
    return size >= 8 ? packed : packed & ((std::uint64_t{1} << size * 8) - 1);
  }

  // Key::count_ when it is none. `size` tells "ph" from "ph" and a NUL; names longer than eight
  // bytes must not come here.
  constexpr Key find(std::uint64_t packed, std::size_t size) const {
    const Slot& slot = slots_[hash(packed)];
    return slot.packed == packed && slot.size == size ? slot.key : Key::count_;
  }

 private:
  struct Slot {
    std::uint64_t packed = 0;
    Key key = Key::count_;
    std::uint8_t size = 0;
  };

  constexpr std::size_t hash(std::uint64_t packed) const { return packed * multiplier_ >> 59; }
  constexpr bool fill() {
    slots_ = {};
    for (std::size_t i = 0; i < kKeyCount; ++i) {
      const std::string_view name = key_name(static_cast<Key>(i));
      const std::uint64_t packed = pack(name);
      Slot& slot = slots_[hash(packed)];
      if (slot.packed != 0) return false;
      slot = {packed, static_cast<Key>(i), static_cast<std::uint8_t>(name.size())};
    }
    return true;
  }

  // What the search found last, so that compilers with a limit on such searches find it at once.
  std::uint64_t multiplier_ = 0xe864caedb4ebce48U;
  std::array<Slot, 32> slots_{};
};

inline constexpr EventKeyTable kEventKeys;

}  // namespace traceloom
