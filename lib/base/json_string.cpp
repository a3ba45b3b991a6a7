#include "base/json_string.h"

#include "base/json_walk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace traceloom {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// The first character of a text, or the longest prefix of a character if the character is broken.
struct Sequence {
  std::size_t length;
  bool well_formed;
};

// The range of the second byte excludes overlong forms, surrogates and code points beyond U+10FFFF.
// Every later byte is 80..BF.
struct LeadByte {
  std::size_t length;
  unsigned char second_min;
  unsigned char second_max;
};

LeadByte classify_lead(unsigned char lead) {
  if (lead < 0x80) return {1, 0, 0};
  if (lead < 0xC2) return {0, 0, 0};  // a continuation byte, or overlong
  if (lead < 0xE0) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead < 0xF0) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead < 0xF4) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

Sequence first_sequence(std::string_view text) {
  const LeadByte lead = classify_lead(byte_at(text, 0));
  if (lead.length == 0) return {1, false};
  if (lead.length == 1) return {1, true};
  if (text.size() < 2) return {1, false};
  if (byte_at(text, 1) < lead.second_min || byte_at(text, 1) > lead.second_max) return {1, false};
  for (std::size_t i = 2; i < lead.length; ++i)
    if (i == text.size() || (byte_at(text, i) & 0xC0) != 0x80) return {i, false};
  return {lead.length, true};
}

// Returns the number of plain characters at the start. Nearly all names in traces are plain to
// their end, so this is the cost of a string.
std::size_t plain_prefix(std::string_view text) {
  const char* const end = text.data() + text.size();
  return static_cast<std::size_t>(skip_plain_characters(text.data(), end) - text.data());
}

void append_utf8(std::string& out, std::uint32_t code_point) {
  const auto continuation = [&](int shift) {
    out += static_cast<char>(0x80 | ((code_point >> shift) & 0x3F));
  };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xC0 | (code_point >> 6));
    continuation(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xE0 | (code_point >> 12));
    continuation(6);
    continuation(0);
  } else {
    out += static_cast<char>(0xF0 | (code_point >> 18));
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

std::optional<std::uint32_t> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

constexpr std::size_t kUnicodeEscapeLength = 6;  // \uXXXX

// Returns the code unit of the \uXXXX that `text` starts with, if it does.
std::optional<std::uint32_t> unicode_escape(std::string_view text) {
  if (text.size() < kUnicodeEscapeLength || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  std::uint32_t unit = 0;
  for (std::size_t i = 2; i < kUnicodeEscapeLength; ++i) {
    const std::optional<std::uint32_t> digit = hex_digit(text[i]);
    if (!digit) return std::nullopt;
    unit = unit << 4 | *digit;
  }
  return unit;
}

bool is_surrogate(std::uint32_t unit) {
  return unit >= 0xD800 && unit <= 0xDFFF;
}
bool is_high_surrogate(std::uint32_t unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
bool is_low_surrogate(std::uint32_t unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

// Returns the character that a backslash and `c` mean, or 0 if they mean none.
char simple_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

// Decodes the escape that `text` starts with; returns how many bytes of it were used.
std::size_t append_escape(std::string& out, std::string_view text) {
  if (const char c = text.size() < 2 ? '\0' : simple_escape(text[1]); c != 0) {
    out += c;
    return 2;
  }
  const std::optional<std::uint32_t> unit = unicode_escape(text);
  if (!unit) {
    out += '\\';  // unknown escape: keep the backslash and the characters after it as they are
    return 1;
  }
  if (!is_surrogate(*unit)) {
    append_utf8(out, *unit);
    return kUnicodeEscapeLength;
  }
  const std::optional<std::uint32_t> low = unicode_escape(text.substr(kUnicodeEscapeLength));
  if (is_high_surrogate(*unit) && low && is_low_surrogate(*low)) {
    append_utf8(out, 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00));
    return 2 * kUnicodeEscapeLength;
  }
  out += kReplacement;
  return kUnicodeEscapeLength;
}

// Copies one character, or U+FFFD for bytes that form none; returns the number of bytes used.
std::size_t append_sequence(std::string& out, std::string_view text) {
  const Sequence sequence = first_sequence(text);
  out += sequence.well_formed ? text.substr(0, sequence.length) : kReplacement;
  return sequence.length;
}

void append_control(std::string& out, char c) {
  constexpr char kHex[] = "0123456789abcdef";
  constexpr std::string_view kLetters = "\bb\ff\nn\rr\tt";
  if (const std::size_t i = kLetters.find(c); i != std::string_view::npos) {
    out += '\\';
    out += kLetters[i + 1];
    return;
  }
  out += "\\u00";
  out += kHex[(c >> 4) & 0xF];
  out += kHex[c & 0xF];
}

// Returns the length of the escape that `text` starts with, or 0 for no escape and for half of a
// surrogate pair.
std::size_t clean_escape_length(std::string_view text) {
  if (text.size() >= 2 && simple_escape(text[1]) != 0) return 2;
  const std::optional<std::uint32_t> unit = unicode_escape(text);
  return unit && !is_surrogate(*unit) ? kUnicodeEscapeLength : 0;
}

}  // namespace

std::string decode_json_string(std::string_view body) {
  std::string out;
  out.reserve(body.size());
  while (!body.empty()) {
    const std::size_t plain = plain_prefix(body);
    out += body.substr(0, plain);
    body.remove_prefix(plain);
    if (body.empty()) break;
    if (body[0] == '\\') {
      body.remove_prefix(append_escape(out, body));
    } else {
      body.remove_prefix(append_sequence(out, body));
    }
  }
  return out;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t plain = plain_prefix(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text[0];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      text.remove_prefix(1);
    } else if (c >= 0 && c < 0x20) {
      append_control(out, c);
      text.remove_prefix(1);
    } else {
      text.remove_prefix(append_sequence(out, text));
    }
  }
  out += '"';
}

std::string json_string(std::string_view text) {
  std::string json;
  append_json_string(json, text);
  return json;
}

StringFaults find_string_faults(std::string_view body) {
  StringFaults faults;
  while (true) {
    body.remove_prefix(plain_prefix(body));
    if (body.empty()) return faults;
    std::size_t length = 1;
    if (body[0] == '\\') {
      length = clean_escape_length(body);
      if (length == 0) {
        std::string character;
        length = append_escape(character, body);
        (length == 2 * kUnicodeEscapeLength ? faults.surrogate_pair : faults.bad_escape) = true;
      }
    } else if (byte_at(body, 0) >= 0x80) {
      const Sequence sequence = first_sequence(body);
      length = sequence.length;
      faults.invalid_utf8 |= !sequence.well_formed;
    } else {
      (byte_at(body, 0) < 0x20 ? faults.control_character : faults.quote) = true;
    }
    body.remove_prefix(length);
  }
}

bool is_clean_json_string(std::string_view body) {
  return find_string_faults(body) == StringFaults{};
}

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = plain_prefix(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(append_sequence(out, text));
  }
  return out;
}

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
