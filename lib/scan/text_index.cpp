#include "scan/text_index.h"

#include "scan/text_index_kernel.h"

namespace traceloom {
namespace {

// Processes eight bytes at a time in a 64-bit register; works everywhere.
struct Portable {
  static constexpr std::uint64_t kOnes = 0x0101010101010101U;
  static constexpr std::uint64_t kHigh = 0x8080808080808080U;

  // Sets the high bit of each byte that is zero. It is exact for every byte, unlike the shorter
  // well-known trick.
  static std::uint64_t zero_bytes(std::uint64_t x) {
    return ~(((x & ~kHigh) + ~kHigh) | x | ~kHigh);
  }
  // Collects the high bits of eight bytes in the low byte.
  static std::uint64_t gather(std::uint64_t high_bits) {
    return ((high_bits >> 7) * 0x0102040810204080U) >> 56;
  }

  static BlockMasks classify(const char* block) {
    BlockMasks masks{};
    for (unsigned i = 0; i < 8; ++i) {
      std::uint64_t x = 0;
      for (unsigned byte = 0; byte < 8; ++byte)
        x |= static_cast<std::uint64_t>(static_cast<unsigned char>(block[i * 8 + byte]))
             << byte * 8;
      const auto equal = [&](char c) {
        return gather(zero_bytes(x ^ (kOnes * static_cast<unsigned char>(c)))) << i * 8;
      };
      masks.backslash |= equal('\\');
      masks.quote |= equal('"');
      masks.brace |= equal('{') | equal('}');
      masks.odd |= gather(zero_bytes(x & (kOnes * 0xe0U)) | (x & kHigh)) << i * 8;
    }
    return masks;
  }

  static std::uint64_t prefix_xor(std::uint64_t bits) {
    for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
  }
};

#ifdef TRACELOOM_HAVE_AVX2
const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("pclmul") != 0;
#endif

}  // namespace

void TextIndex::reserve(std::size_t text_size) {
  const std::size_t words = text_size / 64 + 2;
  if (tokens_.size() < words) {
    tokens_.resize(words);
    braces_.resize(words);
    suspects_.resize(words);
  }
  tokens_[words - 1] = braces_[words - 1] = ~std::uint64_t{0};
}

void TextIndex::build(std::string_view text) {
#ifdef TRACELOOM_HAVE_AVX2
  if (kHasAvx2) {
    reserve(text.size());
    index_text_avx2(text.data(), text.size(), {tokens_.data(), braces_.data(), suspects_.data()});
    return;
  }
#endif
  build_portable(text);
}

void TextIndex::build_portable(std::string_view text) {
  reserve(text.size());
  index_text<Portable>(text.data(), text.size(),
                       {tokens_.data(), braces_.data(), suspects_.data()});
}

bool TextIndex::is_suspect(std::size_t begin, std::size_t end) const {
  if (begin >= end) return false;
  const std::size_t first = begin / 64;
  const std::size_t last = (end - 1) / 64;
  const std::uint64_t from_begin = ~std::uint64_t{0} << (begin % 64);
  const std::uint64_t to_end = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
  if (first == last) return (suspects_[first] & from_begin & to_end) != 0;
  if ((suspects_[first] & from_begin) != 0 || (suspects_[last] & to_end) != 0) return true;
  for (std::size_t i = first + 1; i < last; ++i)
    if (suspects_[i] != 0) return true;
  return false;
}

const char* skip_plain_object(const char* at, const char* end) {
#ifdef TRACELOOM_HAVE_AVX2
  if (kHasAvx2) return skip_plain_object_avx2(at, end);
#endif
  return skip_plain_object_portable(at, end);
}

const char* skip_plain_object_portable(const char* at, const char* end) {
  return skip_plain_object_in_blocks<Portable>(at, end);
}

}  // namespace traceloom
