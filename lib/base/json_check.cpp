#include "base/json_check.h"

#include "base/json_string.h"
#include "base/json_token.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace traceloom {
namespace {

enum class Kind : std::uint8_t { other, space, digit, open, close };

constexpr std::array<Kind, 256> make_kinds() {
  std::array<Kind, 256> kinds{};
  for (const char c : {' ', '\t', '\n', '\r'}) kinds[static_cast<unsigned char>(c)] = Kind::space;
  for (unsigned char c = '0'; c <= '9'; ++c) kinds[c] = Kind::digit;
  kinds['{'] = kinds['['] = Kind::open;
  kinds['}'] = kinds[']'] = Kind::close;
  return kinds;
}

constexpr std::array<Kind, 256> kKinds = make_kinds();

inline Kind kind_of(char c) {
  return kKinds[static_cast<unsigned char>(c)];
}

// The functions from here on take the position where their item should begin. They return the
// position after the item, or nullptr if no such item begins there. They read [at, end). Those
// without `end` need a character that stops them; the last character of an object or list does.

inline const char* skip_space(const char* at) {
  while (static_cast<unsigned char>(*at) <= ' ' && kind_of(*at) == Kind::space) ++at;
  return at;
}

// Checks a string from its first character on; the caller found the first odd character at `at`.
const char* odd_string(const char* begin, const char* at, const char* end) {
  while (at != end && *at != '"') {
    if (*at == '\\' && ++at == end) return nullptr;
    ++at;
  }
  if (at == end) return nullptr;
  return is_clean_json_string({begin, static_cast<std::size_t>(at - begin)}) ? at + 1 : nullptr;
}

inline const char* string(const char* at, const char* end) {
  const char* const begin = at + 1;
  at = skip_plain_characters(begin, end);
  return at != end && *at == '"' ? at + 1 : odd_string(begin, at, end);
}

const char* literal(const char* at, const char* end) {
  const std::string_view rest(at, static_cast<std::size_t>(end - at));
  for (const std::string_view word : {"true", "false", "null"})
    if (rest.starts_with(word)) return at + word.size();
  return nullptr;
}

// Checks a value that is neither an object nor a list.
inline const char* scalar(const char* at, const char* end) {
  if (*at == '"') return string(at, end);
  if (kind_of(*at) == Kind::digit || *at == '-') return skip_json_number(at, end);
  return literal(at, end);
}

// Checks a key, its colon, and the white space around the colon.
inline const char* key(const char* at, const char* end) {
  if (*at != '"') return nullptr;
  at = string(at, end);
  if (at == nullptr) return nullptr;
  at = skip_space(at);
  return *at == ':' ? skip_space(at + 1) : nullptr;
}

// The open containers, one bit each (1 for an object), the innermost in the lowest bit. The nesting
// of real values fits into a register. A value that nests deeper is checked again with a stack that
// has enough room.
class RegisterStack {
 public:
  static constexpr std::size_t kRoom = kMaxSkippedDepth;
  bool empty() const { return bits_ == 1; }
  std::size_t depth() const { return static_cast<std::size_t>(std::bit_width(bits_)) - 1; }
  bool in_object() const { return (bits_ & 1) != 0; }
  void push(bool is_object) { bits_ = bits_ << 1 | static_cast<std::uint64_t>(is_object); }
  void pop() { bits_ >>= 1; }

 private:
  std::uint64_t bits_ = 1;
};

class DeepStack {
 public:
  static constexpr std::size_t kRoom = static_cast<std::size_t>(-1);
  bool empty() const { return bits_.empty(); }
  std::size_t depth() const { return bits_.size(); }
  bool in_object() const { return bits_.back(); }
  void push(bool is_object) { bits_.push_back(is_object); }
  void pop() { bits_.pop_back(); }

 private:
  std::vector<bool> bits_;
};

// Returns the position after the container whose bracket or brace stands at `at`, or nullptr if the
// container is cut or no strict JSON.
template <class Stack>
const char* container(const char* at, const char* end, std::size_t max_depth, bool& too_deep) {
  Stack stack;
  while (true) {
    // A value begins here.
    bool closes = false;
    if (kind_of(*at) == Kind::open) {
      if (stack.depth() == max_depth) {
        too_deep = true;
        return nullptr;
      }
      const bool is_object = *at == '{';
      stack.push(is_object);
      at = skip_space(at + 1);
      closes = kind_of(*at) == Kind::close;
      if (!closes) {
        if (is_object) at = key(at, end);
        if (at == nullptr) return nullptr;
        continue;
      }
    } else {
      at = scalar(at, end);
      if (at == nullptr) return nullptr;
      at = skip_space(at);
    }
    // The container continues or ends here.
    while (closes || *at != ',') {
      closes = false;
      if (*at != (stack.in_object() ? '}' : ']')) return nullptr;
      stack.pop();
      ++at;
      if (stack.empty()) return at;
      if (at == end) return nullptr;
      at = skip_space(at);
    }
    at = skip_space(at + 1);
    if (stack.in_object()) at = key(at, end);
    if (at == nullptr) return nullptr;
  }
}

}  // namespace

bool is_strict_json(std::string_view value, std::size_t max_depth) {
  if (value.empty()) return false;
  const char* const begin = value.data();
  const char* const end = begin + value.size();
  if (kind_of(*begin) != Kind::open) return scalar(begin, end) == end;
  if (kind_of(value.back()) != Kind::close) return false;
  bool too_deep = false;
  const char* behind =
      container<RegisterStack>(begin, end, std::min(max_depth, RegisterStack::kRoom), too_deep);
  if (too_deep && max_depth > RegisterStack::kRoom)
    behind = container<DeepStack>(begin, end, max_depth, too_deep);
  return behind == end;
}

const char* skip_strict_value(const char* at, const char* end) {
  if (kind_of(*at) != Kind::open) return scalar(at, end);
  bool too_deep = false;
  return container<RegisterStack>(at, end, RegisterStack::kRoom, too_deep);
}

}  // namespace traceloom
