#include "report/text_width.h"

#include "base/json_string.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

bool starts_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

// The byte at which code point number `index` starts.
std::size_t byte_of(std::string_view text, std::size_t index) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (starts_code_point(text[i]) && index-- == 0) return i;
  return text.size();
}

bool is_control(unsigned char c) {
  return c < 0x20 || c == 0x7F;
}

// U+0080 to U+009F: some terminals obey them as they obey ESC.
bool is_high_control(std::string_view text, std::size_t i) {
  return text[i] == '\xC2' && static_cast<unsigned char>(text[i + 1]) < 0xA0;
}

void append_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += fmt::format("\\x{:02x}", c);
  }
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

std::string one_line(std::string_view text) {
  const std::string valid = to_valid_utf8(text);
  std::string out;
  out.reserve(valid.size());
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const auto c = static_cast<unsigned char>(valid[i]);
    if (is_control(c)) {
      append_escape(out, c);
    } else if (is_high_control(valid, i)) {
      append_escape(out, static_cast<unsigned char>(valid[++i]));
    } else {
      out += valid[i];
    }
  }
  return out;
}

}  // namespace traceloom
