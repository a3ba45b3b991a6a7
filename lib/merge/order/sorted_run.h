// SortedRun: events in the order of their time that have been put on the disk, to be read back one
// by one.
//
//   SortedRun run("merged.json");
//   run.add(event, text);  ...
//   while (run.next()) use(run.event(), run.text());
#pragma once

#include "merge/order/event_block.h"
#include "output/spool_file.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace traceloom {

// What comes first in a trace that is sorted by time: at the same time by OrderClass; slices (also
// a B whose end is known) then by length, the longest first, by track, and by where they begin in
// their file. Others of one time stay as they came.
bool is_earlier(const PlacedEvent& a, const PlacedEvent& b);

class SortedRun {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

  // Beside `output`, as SpoolFile.
  explicit SortedRun(const std::string& output) : file_(std::make_unique<SpoolFile>(output)) {}

  void add(const PlacedEvent& event, std::string_view text);
  // From the first event on, once all have been added; false behind the last one.
  bool next();
  // Valid until the next next().
  const PlacedEvent& event() const { return event_; }
  std::string_view text() const { return text_; }

 private:
  void flush();
  // The next bytes of the file, in buffer_.
  std::string_view take(std::size_t size);

  std::unique_ptr<SpoolFile> file_;
  std::string buffer_;
  bool is_reading_ = false;
  std::uint64_t read_ = 0;     // of the file
  std::size_t buffer_at_ = 0;  // of buffer_
  PlacedEvent event_;
  std::string_view text_;
};

}  // namespace traceloom
