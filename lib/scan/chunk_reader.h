// ChunkReader: cuts the text of an input into chunks that begin where an event seems to start.
//
//   ChunkReader reader(*source);
//   Chunk chunk;
//   while (reader.next(chunk)) scan(chunk.text());
#pragma once

#include "input/byte_source.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace traceloom {

// One piece of text. Its buffer is reused from chunk to chunk: fresh memory costs more than reading
// into it (2.1 GB/s against 5.5).
struct Chunk {
  std::unique_ptr<char[]> buffer;  // room for a whole chunk and a '\0'
  std::size_t size = 0;
  std::uint64_t offset = 0;  // offset of the text in the file's uncompressed text
  bool at_event_start =
      false;          // a guess, see find_event_start(); false if there was no place to cut
  bool last = false;  // no chunk follows

  // A '\0' follows the text.
  std::string_view text() const { return {buffer.get(), size}; }
};

// Reading, scanning and writing are fastest with 512 KiB to 1 MiB (64 K: 20 % slower, 4 M: 10 %).
inline constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

class ChunkReader {
 public:
  // Only tests use another size than kChunkBytes.
  explicit ChunkReader(ByteSource& source, std::size_t chunk_bytes = kChunkBytes)
      : source_(source), chunk_bytes_(chunk_bytes) {}

  // Reads the next chunk; returns false if the text has ended. An empty input gives one empty
  // chunk. If `chunk` already has a buffer, it must come from a reader with the same chunk size.
  bool next(Chunk& chunk);

 private:
  ByteSource& source_;
  std::size_t chunk_bytes_;
  std::unique_ptr<char[]> tail_;  // text already read that belongs to the next chunk
  std::size_t tail_size_ = 0;
  std::uint64_t offset_ = 0;
  bool at_event_start_ = false;
  bool ended_ = false;
};

}  // namespace traceloom
