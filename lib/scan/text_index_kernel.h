// The loop of TextIndex::build, written once and compiled once per instruction set. Only
// text_index.cpp (portable) and text_index_avx2.cpp include it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace traceloom {

// The bitmaps to fill; each has room for text_size / 64 + 1 words.
struct IndexTarget {
  std::uint64_t* tokens;
  std::uint64_t* braces;
  std::uint64_t* suspects;
};

void index_text_avx2(const char* text, std::size_t size, const IndexTarget& target);
const char* skip_plain_object_avx2(const char* at, const char* end);

namespace {

// One bit for each byte of a 64-byte block.
struct BlockMasks {
  std::uint64_t backslash;
  std::uint64_t quote;
  std::uint64_t brace;
  std::uint64_t
      odd;  // control characters (below 0x20) and bytes that are not ASCII (0x80 and above)
};

// Marks the characters that a backslash before them escapes. Backslashes are rare in traces, so one
// step for each is cheaper than the arithmetic that handles runs of them at once.
inline std::uint64_t find_escaped(std::uint64_t backslash, std::uint64_t& carry) {
  std::uint64_t escaped = carry;
  carry = 0;
  std::uint64_t rest = backslash & ~escaped;
  while (rest != 0) {
    const int at = std::countr_zero(rest);
    if (at == 63) {
      carry = 1;
      break;
    }
    escaped |= std::uint64_t{2} << at;
    rest &= ~(std::uint64_t{3} << at);
  }
  return escaped;
}

// Finds the strings, from block to block.
template <class Simd>
class StringMasks {
 public:
  // The quotes of a block that no backslash escapes, and the bytes inside strings.
  struct Masks {
    std::uint64_t quotes;
    std::uint64_t in_string;
  };
  Masks next(const BlockMasks& block) {
    std::uint64_t quotes = block.quote;
    if ((block.backslash | escape_carry_) != 0)
      quotes &= ~find_escaped(block.backslash, escape_carry_);
    const std::uint64_t in_string = Simd::prefix_xor(quotes) ^ string_carry_;
    string_carry_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(in_string) >> 63);
    return {quotes, in_string};
  }

 private:
  std::uint64_t escape_carry_ = 0;
  std::uint64_t string_carry_ = 0;  // all ones after a block that ends inside a string
};

// Simd needs `static BlockMasks classify(const char* block)` for 64 bytes and `static std::uint64_t
// prefix_xor(std::uint64_t)`.
template <class Simd>
void index_text(const char* text, std::size_t size, const IndexTarget& target) {
  StringMasks<Simd> strings;
  const auto index_block = [&](const char* block, std::size_t word) {
    const BlockMasks masks = Simd::classify(block);
    const auto [quotes, in_string] = strings.next(masks);
    const std::uint64_t braces = masks.brace & ~in_string;
    target.tokens[word] = quotes | braces;
    target.braces[word] = braces;
    target.suspects[word] = masks.backslash | (masks.odd & in_string);
  };
  const std::size_t whole = size / 64;
  for (std::size_t word = 0; word < whole; ++word) index_block(text + word * 64, word);
  char tail[64];
  std::memset(tail, ' ', sizeof tail);
  std::memcpy(tail, text + whole * 64, size % 64);
  index_block(tail, whole);
}

// See skip_plain_object() in text_index.h.
template <class Simd>
const char* skip_plain_object_in_blocks(const char* at, const char* end) {
  StringMasks<Simd> strings;
  std::size_t depth = 0;
  for (; end - at >= 64; at += 64) {
    const BlockMasks masks = Simd::classify(at);
    const std::uint64_t in_string = strings.next(masks).in_string;
    const std::uint64_t in_strings = masks.brace & in_string;
    std::uint64_t braces = masks.brace & ~in_string;
    for (; braces != 0; braces &= braces - 1) {
      const char* const brace = at + std::countr_zero(braces);
      depth = *brace == '{' ? depth + 1 : depth - 1;
      if (depth == 0) return (in_strings & (braces ^ (braces - 1))) == 0 ? brace + 1 : nullptr;
    }
    if (in_strings != 0) return nullptr;
  }
  return nullptr;
}

}  // namespace
}  // namespace traceloom
