#include "oracle/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>

namespace traceloom::oracle {
namespace {

// Recursive descent, one function a rule of the grammar.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Json document() {
    Json value = parse_value();
    skip_space();
    if (at_ != text_.size()) fail("text after the document");
    return value;
  }

 private:
  [[noreturn]] void fail(const char* problem) const {
    throw std::runtime_error(fmt::format("byte {}: {}", at_, problem));
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(peek()) != std::string_view::npos)
      ++at_;
  }

  bool take(char expected) {
    skip_space();
    if (at_ == text_.size() || peek() != expected) return false;
    ++at_;
    return true;
  }

  void expect(char expected) {
    if (!take(expected)) fail("something else was expected here");
  }

  Json parse_value() {
    skip_space();
    switch (peek()) {
      case '{':
        return parse_object();
      case '[':
        return parse_array();
      case '"':
        return {Json::Kind::string, parse_string(), {}, {}};
      case 't':
        return parse_word("true", Json::Kind::boolean);
      case 'f':
        return parse_word("false", Json::Kind::boolean);
      case 'n':
        return parse_word("null", Json::Kind::null);
      default:
        return parse_number();
    }
  }

  Json parse_word(std::string_view word, Json::Kind kind) {
    if (text_.substr(at_, word.size()) != word) fail("not a JSON value");
    at_ += word.size();
    return {kind, std::string(word), {}, {}};
  }

  std::size_t take_digits() {
    const std::size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ - begin;
  }

  Json parse_number() {
    const std::size_t begin = at_;
    if (peek() == '-') ++at_;
    const bool leading_zero = peek() == '0';
    const std::size_t digits = take_digits();
    if (digits == 0 || (leading_zero && digits > 1)) fail("not a JSON value");
    if (peek() == '.') {
      ++at_;
      if (take_digits() == 0) fail("no digit after the decimal point");
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (take_digits() == 0) fail("no digit in the exponent");
    }
    return {Json::Kind::number, std::string(text_.substr(begin, at_ - begin)), {}, {}};
  }

  Json parse_array() {
    Json array{Json::Kind::array, {}, {}, {}};
    expect('[');
    if (take(']')) return array;
    do {
      array.items.push_back(parse_value());
    } while (take(','));
    expect(']');
    return array;
  }

  Json parse_object() {
    Json object{Json::Kind::object, {}, {}, {}};
    expect('{');
    if (take('}')) return object;
    do {
      skip_space();
      object.keys.push_back(parse_string());
      expect(':');
      object.items.push_back(parse_value());
    } while (take(','));
    expect('}');
    return object;
  }

  std::string parse_string() {
    std::string characters;
    expect('"');
    while (true) {
      if (at_ == text_.size()) fail("string is not closed");
      const char next = text_[at_++];
      if (next == '"') return characters;
      if (static_cast<unsigned char>(next) < 0x20) fail("raw control character in a string");
      if (next == '\\')
        parse_escape(characters);
      else
        characters += next;
    }
  }

  void parse_escape(std::string& out) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = peek();
    ++at_;
    if (letter == 'u') return append_utf8(out, parse_code_point());
    const std::size_t index = kLetters.find(letter);
    if (index == std::string_view::npos) fail("unknown escape");
    out += kMeanings[index];
  }

  std::uint32_t parse_code_point() {
    static constexpr std::uint32_t kReplacement = 0xFFFD;
    const std::uint32_t first = parse_hex4();
    if (first < 0xD800 || first > 0xDFFF) return first;
    if (first > 0xDBFF || text_.substr(at_, 2) != "\\u") return kReplacement;
    const std::size_t before_second = at_;
    at_ += 2;
    const std::uint32_t second = parse_hex4();
    if (second >= 0xDC00 && second <= 0xDFFF)
      return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    at_ = before_second;
    return kReplacement;
  }

  std::uint32_t parse_hex4() {
    static constexpr std::string_view kDigits = "0123456789abcdef0123456789ABCDEF";
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const std::size_t digit = kDigits.find(peek());
      if (at_ == text_.size() || digit == std::string_view::npos) fail("four hex digits expected");
      value = value * 16 + static_cast<std::uint32_t>(digit % 16);
      ++at_;
    }
    return value;
  }

  static void append_utf8(std::string& out, std::uint32_t point) {
    const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
    if (point < 0x80) return byte(point);
    if (point < 0x800) {
      byte(0xC0 | (point >> 6));
    } else {
      if (point < 0x10000) {
        byte(0xE0 | (point >> 12));
      } else {
        byte(0xF0 | (point >> 18));
        byte(0x80 | ((point >> 12) & 0x3F));
      }
      byte(0x80 | ((point >> 6) & 0x3F));
    }
    byte(0x80 | (point & 0x3F));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string quoted(const std::string& characters) {
  std::string out = "\"";
  for (const char c : characters) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string canonical_object(const Json& object) {
  std::vector<std::size_t> order(object.keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&object](std::size_t a, std::size_t b) {
    return object.keys[a] < object.keys[b];
  });
  std::string out;
  for (const std::size_t i : order)
    out +=
        (out.empty() ? "{" : ",") + quoted(object.keys[i]) + ":" + canonical_text(object.items[i]);
  return out.empty() ? "{}" : out + "}";
}

}  // namespace

const Json* Json::find(std::string_view key) const {
  for (std::size_t i = keys.size(); i-- > 0;)
    if (keys[i] == key) return &items[i];
  return nullptr;
}

Json parse_json(std::string_view text) {
  return Parser(text).document();
}

std::string canonical_text(const Json& value) {
  switch (value.kind) {
    case Json::Kind::string:
      return quoted(value.text);
    case Json::Kind::object:
      return canonical_object(value);
    case Json::Kind::array: {
      std::string out;
      for (const Json& item : value.items) out += (out.empty() ? "[" : ",") + canonical_text(item);
      return out.empty() ? "[]" : out + "]";
    }
    default:
      return value.text;
  }
}

}  // namespace traceloom::oracle
