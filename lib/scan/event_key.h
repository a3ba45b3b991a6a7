// EventKeyTable: finds the Key of an event's member with one multiplication and one comparison.
#pragma once

#include "event/event.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace traceloom {

// A perfect hash over the first eight bytes. The multiplier is searched at compile time, so a new
// Key costs nothing here. A chain of comparisons by length took 30 % of the walk.
class EventKeyTable {
 public:
  constexpr EventKeyTable() {
    while (!fill()) multiplier_ = multiplier_ * 6364136223846793005U + 1442695040888963407U;
  }

  // Returns `name` (at most eight bytes) as a little-endian number.
  static constexpr std::uint64_t pack(std::string_view name) {
    std::uint64_t packed = 0;
    for (std::size_t i = name.size(); i-- > 0;)
      packed = packed << 8 | static_cast<unsigned char>(name[i]);
    return packed;
  }
  // The same from memory; eight bytes must be readable.
  static std::uint64_t load(const char* name, std::size_t size) {
    std::uint64_t packed = 0;
    std::memcpy(&packed, name, sizeof packed);
    if constexpr (std::endian::native == std::endian::big) packed = __builtin_bswap64(packed);
    return size >= 8 ? packed : packed & ((std::uint64_t{1} << size * 8) - 1);
  }

  // Returns Key::count_ if the name is no Key. `size` distinguishes "ph" from "ph" and a NUL. Names
  // longer than eight bytes are not allowed.
  constexpr Key find(std::uint64_t packed, std::size_t size) const {
    const Slot& slot = slots_[hash(packed)];
    return slot.packed == packed && slot.size == size ? slot.key : Key::count_;
  }
  // The same for a name of any length.
  constexpr Key find(std::string_view name) const {
    return name.size() <= sizeof(std::uint64_t) ? find(pack(name), name.size()) : Key::count_;
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

  // The result of the last search, so that compilers with a limit on such searches find it at once.
  std::uint64_t multiplier_ = 0xe864caedb4ebce48U;
  std::array<Slot, 32> slots_{};
};

// Names are compared as a word: of a longer one the walk would compare the first eight bytes alone,
// and event shapes would never find it. A Key for which key_name() was forgotten has an empty name.
constexpr bool names_fit_in_a_word() {
  for (std::size_t i = 0; i < kKeyCount; ++i) {
    const std::size_t size = key_name(static_cast<Key>(i)).size();
    if (size == 0 || size > sizeof(std::uint64_t)) return false;
  }
  return true;
}
static_assert(names_fit_in_a_word(),
              "key_name() has a name for each Key, of at most eight bytes; EventKeyTable finds no "
              "longer one");

inline constexpr EventKeyTable kEventKeys;

}  // namespace traceloom
