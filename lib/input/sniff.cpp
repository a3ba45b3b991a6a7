#include "input/sniff.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace traceloom {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::size_t offset;
  std::string_view bytes;
  Foreign foreign;
};

constexpr std::string_view kToUtf8 = "convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)";
constexpr std::string_view kNeedsJson = "Chrome JSON traces are needed";

constexpr std::array kMagics{
    Magic{0, "PK\3\4"sv, {"a zip archive", "unpack it first (unzip)"}},
    Magic{0, "PK\5\6"sv, {"an empty zip archive", kNeedsJson}},
    Magic{0, "\x28\xb5\x2f\xfd"sv, {"zstd compressed", "unpack it first (zstd -d)"}},
    Magic{0, "\x04\x22\x4d\x18"sv, {"lz4 compressed", "unpack it first (lz4 -d)"}},
    Magic{0, "BZh"sv, {"bzip2 compressed", "unpack it first (bzip2 -d)"}},
    Magic{0, "\xfd\x37zXZ\0"sv, {"xz compressed", "unpack it first (xz -d)"}},
    Magic{0, "7z\xbc\xaf\x27\x1c"sv, {"a 7z archive", "unpack it first (7z x)"}},
    Magic{257, "ustar"sv, {"a tar archive", "unpack it first (tar -xf)"}},
    Magic{0, "\x89PNG\r\n\x1a\n"sv, {"a PNG picture", kNeedsJson}},
    Magic{0, "# tracer:"sv, {"ftrace text", kNeedsJson}},
    Magic{0, "\xff\xfe"sv, {"UTF-16 text", kToUtf8}},
    Magic{0, "\xfe\xff"sv, {"UTF-16 text", kToUtf8}},
    Magic{0, "SQLite format 3\0"sv, {"an SQLite database (an nsys export?)", kNeedsJson}},
    Magic{0,
          "version https://git-lfs"sv,
          {"a git-lfs pointer, not the file itself", "fetch the file first (git lfs pull)"}},
};

constexpr Foreign kUtf16WithoutMark{"UTF-16 text", kToUtf8};
constexpr Foreign kMarkup{"HTML or XML (a saved error page?)", "save the trace itself"};
constexpr Foreign kPerfetto{"a binary Perfetto trace", "convert it to JSON first (traceconv json)"};
constexpr Foreign kZeros{"filled with zero bytes at the start",
                         "it was probably never written to the end; record it again"};

bool is_json_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// UTF-16 text begins with a bracket or brace and a zero byte next to it; UTF-8 text never does.
bool is_utf16_without_mark(std::string_view head) {
  if (head.size() < 4) return false;
  const auto opens = [](char c) { return c == '[' || c == '{' || is_json_space(c); };
  const bool little = opens(head[0]) && head[1] == 0 && head[2] != 0 && head[3] == 0;
  const bool big = head[0] == 0 && opens(head[1]) && head[2] == 0 && head[3] != 0;
  return little || big;
}

// A Perfetto trace is a list of packets. Each begins with a line feed (field 1, bytes), its length
// and its fields. JSON may begin with a line feed too, but the next bytes differ: a packet has the
// key of a field where JSON has a bracket or more white space.
bool is_perfetto(std::string_view head) {
  if (head.empty() || head[0] != '\n') return false;
  std::size_t position = 1;
  while (position < head.size() && (head[position] & 0x80) != 0) ++position;
  if (position + 1 >= head.size()) return false;
  const bool text_so_far =
      position == 1 && (is_json_space(head[1]) || head[1] == '[' || head[1] == '{');
  if (text_so_far) return false;
  const auto key = static_cast<std::uint8_t>(head[position + 1]);
  constexpr std::array kWireTypes{0, 1, 2, 5};
  const bool is_wire_type =
      std::find(kWireTypes.begin(), kWireTypes.end(), key & 7) != kWireTypes.end();
  return is_wire_type && key >> 3 != 0;
}

std::string_view without_mark_and_space(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const auto* const first = std::find_if_not(head.begin(), head.end(), is_json_space);
  return head.substr(static_cast<std::size_t>(first - head.begin()));
}

}  // namespace

bool is_gzip(std::string_view head) {
  return head.starts_with("\x1f\x8b");
}

std::optional<Foreign> sniff_foreign(std::string_view head) {
  for (const Magic& magic : kMagics)
    if (head.size() > magic.offset && head.substr(magic.offset).starts_with(magic.bytes))
      return magic.foreign;
  if (is_utf16_without_mark(head)) return kUtf16WithoutMark;
  if (is_perfetto(head)) return kPerfetto;
  if (without_mark_and_space(head).starts_with('<')) return kMarkup;
  if (!head.empty() && head.find_first_not_of('\0') == std::string_view::npos) return kZeros;
  return std::nullopt;
}

}  // namespace traceloom
