// ListReader: joins the scanned chunks of one file in order, and checks that they fit together.
//
// The parallel stage scans a chunk under the assumption that it begins between two events. Here, in
// the serial stage, that assumption is compared with the place where the previous chunk ended. A
// chunk that does not fit is joined with the rest of the previous one and scanned again. The text
// after the event list goes to the TopLevelParser.
#pragma once

#include "scan/chunk_reader.h"
#include "scan/event_scanner.h"
#include "scan/scan_files.h"
#include "scan/top_level.h"

#include <memory>
#include <string>
#include <string_view>

namespace traceloom {

// The outcome of scanning a piece of text.
struct ScannedText {
  std::unique_ptr<ChunkResult> result;
  ProblemCounts problems;
  std::uint64_t events = 0;
  bool has_phase = false;  // at least one event has a phase
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
};

}  // namespace traceloom
