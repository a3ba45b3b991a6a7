// ListReader: puts the scanned chunks of one file together again, in order, and checks that they
// fit.
//
// A chunk was scanned in parallel under the assumption that it begins between two events. Here, in
// the serial stage, the assumption is checked against where the chunk before it ended; a chunk that
// does not fit is scanned again, joined with what was left over. What stands behind the event list
// goes to the TopLevelParser.
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
  bool has_phase = false;  // one of the events
  ScanEnd end = ScanEnd::text;
  std::size_t end_position = 0;
  Position next = Position::first;
};

// Runs a scanner over `text` and visits its events.
ScannedText scan_text(FileVisitor& visitor, std::size_t file, std::string_view text,
                      std::uint64_t offset, Position position, Behind behind);

class ListReader {
 public:
  // `parser` has met the list; `scanned` results are taken for `file`. An event whose end is not
  // found within `max_event_bytes` (or the chunk that exceeds them) is skipped.
  ListReader(FileVisitor& visitor, std::size_t file, std::string path, TopLevelParser& parser,
             std::size_t max_event_bytes = kMaxEventBytes)
      : visitor_(visitor),
        file_(file),
        path_(std::move(path)),
        parser_(parser),
        max_event_bytes_(max_event_bytes) {}

  // The next chunk, of which `skip` bytes in front are not of the list, and what scanning it gave.
  void add(const Chunk& chunk, std::size_t skip, ScannedText scanned);
  // All chunks have been added. Throws Error when the file turns out to be no trace.
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
  bool skips_ = false;               // inside an event that is too large
  Position next_ = Position::first;  // how the text that follows begins
  std::string carry_;  // the beginning of an event that the last chunk did not hold whole
  std::uint64_t carry_offset_ = 0;
  std::size_t scanned_carry_ = 0;  // how much of it has been scanned in vain
  ProblemCounts problems_;
  std::uint64_t events_ = 0;
  bool has_phase_ = false;
};

}  // namespace traceloom
