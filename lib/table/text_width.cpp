#include "table/text_width.h"

#include <algorithm>

namespace traceloom {
namespace {

bool starts_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

// Returns the byte at which code point number `index` starts.
std::size_t byte_of(std::string_view text, std::size_t index) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (starts_code_point(text[i]) && index-- == 0) return i;
  return text.size();
}

}  // namespace

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string shorten_middle(std::string_view text, std::size_t width) {
  const std::size_t full = text_width(text);
  if (full <= width) return std::string(text);
  const std::size_t tail = (width - 1) / 2;
  const std::size_t head = width - 1 - tail;
  std::string out(text.substr(0, byte_of(text, head)));
  out += "…";
  out += text.substr(byte_of(text, full - tail));
  return out;
}

std::vector<std::string> wrap_words(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", start), text.size());
    const std::string_view word = text.substr(start, end - start);
    const bool fits = text_width(lines.back()) + 1 + text_width(word) <= width;
    if (!fits && !lines.back().empty()) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    if (end < text.size() && text[end] == '\n') lines.emplace_back();
    start = end + 1;
  }
  return lines;
}

}  // namespace traceloom
