// EventScanner: delivers the events of a piece of an event list one after another, as views into
// the text.
//
//   EventScanner scanner;
//   scanner.start(text, offset, Position::first, problems);
//   while (const Event* event = scanner.next()) use(*event);
//   if (scanner.end() == ScanEnd::cut) carry = text.substr(scanner.end_position());
//
// Nearly all events have the shape of an earlier event and are read by that shape (EventShapes).
// For any other event, the text is indexed from there on in windows of 4 to 64 KiB. These fit the
// L1 and L2 caches; 16 K and 1 M were 10-25 % slower when everything was indexed. A window grows if
// one event does not fit it. Elements that are no events are counted and skipped. After text that
// is not JSON, the scanner continues at the next place that looks like an event.
#pragma once

#include "base/problems.h"
#include "event/event.h"
#include "scan/event_shapes.h"
#include "scan/text_index.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace traceloom {

// EventWalk: reads the members of one event, from its opening brace to its closing one.
//
// It is the inner loop of everything: it goes from token to token (quotes and braces) and only
// checks that the text between two tokens is valid there. It does not read numbers. All changing
// state is in local variables: with members the compiler has to store and load them around every
// write to the event, which made the walk 2.5 times slower.

// Results that are no position in the window.
inline constexpr std::size_t kCut = static_cast<std::size_t>(-1);  // the window ended first
inline constexpr std::size_t kMalformed = kCut - 1;

inline bool failed(std::size_t at) {
  return at >= kMalformed;
}

// Reads a window of text; more text or a '\0' must follow the window.
class EventWalk {
 public:
  // The places of a member's key, between its quotes, and of its value.
  struct Member {
    std::size_t key_begin;
    std::size_t key_end;
    std::size_t value_begin;
    std::size_t value_end;
  };

  EventWalk() = default;
  // `index` must belong to `window`; both must outlive the walk.
  EventWalk(const TextIndex& index, std::string_view window)
      : index_(&index), text_(window.data()), size_(window.size()) {}

  // Reads the event whose '{' stands at `begin`: fills fields, present and flags (except
  // suspect_text) of `event`, and adds all of its members to `members` if that is not null. Returns
  // the position after its '}', kCut or kMalformed.
  std::size_t walk(std::size_t begin, Event& event, std::vector<Member>* members = nullptr);
  // True if the event read last had no member at all.
  bool is_empty() const { return is_empty_; }

  // Return the position after the string or list that starts at `at`.
  std::size_t skip_string(std::size_t at) const;
  std::size_t skip_list(std::size_t at) const;

 private:
  bool check_gap(std::size_t at, std::size_t token, bool wants_comma) const;
  std::size_t find_value(std::size_t key_end) const;
  std::size_t scalar_end(std::size_t at, std::size_t token) const;
  std::size_t skip_object(std::size_t at) const;
  std::size_t close(std::size_t at, std::size_t token, Event& event) const;
  void set_field(const Member& member, std::size_t begin, Event& event) const;
  void set_other(const Member& member, std::size_t begin, Event& event) const;

  const TextIndex* index_ = nullptr;
  const char* text_ = nullptr;
  std::size_t size_ = 0;
  bool is_empty_ = false;
};

// Returns the members of an event that EventScanner has read, in their order, also those that
// stand twice.
struct EventMember {
  std::string_view key;  // the text between the quotes, as written
  std::string_view value;
};
std::vector<EventMember> members_of_event(std::string_view event);

// The place of a piece of text in the event list.
enum class Position : std::uint8_t {
  first,        // directly after the opening bracket
  after_event,  // an event stands before it
  after_comma,  // an event and its comma stand before it
};

// The text that follows the piece of text.
enum class Behind : std::uint8_t { nothing, more_text };

enum class ScanEnd : std::uint8_t {
  text,   // the text ended between two events; a comma may have come last
  cut,    // the text ended inside an event, which starts at end_position(), or inside text that is
          // not JSON while more text is to follow
  array,  // the closing bracket was met; end_position() is after it
};

// Scans one piece of text after another. Reuse it: it keeps its memory. Not thread-safe.
class EventScanner {
 public:
  // `text` must stay valid until the last next(), and a '\0' must follow it, as in a std::string.
  // `offset` is its place in the file's text. `problems` receives the counts. `args` sets how
  // closely args are read; it changes only the speed.
  void start(std::string_view text, std::uint64_t offset, Position position,
             ProblemCounts& problems, Behind behind = Behind::nothing, Args args = Args::read);

  // Returns the next event, or nullptr if the text or the list ends. The event is valid until the
  // next call.
  const Event* next();

  // Reads every event with EventWalk from now on; for tests.
  void ignore_shapes() { uses_shapes_ = false; }

  // Valid once next() has returned nullptr.
  ScanEnd end() const { return end_; }
  std::size_t end_position() const { return end_position_; }  // position in `text`
  // The Position with which to start() the following text if end() is ScanEnd::text.
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
  // Takes a position in the text; returns a position in the window, or kCut or kMalformed.
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
      nullptr;  // the indexed part of text_; `at` in the methods above counts from its start
  std::size_t window_begin_ = 0;  // position of window_ in text_
  std::size_t window_size_ = 0;
  std::size_t next_window_size_ = 0;
  std::size_t walked_ = 0;    // elements of the window whose shape was not known
  std::size_t position_ = 0;  // position in text_ up to which the text is consumed
  Behind behind_ = Behind::nothing;
  bool after_comma_ = false;  // the comma that belongs between two elements was met
  bool after_element_ = false;
  // The text between two events and the brace of the second event, in the first bytes of a word.
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

// Returns the first position >= from at which an event seems to start, or npos. An event seems to
// start at a '{' that is followed by one of the usual first keys of events, if "}," stands before
// it or it is at `from` itself. On 200 000 random places of 11 real files the guess was never
// wrong; a wrong guess is detected when the text before it is scanned.
std::size_t find_event_start(std::string_view text, std::size_t from);
// Returns the last such position in [from, text.size()), or npos.
std::size_t find_last_event_start(std::string_view text, std::size_t from);

}  // namespace traceloom
