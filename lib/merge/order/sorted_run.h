// SortedRun: holds events in the order of their time on disk, to be read back one by one.
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

// Returns true if `a` comes first in a trace that is sorted by time. Events of one time are sorted
// by OrderClass; slices (also a B whose end is known) then by length, the longest first, by track,
// and by where they begin in their file. Other events of one time stay as they came.
bool is_earlier(const PlacedEvent& a, const PlacedEvent& b);

class SortedRun {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

  // Puts its file next to `output`, as SpoolFile does.
  explicit SortedRun(const std::string& output) : file_(std::make_unique<SpoolFile>(output)) {}

  void add(const PlacedEvent& event, std::string_view text);
  // Goes to the first event, and then to each next one, once all have been added. Returns false
  // after the last one.
  bool next();
  // Both are valid until the next call of next().
  const PlacedEvent& event() const { return event_; }
  std::string_view text() const { return text_; }

 private:
  void flush();
  // Returns the next bytes of the file, as a view of buffer_.
  std::string_view take(std::size_t size);

  std::unique_ptr<SpoolFile> file_;
  std::string buffer_;
  bool is_reading_ = false;
  std::uint64_t read_ = 0;     // bytes of the file that have been read
  std::size_t buffer_at_ = 0;  // bytes of buffer_ that have been taken
  PlacedEvent event_;
  std::string_view text_;
};

}  // namespace traceloom
