#include "scan/chunk_reader.h"

#include "scan/event_scanner.h"

#include <cstring>

namespace traceloom {

bool ChunkReader::next(Chunk& chunk) {
  if (ended_) return false;
  if (!chunk.buffer) chunk.buffer = std::make_unique_for_overwrite<char[]>(chunk_bytes_ + 1);
  if (!tail_) tail_ = std::make_unique_for_overwrite<char[]>(chunk_bytes_);
  std::memcpy(chunk.buffer.get(), tail_.get(), tail_size_);
  const std::size_t wanted = chunk_bytes_ - tail_size_;
  const std::size_t got = source_.read({chunk.buffer.get() + tail_size_, wanted});
  chunk.size = tail_size_ + got;
  chunk.offset = offset_;
  chunk.at_event_start = at_event_start_;
  chunk.last = ended_ = got < wanted;
  tail_size_ = 0;
  at_event_start_ = false;
  if (!ended_) {
    const std::size_t cut = find_last_event_start(chunk.text(), 1);
    if (cut != std::string_view::npos) {
      tail_size_ = chunk.size - cut;
      std::memcpy(tail_.get(), chunk.buffer.get() + cut, tail_size_);
      chunk.size = cut;
      at_event_start_ = true;
    }
  }
  chunk.buffer[chunk.size] = '\0';
  offset_ += chunk.size;
  return true;
}

}  // namespace traceloom
