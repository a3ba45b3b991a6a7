// Random JSON and random damage to it; the same seed gives the same text everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>

namespace traceloom {

// True when a number in `text` may be one that no 64-bit integer or double holds: simdjson refuses
// it.
inline bool has_extreme_number(std::string_view text) {
  std::size_t digits = 0;
  bool exponent = false;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && c != '+' && c != '-') exponent = c == 'e' || c == 'E';
    digits = is_digit ? digits + 1 : 0;
    if (digits > (exponent ? 2U : 18U)) return true;
  }
  return false;
}

class RandomJson {
 public:
  explicit RandomJson(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

  // Strict JSON without surrogate escapes; numbers that any reader can hold.
  std::string value(int depth = 4) {
    switch (below(depth > 0 ? 9 : 6)) {
      case 0:
        return pick({"true", "false", "null", "0", "-0", "\"\"", "[]", "{}", "[ ]", "{\n}"});
      case 1:
      case 2:
        return number();
      case 3:
      case 4:
      case 5:
        return string();
      case 6:
        return list(depth);
      default:
        return object(depth);
    }
  }

  std::string object(int depth) {
    std::string text = "{" + space();
    for (std::size_t left = below(6); left > 0; --left) {
      text += string() + space() + ":" + space() + value(depth - 1) + space();
      if (left > 1) text += "," + space();
    }
    return text + "}";
  }

  std::string list(int depth) {
    std::string text = "[" + space();
    for (std::size_t left = below(6); left > 0; --left) {
      text += value(depth - 1) + space();
      if (left > 1) text += "," + space();
    }
    return text + "]";
  }

  std::string string() {
    std::string text = "\"";
    for (std::size_t left = below(24); left > 0; --left) {
      if (below(8) != 0) {
        text += static_cast<char>('a' + below(26));
      } else {
        text += pick({" ", ":", ",", "{", "]", "\\\"", "\\\\", "\\/", "\\n", "\\u0041", "\\u00e9",
                      "\\u0000", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\x7F"});
      }
    }
    return text + "\"";
  }

  std::string number() {
    std::string text = below(3) == 0 ? "-" : "";
    text += below(5) == 0 ? "0" : std::to_string(1 + below(std::size_t{1} << below(40)));
    if (below(3) == 0) text += "." + std::to_string(below(100000));
    if (below(6) == 0) text += pick({"e", "E", "e+", "E-"}) + std::to_string(below(10));
    return text;
  }

  // One byte flipped, taken out, put in, or copied from elsewhere; at most three times.
  std::string damaged(std::string text) {
    constexpr std::string_view kBytes =
        "\"\"\\\\{}[],,::0123456789eE+-. \n\ttfnu\x01\x1F\x80\xC3\xED\xFF";
    for (std::size_t left = 1 + below(3); left > 0 && !text.empty(); --left) {
      const std::size_t at = below(text.size());
      const char byte =
          below(4) == 0 ? static_cast<char>(below(256)) : kBytes[below(kBytes.size())];
      switch (below(4)) {
        case 0:
          text[at] = byte;
          break;
        case 1:
          text.erase(at, 1);
          break;
        case 2:
          text.insert(at, 1, byte);
          break;
        default:
          text.insert(at, text.substr(below(text.size()), 1 + below(6)));
      }
    }
    return text;
  }

 private:
  std::string pick(std::initializer_list<const char*> choices) {
    return choices.begin()[below(choices.size())];
  }
  std::string space() { return pick({"", "", "", " ", " ", "\n  ", "\t", "\r\n        "}); }

  std::mt19937_64 random_;
};

}  // namespace traceloom
