// EventScanner: the events of a piece of an event list, one after the other, as views into the
// text.
//
//   EventScanner scanner;
//   scanner.start(text, offset, Position::first, problems);
//   while (const Event* event = scanner.next()) use(*event);
//   if (scanner.end() == ScanEnd::cut) carry = text.substr(scanner.end_position());
//
// Nearly all events have the shape of an earlier one and are read by that (EventShapes). For the
// others the text is indexed from there on, in windows of 4 to 64 KiB (that fits the L1 and L2
// caches; 16 K and 1 M were 10-25 % slower when everything was indexed); a window grows when one
// event does not fit it. What is no event is counted and skipped; after text that is no JSON the
// scanner goes on at the next place that looks like an event.
#pragma once

#include "base/problems.h"
#include "event/event.h"
#include "scan/event_shapes.h"
#include "scan/event_walk.h"
#include "scan/text_index.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace traceloom {

// Where a piece of text stands in the event list.
enum class Position : std::uint8_t {
  first,        // right behind the opening bracket
  after_event,  // an event stands before it
  after_comma,  // an event and its comma stand before it
};

// What stands behind a piece of text.
enum class Behind : std::uint8_t { nothing, more_text };

enum class ScanEnd : std::uint8_t {
  text,   // the text ended between two events; a comma may have come last
  cut,    // the text ended inside an event, which starts at end_position(); or inside what is no
          // JSON, when more text is to follow
  array,  // the closing bracket was met; end_position() is behind it
};

// Not thread-safe; reuse it, it keeps its memory.
class EventScanner {
 public:
  // `text` must stay valid until the last next(), and be followed by a '\0' as a std::string is;
  // `offset` is its place in the file's text. Problems are counted in `problems`.
  // `args` says how closely args are read: a matter of speed only.
  void start(std::string_view text, std::uint64_t offset, Position position,
             ProblemCounts& problems, Behind behind = Behind::nothing, Args args = Args::read);

  // The next event, or nullptr when the text, or the list, ends. Valid until the following call.
  const Event* next();

  // Reads every event by EventWalk from now on; for tests.
  void ignore_shapes() { uses_shapes_ = false; }

  // Once next() has returned nullptr.
  ScanEnd end() const { return end_; }
  std::size_t end_position() const { return end_position_; }  // in `text`
  // What a piece of text that follows has to start() with, when end() is ScanEnd::text.
  Position next_position() const;

 private:
  bool open_window(std::size_t begin, std::size_t size);
  bool grow_window(std::size_t element);
  std::size_t next_window_size();
  bool is_between_events() const { return after_element_ && !after_comma_; }
  bool skip_known_gap();
  void remember_gap(std::size_t begin);
  bool find_element();
  bool read_known_shape();
  void enter_window();
  void count_comma();
  void begin_element(std::size_t element);
  // From a position in the text to one in the window, or kCut or kMalformed.
  std::size_t parse_element(std::size_t begin);
  std::size_t walk_element(std::size_t at);
  std::size_t parse_event(std::size_t begin);
  bool hides_event(std::size_t begin, std::size_t end) const;
  bool resync(std::size_t element);
  std::size_t find_list_end(std::size_t element) const;
  const Event* finish(ScanEnd end, std::size_t position);

  std::string_view text_;
  std::uint64_t offset_ = 0;
  ProblemCounts* problems_ = nullptr;
  EventShapes shapes_;
  bool uses_shapes_ = true;
  TextIndex index_;
  EventWalk walk_;
  const char* window_ =
      nullptr;  // the indexed part of text_; `at` in the methods above counts from here
  std::size_t window_begin_ = 0;  // its place in text_
  std::size_t window_size_ = 0;
  std::size_t next_window_size_ = 0;
  std::size_t walked_ = 0;    // elements of the window that were no known shape
  std::size_t position_ = 0;  // in text_: what has been consumed
  Behind behind_ = Behind::nothing;
  bool after_comma_ = false;  // the comma that belongs between two elements has come
  bool after_element_ = false;
  // What stood between two events, and the brace of the second, in the first bytes of a word.
  struct Gap {
    std::uint64_t text = 0;
    std::uint64_t mask = 0;
    std::size_t size = 0;
  };
  Gap gap_;
  ScanEnd end_ = ScanEnd::text;
  std::size_t end_position_ = 0;
  Event event_;
};

// The first position >= from at which an event seems to start: '{' and one of the keys that events
// begin with, behind "}," or at `from` itself. npos when there is none. On 200 000 random places of
// 11 real files the guess never was wrong; a wrong one is found out by whoever scans the text
// before it.
std::size_t find_event_start(std::string_view text, std::size_t from);
// The last such position in [from, text.size()); npos when there is none.
std::size_t find_last_event_start(std::string_view text, std::size_t from);

}  // namespace traceloom
