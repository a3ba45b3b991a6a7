// encode_block, decode_block: a piece of the text of a trace, packed, and back.
//
//   std::string packed = encode_block(text);
//   decode_block(packed) == text;
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom::digest {

// The most text of a block; what memory a block takes follows from it.
inline constexpr std::size_t kMostBlockBytes = std::size_t{4} << 20;

// Packs any text of at most kMostBlockBytes. The bytes depend on the text alone.
std::string encode_block(std::string_view text);

// Returns nullopt if `packed` is no block. Whatever the bytes are, it takes no more memory than a
// block may.
std::optional<std::string> decode_block(std::string_view packed);

}  // namespace traceloom::digest
