// hash_of_id(): the number of a process or thread in ThreadTally, equal in all files.
//
//   hash_of_id(canonical_id(event.text(Key::pid)))
#pragma once

#define XXH_INLINE_ALL  // xxHash needs this macro to be used without its library
#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace traceloom {

inline std::uint64_t hash_of_id(std::string_view canonical_id) {
  return XXH3_64bits(canonical_id.data(), canonical_id.size());
}

}  // namespace traceloom
