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

}  // namespace

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
