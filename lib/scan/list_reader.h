// Cuts the text of a file into chunks, and joins the scanned chunks in order.
#pragma once

#include "input/byte_source.h"
#include "scan/event_scanner.h"
#include "scan/scan_files.h"
#include "scan/top_level.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// ChunkReader: cuts the text of an input into chunks that begin where an event seems to start.
//
//   ChunkReader reader(*source);
//   Chunk chunk;
//   while (reader.next(chunk)) scan(chunk.text());

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

// ListReader: joins the scanned chunks of one file in order, and checks that they fit together.
//
// The parallel stage scans a chunk under the assumption that it begins between two events. Here, in
// the serial stage, that assumption is compared with the place where the previous chunk ended. A
// chunk that does not fit is joined with the rest of the previous one and scanned again. The text
// after the event list goes to the TopLevelParser.

// The outcome of scanning a piece of text.
struct ScannedText {
  std::unique_ptr<ChunkResult> result;
  ProblemCounts problems;
  std::uint64_t events = 0;
  bool has_phase = false;                    // at least one event has a phase
  bool has_time = false;                     // at least one event has a usable time
  std::optional<std::uint64_t> nanoseconds;  // of the first event before it with such a time
  ScanEnd end = ScanEnd::text;
  std::size_t end_position = 0;
  Position next = Position::first;
};

// Runs a scanner over `text` and visits its events.
ScannedText scan_text(FileVisitor& visitor, std::size_t file, std::string_view text,
                      std::uint64_t offset, Position position, Behind behind);

class ListReader {
 public:
  // `parser` has reached the list; `visitor` takes the results for `file`. An event whose end is
  // not found within `max_event_bytes` (or the chunk that exceeds them) is skipped.
  ListReader(FileVisitor& visitor, std::size_t file, std::string path, TopLevelParser& parser,
             std::size_t max_event_bytes = kMaxEventBytes)
      : visitor_(visitor),
        file_(file),
        path_(std::move(path)),
        parser_(parser),
        max_event_bytes_(max_event_bytes) {}

  // Adds the next chunk, whose first `skip` bytes do not belong to the list, and the result of
  // scanning it.
  void add(const Chunk& chunk, std::size_t skip, ScannedText scanned);
  // Call it after the last chunk. Throws Error if the file proves to be no trace.
  FileEnd finish(std::uint64_t text_bytes, const ProblemCounts& source_problems);

 private:
  std::string_view accept(ScannedText scanned, std::string_view text, std::uint64_t offset);
  void stop_skipping(std::string_view text, std::uint64_t offset, Behind behind);
  void join(std::string_view text, Behind behind);
  void read_on(std::string_view text, std::uint64_t offset, Behind behind);
  void check_events() const;

  FileVisitor& visitor_;
  std::size_t file_;
  std::string path_;
  TopLevelParser& parser_;
  std::size_t max_event_bytes_;
  bool in_list_ = true;
  bool skips_ = false;               // true inside an event that is too large
  Position next_ = Position::first;  // position in the list of the text that follows
  std::string carry_;  // the beginning of an event that was not whole in the last chunk
  std::uint64_t carry_offset_ = 0;
  std::size_t scanned_carry_ = 0;  // bytes of carry_ that have been scanned without finding the end
  ProblemCounts problems_;
  std::uint64_t events_ = 0;
  bool has_phase_ = false;
  bool has_time_ = false;
  std::optional<std::uint64_t> nanoseconds_;
};

}  // namespace traceloom
