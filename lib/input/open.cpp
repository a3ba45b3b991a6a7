#include "input/open.h"

#include "base/ascii.h"
#include "base/json_string.h"
#include "base/problems.h"
#include "input/gzip_source.h"
#include "input/zstd_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

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
    Magic{0,
          "\x89TLDG\r\n\x1a"sv,
          {"a digest of an older Traceloom",
           "unpack it with that: trace-merge DIGEST -o TRACE.json"}},
    Magic{0, "PK\3\4"sv, {"a zip archive", "unpack it first (unzip)"}},
    Magic{0, "PK\5\6"sv, {"an empty zip archive", kNeedsJson}},
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

// UTF-16 text begins with a bracket or brace and a zero byte next to it; UTF-8 text never does.
bool is_utf16_without_mark(std::string_view head) {
  if (head.size() < 4) return false;
  const auto opens = [](char c) { return c == '[' || c == '{' || is_space(c); };
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
  const bool text_so_far = position == 1 && (is_space(head[1]) || head[1] == '[' || head[1] == '{');
  if (text_so_far) return false;
  const auto key = static_cast<std::uint8_t>(head[position + 1]);
  constexpr std::array kWireTypes{0, 1, 2, 5};
  const bool is_wire_type = std::ranges::find(kWireTypes, key & 7) != kWireTypes.end();
  return is_wire_type && key >> 3 != 0;
}

std::string_view without_space(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

bool is_pipe(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_fifo(path, ignored);
}

bool is_gzip(std::string_view head) {
  return head.starts_with("\x1f\x8b");
}

std::optional<Foreign> sniff_foreign(std::string_view head) {
  for (const Magic& magic : kMagics)
    if (head.size() > magic.offset && head.substr(magic.offset).starts_with(magic.bytes))
      return magic.foreign;
  if (is_utf16_without_mark(head)) return kUtf16WithoutMark;
  if (is_perfetto(head)) return kPerfetto;
  const std::size_t mark = head.starts_with("\xef\xbb\xbf") ? 3 : 0;
  if (without_space(head.substr(mark)).starts_with('<')) return kMarkup;
  if (!head.empty() && head.find_first_not_of('\0') == std::string_view::npos) return kZeros;
  return std::nullopt;
}

namespace {

constexpr int kMaxLayers = 2;

// Delivers the bytes again that were read to recognise the format, then the rest of the source.
class ReplaySource : public ByteSource {
 public:
  ReplaySource(std::string head, std::unique_ptr<ByteSource> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}

  std::size_t read(std::span<char> buffer) override {
    const std::size_t from_head = head_.copy(buffer.data(), buffer.size(), position_);
    position_ += from_head;
    if (from_head == buffer.size()) return from_head;
    return from_head + rest_->read(buffer.subspan(from_head));
  }
  void check_unchanged() const override { rest_->check_unchanged(); }
  const ProblemCounts& problems() const override { return rest_->problems(); }
  std::uint64_t stored_bytes_read() const override { return rest_->stored_bytes_read(); }
  std::optional<std::uint64_t> stored_size() const override { return rest_->stored_size(); }

 private:
  std::string head_;
  std::size_t position_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

std::string read_head(ByteSource& source) {
  std::string head(kSniffBytes, '\0');
  head.resize(source.read(head));
  return head;
}

// `packing` is that of the layer that was removed last; empty for none.
std::string why_empty(const std::string& path, const ByteSource& source, std::string_view packing) {
  if (packing.empty())
    return is_pipe(path)
               ? "nothing came through the pipe; nobody writes to it, or its writer failed"
               : "the file is empty";
  const auto has = [&](Problem a, Problem b) {
    return source.problems().count(a) + source.problems().count(b) != 0;
  };
  if (has(Problem::gzip_cut, Problem::zstd_cut))
    return fmt::format(
        "the {} data is cut off before its first byte of text; copy or record the file again",
        packing);
  if (has(Problem::gzip_damaged, Problem::zstd_damaged))
    return fmt::format("the {} data is damaged at its start; copy or record the file again",
                       packing);
  return fmt::format("the file is empty ({} of nothing)", packing);
}

std::string_view packing_of(std::string_view head) {
  return is_gzip(head) ? "gzip" : is_zstd(head) ? "zstd" : "";
}

}  // namespace

std::unique_ptr<ByteSource> open_input(const std::string& path, FileWatch* watch,
                                       unsigned threads) {
  const std::string name = input_name(path);
  std::unique_ptr<ByteSource> source = std::make_unique<PlainSource>(path, watch);
  std::string_view before;
  for (int layers = 0;; ++layers) {
    std::string head = read_head(*source);
    if (head.empty()) throw Error(name, why_empty(path, *source, before));
    const std::string_view packing = packing_of(head);
    if (!packing.empty() && layers == kMaxLayers)
      throw Error(name, "is compressed more than twice; unpack it first (gzip -d, zstd -d)");
    if (const std::optional<Foreign> foreign = sniff_foreign(head))
      throw Error(name, fmt::format("is {}{}{}; {}", foreign->what,
                                    before.empty() ? "" : ", packed by ", before, foreign->advice));
    source = std::make_unique<ReplaySource>(std::move(head), std::move(source));
    if (packing.empty()) return source;
    ProblemCounts known;
    if (layers > 0) known.add(Problem::packed_twice, 0);
    if (packing == "gzip")
      source = std::make_unique<GzipSource>(std::move(source), make_inflater(), known);
    else
      source = std::make_unique<ZstdSource>(std::move(source), name, threads, known);
    before = packing;
  }
}

namespace {

constexpr std::size_t kHeadBytes = std::size_t{4} << 10;
// Notes and reports are small: 4 MiB at once for each of 8 took 5 ms.
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr std::size_t kMostBytes = std::size_t{4} << 20;

bool is_trace_so_far(std::string_view text) {
  const auto first = std::ranges::find_if_not(text, is_space);
  return first == text.end() || *first != '{' ||
         text.find("\"traceEvents\"") != std::string_view::npos;
}

// Appends up to `bytes` bytes of the source; returns false at its end.
bool read_more(ByteSource& source, std::size_t bytes, std::string& text) {
  const std::size_t before = text.size();
  text.resize(before + bytes);
  const std::size_t got = source.read(std::span(text).subspan(before));
  text.resize(before + got);
  return got == bytes;
}

}  // namespace

std::string read_text(const std::string& path, std::size_t most) {
  const std::unique_ptr<ByteSource> source = open_input(path);
  std::string text;
  while (read_more(*source, kPieceBytes, text))
    if (text.size() > most)
      throw Error(input_name(path), fmt::format("has more than {} bytes of text", most));
  source->check_unchanged();
  return text;
}

bool is_other_json(const std::string& path) try {
  const std::unique_ptr<ByteSource> source = open_input(path);
  std::string text;
  bool has_more = read_more(*source, kHeadBytes, text);
  while (has_more && text.size() < kMostBytes && !is_trace_so_far(text))
    has_more = read_more(*source, kPieceBytes, text);
  return !has_more && !is_trace_so_far(text) && is_strict_json(without_space(text));
} catch (const Error&) {
  return false;
}

}  // namespace traceloom
