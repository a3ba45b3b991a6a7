// Classifies and lowers ASCII characters; the locale has no influence.
//
//   to_lower("Merged.GZ") == "merged.gz"
#pragma once

#include <string>
#include <string_view>

namespace traceloom {

// JSON allows exactly these characters between its tokens.
inline bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

inline char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

inline std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

}  // namespace traceloom
