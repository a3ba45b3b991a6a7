// The zst reader: the same data has the same text and problems, however it is cut and by however
// many threads.
#include "base/problems.h"
#include "fuzz/fuzz.h"
#include "input/zstd_source.h"
#include "support/memory_source.h"

#include <algorithm>
#include <memory>
#include <vector>

using namespace traceloom;

namespace {

constexpr std::size_t kMostText = std::size_t{1} << 20;

struct Unpacked {
  std::string text;
  std::vector<Problem> problems;
  bool is_refused = false;

  bool operator==(const Unpacked&) const = default;
};

Unpacked unpack(const std::string& data, unsigned threads, std::size_t buffer,
                std::size_t piece_bytes) {
  Unpacked result;
  try {
    ZstdSource source(std::make_unique<MemorySource>(data), "t.zst", threads, {}, buffer);
    std::vector<char> piece(piece_bytes);
    std::size_t size = piece.size();
    while (size == piece.size() && result.text.size() < kMostText) {
      size = source.read(piece);
      require(size <= piece.size());
      result.text.append(piece.data(), size);
    }
    result.problems = source.problems().kinds();
  } catch (const Error&) {
    result.is_refused = true;
  }
  return result;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Unpacked whole = unpack(text, 1, 4096, 4096);
  const std::size_t buffer = 64 + data[size - 1] % 64;
  const Unpacked pieces = unpack(text, data[size - 1] % 16 == 0 ? 2 : 1, buffer, 64 * buffer);
  const bool is_damaged = std::ranges::count(whole.problems, Problem::zstd_damaged) > 0 ||
                          std::ranges::count(pieces.problems, Problem::zstd_damaged) > 0;
  // One of both may have been read up to what the other did not get to.
  const bool is_long = std::max(whole.text.size(), pieces.text.size()) >= kMostText;
  // In a frame of no text, libzstd takes a repeated byte, of which there are none, for damage only
  // if it gets the frame in pieces; then what follows is not looked at.
  const bool may_differ = is_damaged || is_long;
  require(whole.is_refused == pieces.is_refused || may_differ);
  if (whole.is_refused || pieces.is_refused) return 0;
  // A block that is not packed is delivered in pieces, up to where it is found to be too long.
  const std::size_t common = std::min(whole.text.size(), pieces.text.size());
  require(whole.text.compare(0, common, pieces.text, 0, common) == 0);
  if (!may_differ) require(whole == pieces);
  return 0;
}
