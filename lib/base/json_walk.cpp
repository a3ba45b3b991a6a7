#include "base/json_walk.h"

#include "base/json_string.h"
#include "base/json_token.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

namespace traceloom {

JsonWalk::JsonWalk(std::string_view container)
    : text_(container),
      at_(is_json_object(container) || is_json_list(container) ? 1 : container.size()) {}

bool JsonWalk::next() {
  at_ = skip_space(at_);
  if (at_ < text_.size() && text_[at_] == ',') at_ = skip_space(at_ + 1);
  if (at_ >= text_.size() || text_[at_] == '}' || text_[at_] == ']') return false;
  if (text_.front() == '{') {
    const std::size_t end = string_end(at_);
    key_ = text_.substr(at_ + 1, end - at_ - 2);
    at_ = skip_space(std::min(skip_space(end) + 1, text_.size()));
  }
  const std::size_t end = value_end(at_);
  value_ = text_.substr(at_, end - at_);
  at_ = end;
  return true;
}

std::size_t JsonWalk::skip_space(std::size_t at) const {
  while (at < text_.size() &&
         (text_[at] == ' ' || text_[at] == '\n' || text_[at] == '\t' || text_[at] == '\r'))
    ++at;
  return at;
}

// Behind the closing quote.
std::size_t JsonWalk::string_end(std::size_t at) const {
  const char* const end = text_.data() + text_.size();
  const char* here = text_.data() + at + 1;
  while (here < end) {
    here = skip_plain_characters(here, end);
    if (here == end) break;
    if (*here == '"') return static_cast<std::size_t>(here - text_.data()) + 1;
    here += *here == '\\' ? 2 : 1;
  }
  return text_.size();
}

std::size_t JsonWalk::value_end(std::size_t at) const {
  std::size_t depth = 0;
  while (at < text_.size()) {
    const char c = text_[at];
    if (c == '"') {
      at = string_end(at);
      if (depth == 0) return at;
      continue;
    }
    if (c == '}' || c == ']') {
      if (depth == 0) return at;  // a number or word before the bracket
      ++at;
      if (--depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (depth == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\t' || c == '\r')) return at;
    ++at;
  }
  return at;
}

namespace {

// For any number of keys, and those with escapes.
bool repeats_decoded_key(std::string_view object) {
  std::unordered_set<std::string> keys;
  for (JsonWalk walk(object); walk.next();)
    if (!keys.insert(decode_json_string(walk.key())).second) return true;
  return false;
}

// Escapes make it longer.
bool is_key(std::string_view written, std::string_view key) {
  if (written.size() <= key.size()) return written == key;
  return written.find('\\') != std::string_view::npos && decode_json_string(written) == key;
}

}  // namespace

bool repeats_key(std::string_view object) {
  if (!is_json_object(object)) return false;
  // Real args have a handful of keys: to compare each with those before it beats any table.
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
    if (is_key(name, key)) found = value;
  });
  return found;
}

}  // namespace traceloom
