#include "base/json_check.h"

#include "base/json_string.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace traceloom {
namespace {

enum class Kind : std::uint8_t { other, space, digit, minus, quote, open, close, literal };

constexpr std::array<Kind, 256> make_kinds() {
  std::array<Kind, 256> kinds{};
  for (const char c : {' ', '\t', '\n', '\r'}) kinds[static_cast<unsigned char>(c)] = Kind::space;
  for (unsigned char c = '0'; c <= '9'; ++c) kinds[c] = Kind::digit;
  for (const char c : {'t', 'f', 'n'}) kinds[static_cast<unsigned char>(c)] = Kind::literal;
  kinds['-'] = Kind::minus;
  kinds['"'] = Kind::quote;
  kinds['{'] = kinds['['] = Kind::open;
  kinds['}'] = kinds[']'] = Kind::close;
  return kinds;
}

constexpr std::array<Kind, 256> kKinds = make_kinds();

Kind kind_of(char c) {
  return kKinds[static_cast<unsigned char>(c)];
}

constexpr std::uint64_t kOnes = 0x0101010101010101;
constexpr std::uint64_t kHighs = 0x80 * kOnes;

// Eight characters, the first one in the low byte.
std::uint64_t load(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// Which containers are open: one bit each, set for an object. The innermost 64 live in a register,
// which real values never exceed; the rest is spilled.
class ContainerStack {
 public:
  std::size_t depth() const { return depth_; }
  bool in_object() const { return (innermost_ & 1) != 0; }
  void push(bool is_object) {
    if (depth_ >= 64) spilled_.push_back(innermost_ >> 63 != 0);
    innermost_ = innermost_ << 1 | static_cast<std::uint64_t>(is_object);
    ++depth_;
  }
  void pop() {
    innermost_ >>= 1;
    --depth_;
    if (depth_ < 64) return;
    innermost_ |= static_cast<std::uint64_t>(spilled_.back()) << 63;
    spilled_.pop_back();
  }

 private:
  std::uint64_t innermost_ = 0;
  std::size_t depth_ = 0;
  std::vector<bool> spilled_;
};

// The methods take the position where something should begin and give the one behind it, or
// nullptr when it does not begin there.
class Checker {
 public:
  Checker(std::string_view text, std::size_t max_depth)
      : end_(text.data() + text.size()), max_depth_(max_depth) {}

  bool is_value(const char* at);

 private:
  const char* skip_space(const char* at) const {
    if (end_ - at >= 2 && at[0] == ' ' && kind_of(at[1]) != Kind::space) return at + 1;
    while (at != end_ && kind_of(*at) == Kind::space) ++at;
    return at;
  }
  const char* skip_digits(const char* at) const;
  const char* skip_plain(const char* at) const;
  const char* string(const char* at) const;
  const char* odd_string(const char* begin, const char* at) const;
  const char* number(const char* at) const;
  const char* literal(const char* at) const;
  const char* key(const char* at) const;
  const char* open(const char* at, bool& empty);
  const char* close(const char* at);

  const char* end_;
  std::size_t max_depth_;
  ContainerStack stack_;
};

// The first character >= at that does not simply stand for itself in a string: a quote, a
// backslash, a control character or a byte that is not ASCII.
inline const char* Checker::skip_plain(const char* at) const {
  for (; end_ - at >= 8; at += 8) {
    const std::uint64_t word = load(at);
    // A high bit comes up for each such byte. A borrow can raise one more behind such a byte only,
    // so the lowest is exact.
    const std::uint64_t odd = ((word - 0x20 * kOnes) | ((word ^ ('"' * kOnes)) - kOnes) |
                               ((word ^ ('\\' * kOnes)) - kOnes) | word) &
                              kHighs;
    if (odd != 0) return at + std::countr_zero(odd) / 8;
  }
  while (at != end_ && static_cast<signed char>(*at) >= 0x20 && *at != '"' && *at != '\\') ++at;
  return at;
}

// Eight bytes at a time for the misprediction that the end of a short loop costs, not for long
// numbers.
inline const char* Checker::skip_digits(const char* at) const {
  for (; end_ - at >= 8; at += 8) {
    const std::uint64_t digits = load(at) ^ ('0' * kOnes);
    // Likewise: 0x76 lifts what is above 9 to the high bit.
    const std::uint64_t odd = ((digits + 0x76 * kOnes) | digits) & kHighs;
    if (odd != 0) return at + std::countr_zero(odd) / 8;
  }
  while (at != end_ && kind_of(*at) == Kind::digit) ++at;
  return at;
}

inline const char* Checker::string(const char* at) const {
  const char* const begin = at + 1;
  at = skip_plain(begin);
  if (at != end_ && *at == '"') return at + 1;
  return odd_string(begin, at);
}

// A string with something to look at from `at` on.
const char* Checker::odd_string(const char* begin, const char* at) const {
  while (at != end_ && *at != '"') {
    if (*at == '\\' && ++at == end_) return nullptr;
    ++at;
  }
  if (at == end_) return nullptr;
  return is_clean_json_string({begin, static_cast<std::size_t>(at - begin)}) ? at + 1 : nullptr;
}

inline const char* Checker::number(const char* at) const {
  if (*at == '-') ++at;
  const char* const integer = at;
  at = skip_digits(at);
  if (at == integer || (*integer == '0' && at - integer > 1)) return nullptr;
  if (at != end_ && *at == '.') {
    const char* const fraction = at + 1;
    at = skip_digits(fraction);
    if (at == fraction) return nullptr;
  }
  if (at != end_ && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end_ && (*at == '+' || *at == '-')) ++at;
    const char* const exponent = at;
    at = skip_digits(exponent);
    if (at == exponent) return nullptr;
  }
  return at;
}

const char* Checker::literal(const char* at) const {
  const std::string_view rest(at, static_cast<std::size_t>(end_ - at));
  for (const std::string_view word : {"true", "false", "null"})
    if (rest.starts_with(word)) return at + word.size();
  return nullptr;
}

// A key and its colon, and the white space behind them.
inline const char* Checker::key(const char* at) const {
  if (at == end_ || *at != '"') return nullptr;
  at = string(at);
  if (at == nullptr) return nullptr;
  at = skip_space(at);
  return at != end_ && *at == ':' ? skip_space(at + 1) : nullptr;
}

// A bracket or brace, and the first key behind a brace. `empty` when it is closed at once.
inline const char* Checker::open(const char* at, bool& empty) {
  const bool is_object = *at == '{';
  if (stack_.depth() == max_depth_) return nullptr;
  stack_.push(is_object);
  at = skip_space(at + 1);
  empty = at != end_ && kind_of(*at) == Kind::close;
  return is_object && !empty ? key(at) : at;
}

inline const char* Checker::close(const char* at) {
  if (*at != (stack_.in_object() ? '}' : ']')) return nullptr;
  stack_.pop();
  return at + 1;
}

bool Checker::is_value(const char* at) {
  while (at != nullptr && at != end_) {
    bool inside = false;  // at a value's place; behind a value otherwise
    switch (kind_of(*at)) {
      case Kind::quote:
        at = string(at);
        break;
      case Kind::digit:
      case Kind::minus:
        at = number(at);
        break;
      case Kind::literal:
        at = literal(at);
        break;
      case Kind::open: {
        bool empty = false;
        at = open(at, empty);
        inside = !empty;
        break;
      }
      default:
        return false;
    }
    if (inside) continue;
    while (at != nullptr && stack_.depth() > 0) {
      at = skip_space(at);
      if (at == end_) return false;
      if (*at == ',') {
        at = skip_space(at + 1);
        if (stack_.in_object()) at = key(at);
        inside = true;
        break;
      }
      at = close(at);
    }
    if (!inside) return at == end_;
  }
  return false;
}

}  // namespace

bool is_strict_json(std::string_view value, std::size_t max_depth) {
  return Checker(value, max_depth).is_value(value.data());
}

}  // namespace traceloom
