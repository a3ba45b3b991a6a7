// This file is compiled with -mavx2 -mpclmul on x86-64 and is empty elsewhere. Its functions are
// called only if the processor supports both.
#ifdef __AVX2__
#include "scan/text_index_kernel.h"

#include <immintrin.h>

namespace traceloom {
namespace {

struct Avx2 {
  static std::uint64_t join(__m256i low, __m256i high) {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(low)) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(high))) << 32;
  }

  static BlockMasks classify(const char* block) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + 32));
    const auto equal = [&](char c) {
      const __m256i wanted = _mm256_set1_epi8(c);
      return join(_mm256_cmpeq_epi8(a, wanted), _mm256_cmpeq_epi8(b, wanted));
    };
    // The comparison is signed: bytes from 0x80 on are negative and therefore also below 0x20.
    const __m256i limit = _mm256_set1_epi8(0x20);
    return {equal('\\'), equal('"'), equal('{') | equal('}'),
            join(_mm256_cmpgt_epi8(limit, a), _mm256_cmpgt_epi8(limit, b))};
  }

  static std::uint64_t prefix_xor(std::uint64_t bits) {
    const __m128i all = _mm_set1_epi8(-1);
    const __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<long long>(bits)), all, 0);
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
  }
};

}  // namespace

void index_text_avx2(const char* text, std::size_t size, const IndexTarget& target) {
  index_text<Avx2>(text, size, target);
}

const char* skip_plain_object_avx2(const char* at, const char* end) {
  return skip_plain_object_in_blocks<Avx2>(at, end);
}

}  // namespace traceloom
#endif
