#include "base/json_walk.h"

#include "base/json_string.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

namespace traceloom {
namespace {

// Handles any number of keys, and keys with escapes.
bool repeats_decoded_key(std::string_view object) {
  std::unordered_set<std::string> keys;
  for (JsonWalk walk(object); walk.next();)
    if (!keys.insert(decode_json_string(walk.key())).second) return true;
  return false;
}

// True if a quote, the key, a quote and a colon stand at `at`.
bool is_key_at(const char* at, const char* end, std::string_view key) {
  if (static_cast<std::size_t>(end - at) < key.size() + 3) return false;
  if (*at != '"' || std::memcmp(at + 1, key.data(), key.size()) != 0) return false;
  at += key.size() + 1;
  if (*at != '"') return false;
  do ++at;
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'));
  return at != end && *at == ':';
}

// Returns the place where a member with that key begins, between `at` and `end` in an object; `end`
// if there is none, and `at` if finding out takes a walk. A key stands in the object itself if no
// other object begins before it.
const char* skip_to_json_key(const char* at, const char* end, std::string_view key) {
  if (key.empty()) return at;
  const char* const begin = at;
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i first = _mm_set1_epi8(key.front());
  const __m128i brace = _mm_set1_epi8('{');
  for (; end - at > 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i next = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 1));
    const __m128i starts = _mm_and_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(next, first));
    const auto braces = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, brace)));
    for (auto bits = static_cast<unsigned>(_mm_movemask_epi8(starts)); bits != 0; bits &= bits - 1)
      if (const char* const place = at + std::countr_zero(bits); is_key_at(place, end, key))
        return (braces & (bits - 1) & ~bits) != 0 || place[-1] == '\\' ? begin : place;
    if (braces != 0) return begin;
  }
#endif
  for (; at != end; ++at) {
    if (is_key_at(at, end, key)) return at[-1] == '\\' ? begin : at;
    if (*at == '{') return begin;
  }
  return end;
}

}  // namespace

bool JsonWalk::next(std::string_view key) {
  if (has_keys_) at_ = skip_to_json_key(at_, end_, key);
  while (next())
    if (key_ == key) return true;
  return false;
}

// Compares lengths first: escapes make the written key longer, so a shorter one cannot match.
bool is_json_key(std::string_view written, std::string_view key) {
  if (written.size() <= key.size()) return written == key;
  return written.find('\\') != std::string_view::npos && decode_json_string(written) == key;
}

bool repeats_key(std::string_view object) {
  if (!is_json_object(object)) return false;
  // Real args have a handful of keys: comparing each key with the earlier ones is faster than any
  // table.
  std::array<std::string_view, 24> keys;
  std::size_t count = 0;
  for (JsonWalk walk(object); walk.next();) {
    if (count == keys.size() || walk.key().find('\\') != std::string_view::npos)
      return repeats_decoded_key(object);
    const auto end = keys.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::find(keys.begin(), end, walk.key()) != end) return true;
    keys[count++] = walk.key();
  }
  return false;
}

std::string_view find_member(std::string_view object, std::string_view key) {
  std::string_view found;
  for_each_member(object, [&](std::string_view name, std::string_view value) {
    if (is_json_key(name, key)) found = value;
  });
  return found;
}

}  // namespace traceloom
