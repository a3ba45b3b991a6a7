#include "input/other_json.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/json_check.h"
#include "input/digest_source.h"
#include "input/open.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace traceloom {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{4} << 10;
// Notes and reports are small: 4 MiB at once for each of 8 took 5 ms.
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr std::size_t kMostBytes = std::size_t{4} << 20;

bool is_trace_so_far(std::string_view text) {
  const auto first = std::find_if_not(text.begin(), text.end(), is_space);
  return first == text.end() || *first != '{' ||
         text.find("\"traceEvents\"") != std::string_view::npos;
}

// Appends up to `bytes` bytes of the source; returns false at its end.
bool read_more(ByteSource& source, std::size_t bytes, std::string& text) {
  const std::size_t before = text.size();
  text.resize(before + bytes);
  std::size_t got = 0;
  while (got < bytes) {
    const std::size_t now = source.read(std::span(text).subspan(before + got));
    if (now == 0) break;
    got += now;
  }
  text.resize(before + got);
  return got == bytes;
}

std::string_view without_space(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

bool is_other_json(const std::string& path) try {
  if (is_digest_file(path)) return false;  // unpacking some of it would take long
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
