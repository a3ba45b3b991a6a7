// Walks strict JSON in place, from token to token or from member to member.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

// Finds the end of a string or number of strict JSON: the inner loops of all code that reads JSON.
//
//   const char* behind = skip_json_number(at, end);   // nullptr: no JSON number begins at `at`
//
// All functions read [at, end) only and require at < end. With SSE2, which every x86-64 has, they
// take 16 bytes a step, otherwise 8.

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

// Walks strict JSON in place: the members of an object, the elements of a list.
//
//   for_each_member(args, [&](std::string_view key, std::string_view value) {
//     if (key == "snapshot") use(value);
//   });
//
// Who wants one member of many skips to it, which is faster than walking over the others:
//
//   for (JsonWalk walk(args); walk.next("Input Dims");) use(walk.value());
//
// The walk copies nothing. The text should be is_strict_json(): the walk does not notice where it
// is not and may then return any part of the text as a member, but it never reads outside the text.
// The code stands in the header because it is the hot path of statistics: out of line, memory and
// operators took 8 and 5 % longer.

inline bool is_json_object(std::string_view value) {
  return !value.empty() && value.front() == '{';
}
inline bool is_json_list(std::string_view value) {
  return !value.empty() && value.front() == '[';
}
// In strict JSON only numbers begin with these characters.
inline bool is_json_number(std::string_view value) {
  return !value.empty() && (value.front() == '-' || (value.front() >= '0' && value.front() <= '9'));
}

// Walks over the members between two brackets, one step at a time.
class JsonWalk {
 public:
  // `container` is an object or a list; anything else has no members.
  explicit JsonWalk(std::string_view container)
      : at_(container.data()),
        end_(container.data() + container.size()),
        has_keys_(is_json_object(container)) {
    if (has_keys_ || is_json_list(container))
      ++at_;
    else
      at_ = end_;
  }

  // Moves to the next member or element; false when there is none.
  bool next() {
    if (has_keys_) {
      // Skip everything before the key: some producers write comments there, or a comma too many.
      while (at_ != end_ && *at_ != '"') ++at_;
      if (at_ == end_) return false;
      read_key();
    } else {
      skip_space();
      if (at_ != end_ && *at_ == ',') {
        ++at_;
        skip_space();
      }
      if (at_ == end_ || *at_ == '}' || *at_ == ']') return false;
    }
    const char* const value = at_;
    skip_value();
    value_ = {value, static_cast<std::size_t>(at_ - value)};
    return true;
  }
  // Moves to the next member whose key is written so; false when there is none.
  bool next(std::string_view key);
  // The text between the quotes of the key, as written; empty in a list.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  void skip_space() {
    while (at_ != end_ && is_space(*at_)) ++at_;
  }
  void read_key() {
    const char* const key = at_ + 1;
    skip_string();
    key_ = {key, static_cast<std::size_t>(at_ - key)};
    if (!key_.empty()) key_.remove_suffix(1);
    skip_space();
    if (at_ != end_) ++at_;  // the colon
    skip_space();
  }
  // Moves from an opening quote to the position after the closing one.
  void skip_string() {
    ++at_;
    while (at_ != end_) {
      at_ = skip_plain_characters(at_, end_);
      if (at_ == end_) return;
      const char c = *at_++;
      if (c == '"') return;
      if (c == '\\' && at_ != end_) ++at_;
    }
  }
  void skip_value() {
    if (at_ != end_ && *at_ == '[') {
      if (const char* const behind = skip_list_of_numbers(at_, end_); behind != nullptr) {
        at_ = behind;
        return;
      }
    }
    at_ = skip_digits(at_, end_);
    std::size_t depth = 0;
    while (at_ != end_) {
      const char c = *at_;
      if (c == '"') {
        skip_string();
        if (depth == 0) return;
        continue;
      }
      const bool closes = c == '}' || c == ']';
      // A number or word ends here.
      if (depth == 0 && (closes || c == ',' || is_space(c))) return;
      if (c == '{' || c == '[') ++depth;
      ++at_;
      if (closes && --depth == 0) return;
    }
  }

  const char* at_;
  const char* end_;
  bool has_keys_;
  std::string_view key_;
  std::string_view value_;
};

template <typename Visit>
void for_each_member(std::string_view object, Visit visit) {
  if (!is_json_object(object)) return;
  for (JsonWalk walk(object); walk.next();) visit(walk.key(), walk.value());
}

template <typename Visit>
void for_each_element(std::string_view list, Visit visit) {
  if (!is_json_list(list)) return;
  for (JsonWalk walk(list); walk.next();) visit(walk.value());
}

// True if two members of an object have the same key, however it is written ("a" and "\u0061").
// Only this object's own keys are compared, not those of nested values. False if `object` is no
// object.
bool repeats_key(std::string_view object);

// True if a key that is written so (the text between its quotes) means `key`.
bool is_json_key(std::string_view written, std::string_view key);

// Returns the value of the last member with that key, however the key is written. Empty if there is
// none or if the value is no object.
std::string_view find_member(std::string_view object, std::string_view key);

}  // namespace traceloom
