// The loop behind TextIndex::build, written once and compiled once per instruction set.
// Included by text_index.cpp (portable) and text_index_avx2.cpp only.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace traceloom {

// Where the bitmaps go; each has room for text_size / 64 + 1 words.
struct IndexTarget {
  std::uint64_t* tokens;
  std::uint64_t* braces;
  std::uint64_t* suspects;
};

void index_text_avx2(const char* text, std::size_t size, const IndexTarget& target);

namespace {

// One bit a byte of a 64-byte block.
struct BlockMasks {
  std::uint64_t backslash;
  std::uint64_t quote;
  std::uint64_t brace;
  std::uint64_t
      odd;  // control characters (below 0x20) and bytes that are not ASCII (0x80 and above)
};

// The characters that a backslash before them escapes. Backslashes are rare in traces, so a step
// for each is cheaper than the arithmetic that handles runs of them all at once.
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

// Simd has `static BlockMasks classify(const char* block)` for 64 bytes and
// `static std::uint64_t prefix_xor(std::uint64_t)`.
template <class Simd>
void index_text(const char* text, std::size_t size, const IndexTarget& target) {
  std::uint64_t escape_carry = 0;
  std::uint64_t string_carry = 0;  // all ones inside a string
  const auto index_block = [&](const char* block, std::size_t word) {
    const BlockMasks masks = Simd::classify(block);
    std::uint64_t quotes = masks.quote;
    if ((masks.backslash | escape_carry) != 0)
      quotes &= ~find_escaped(masks.backslash, escape_carry);
    const std::uint64_t in_string = Simd::prefix_xor(quotes) ^ string_carry;
    string_carry = static_cast<std::uint64_t>(static_cast<std::int64_t>(in_string) >> 63);
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

}  // namespace
}  // namespace traceloom
