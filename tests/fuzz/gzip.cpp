// The gz reader: both libraries give the same text of the same data, however it is cut, up to what
// is damaged.
#include "fuzz/fuzz.h"
#include "input/gzip_source.h"
#include "support/memory_source.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

constexpr std::size_t kMostText = std::size_t{1} << 20;

struct Unpacked {
  std::string text;
  bool is_whole = false;
};

Unpacked unpack(const std::string& data, std::unique_ptr<Inflater> inflater, std::size_t buffer,
                std::size_t piece_bytes) {
  GzipSource source(std::make_unique<MemorySource>(data), std::move(inflater), {}, buffer);
  Unpacked result;
  std::vector<char> piece(piece_bytes);
  while (result.text.size() < kMostText) {
    const std::size_t size = source.read(piece);
    require(size <= piece.size());
    result.text.append(piece.data(), size);
    result.is_whole = size < piece.size() && source.problems().empty();
    if (size < piece.size()) break;
  }
  require(source.stored_bytes_read() <= data.size());
  return result;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t piece = 1 + data[size - 1] % 64;
  const Unpacked by_zlib = unpack(text, make_zlib_inflater(), 4096, 4096);
  const Unpacked in_pieces = unpack(text, make_zlib_inflater(), piece, 64 * piece);
  require(by_zlib.is_whole == in_pieces.is_whole);
  if (by_zlib.is_whole) require(by_zlib.text == in_pieces.text);
  std::unique_ptr<Inflater> isal = make_isal_inflater();
  if (isal == nullptr) return 0;
  const Unpacked by_isal = unpack(text, std::move(isal), piece, 64 * piece);
  const std::size_t common = std::min(by_zlib.text.size(), by_isal.text.size());
  require(by_zlib.text.compare(0, common, by_isal.text, 0, common) == 0);
  if (by_zlib.is_whole) require(by_isal.is_whole && by_isal.text == by_zlib.text);
  return 0;
}
