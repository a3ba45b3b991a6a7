#include "base/one_line.h"

#include "base/json_string.h"

#include <fmt/format.h>

#include <cstdint>

namespace traceloom {
namespace {

struct Obeyed {
  std::uint32_t code_point;
  std::size_t length;  // length in bytes; 0 if the text does not begin with a character that a
                       // terminal obeys
};

// `text` is valid UTF-8.
Obeyed first_obeyed(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return {byte(0), 1};
  // Some terminals obey U+0080 to U+009F like ESC.
  if (byte(0) == 0xC2 && byte(1) < 0xA0) return {byte(1), 2};
  if (byte(0) != 0xE2) return {};
  const std::uint32_t code_point = 0x2000 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU);
  const bool ends_line = code_point == 0x2028 || code_point == 0x2029;
  const bool turns_direction = (code_point >= 0x202A && code_point <= 0x202E) ||
                               (code_point >= 0x2066 && code_point <= 0x2069);
  return {code_point, ends_line || turns_direction ? std::size_t{3} : 0};
}

void append_escape(std::string& out, std::uint32_t code_point) {
  switch (code_point) {
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
      out += code_point < 0x20 ? fmt::format("\\x{:02x}", code_point)
                               : fmt::format("\\u{:04x}", code_point);
  }
}

enum class LineFeed { escaped, kept };

std::string escaped(std::string_view text, LineFeed line_feed) {
  const std::string valid = to_valid_utf8(text);
  std::string out;
  out.reserve(valid.size());
  for (std::size_t i = 0; i < valid.size();) {
    const Obeyed obeyed = first_obeyed(std::string_view(valid).substr(i));
    if (obeyed.length == 0 || (valid[i] == '\n' && line_feed == LineFeed::kept)) {
      out += valid[i++];
    } else {
      append_escape(out, obeyed.code_point);
      i += obeyed.length;
    }
  }
  return out;
}

}  // namespace

std::string one_line(std::string_view text) {
  return escaped(text, LineFeed::escaped);
}

std::string printable_lines(std::string_view text) {
  return escaped(text, LineFeed::kept);
}

}  // namespace traceloom
