// Finds the end of a string or number of strict JSON: the inner loops of all code that reads JSON.
//
//   const char* behind = skip_json_number(at, end);   // nullptr: no JSON number begins at `at`
//
// All functions read [at, end) only and require at < end. With SSE2, which every x86-64 has, they
// take 16 bytes a step, otherwise 8.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace traceloom {

#if defined(__SSE2__)
namespace json_token {

// Sets one bit for each of the 16 bytes that is not a plain character of a string.
inline unsigned odd_characters(const char* at) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  // Seen as signed numbers, bytes that are not ASCII are below the control characters.
  const __m128i control = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
  const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  return static_cast<unsigned>(
      _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(control, quote), backslash)));
}

// Sets one bit for each of the 16 bytes that is no digit.
inline unsigned other_than_digits(const char* at) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  const __m128i digits = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
  const __m128i least = _mm_min_epu8(digits, _mm_set1_epi8(9));
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(digits, least))) ^ 0xffffU;
}

// Sets one bit for each of the 16 bytes that is a bracket, a brace or a quote.
inline unsigned marks_of_lists(const char* at) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  // Braces differ from brackets in one bit.
  const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
  const __m128i open = _mm_cmpeq_epi8(folded, _mm_set1_epi8('{'));
  const __m128i close = _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'));
  const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(open, close), quote)));
}

}  // namespace json_token
#endif

// Returns the first character >= at that is not plain in a string (a quote, a backslash, a control
// character or a byte that is not ASCII), or `end` if there is none.
inline const char* skip_plain_characters(const char* at, const char* end) {
#if defined(__SSE2__)
  for (; end - at >= 16; at += 16)
    if (const unsigned odd = json_token::odd_characters(at)) return at + std::countr_zero(odd);
#else
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x80 * kOnes;
  for (; end - at >= 8; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    // The high bit of each odd byte is set. A borrow can only set the bit of a byte after an odd
    // one, so the lowest bit is exact.
    const std::uint64_t odd = ((word - 0x20 * kOnes) | ((word ^ ('"' * kOnes)) - kOnes) |
                               ((word ^ ('\\' * kOnes)) - kOnes) | word) &
                              kHighs;
    if (odd != 0) return at + std::countr_zero(odd) / 8;
  }
#endif
  while (at != end && static_cast<signed char>(*at) >= 0x20 && *at != '"' && *at != '\\') ++at;
  return at;
}

inline const char* skip_digits(const char* at, const char* end) {
  while (at != end && *at >= '0' && *at <= '9') ++at;
  return at;
}

// Returns the position after the number that begins at `at`, or nullptr if none does. It does not
// look at what follows the number.
inline const char* skip_json_number(const char* at, const char* end) {
  if (*at == '-') ++at;
  const char* const integer = at;
  at = skip_digits(at, end);
  if (at == integer || (*integer == '0' && at - integer > 1)) return nullptr;
  if (at != end && *at == '.') {
    const char* const fraction = at + 1;
    at = skip_digits(fraction, end);
    if (at == fraction) return nullptr;
  }
  if (at != end && (*at | 0x20) == 'e') {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    const char* const exponent = at;
    at = skip_digits(exponent, end);
    if (at == exponent) return nullptr;
  }
  return at;
}

// These two skip the usual numbers faster: up to 15 digits, and up to 15 digits with a point and
// digits after it, 31 characters in all. They return nullptr for any other text. The caller must
// make sure that 32 bytes can be read.
inline const char* skip_plain_integer(const char* at) {
#if defined(__SSE2__)
  const int digits = std::countr_zero(json_token::other_than_digits(at) | 0x10000U);
#else
  const std::ptrdiff_t digits = skip_digits(at, at + 16) - at;
#endif
  if (digits == 0 || digits == 16 || (*at == '0' && digits != 1)) return nullptr;
  at += digits;
  return *at != '.' && (*at | 0x20) != 'e' ? at : nullptr;
}

inline const char* skip_plain_decimal(const char* at) {
#if defined(__SSE2__)
  const unsigned others = json_token::other_than_digits(at) | json_token::other_than_digits(at + 16)
                                                                  << 16;
  const unsigned behind_point = others & (others - 1);
  if (behind_point == 0) return nullptr;
  const int digits = std::countr_zero(others);
  const int size = std::countr_zero(behind_point);
#else
  const std::ptrdiff_t digits = skip_digits(at, at + 31) - at;
  const std::ptrdiff_t size = skip_digits(at + digits + 1, at + 32) - at;
  if (size >= 32) return nullptr;
#endif
  if (digits == 0 || digits > 15 || at[digits] != '.' || size == digits + 1 ||
      (*at == '0' && digits != 1))
    return nullptr;
  at += size;
  return (*at | 0x20) != 'e' ? at : nullptr;
}

// Returns the position after the list that begins at `at`, or nullptr if it holds strings or
// objects, if it does not end, or if it must be read byte by byte.
inline const char* skip_list_of_numbers(const char* at, const char* end) {
#if defined(__SSE2__)
  std::size_t depth = 0;
  for (; end - at >= 16; at += 16)
    for (unsigned marks = json_token::marks_of_lists(at); marks != 0; marks &= marks - 1) {
      const char* const mark = at + std::countr_zero(marks);
      if (*mark == '[')
        ++depth;
      else if (*mark != ']')
        return nullptr;
      else if (--depth == 0)
        return mark + 1;
    }
#endif
  return nullptr;
}

}  // namespace traceloom
