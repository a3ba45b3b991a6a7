// The arrows of a trace: flow events (s, t, f), which of them belong together, and which arrows
// are not whole or end at another slice than they seem to.
#pragma once

#include "base/problems.h"
#include "event/event.h"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace traceloom {

// The ids of flow events (s, t, f): which of them belong to one arrow.
//
//   FlowLabel label;
//   std::string scratch;
//   if (is_flow_phase(event.phase)) use(label.hash(event), flow_id_key(event, scratch));
//
// Viewers join flow events of one category, name and id over the whole trace. Keys are empty if the
// event has no id. They are views of the event or of `scratch`.

inline bool is_flow_phase(char phase) {
  return phase == 's' || phase == 't' || phase == 'f';
}

// Returns whether the event is the end of an arrow (f) that is bound to the next slice of its row,
// not to the one around ("bp": "e").
bool binds_to_next_slice(const Event& event);

// A merge writes this for a missing name or category.
inline constexpr std::string_view kQuotedNoName = "\"(none)\"";

// Returns the category of a flow event as a merge writes it: viewers distinguish flows by it, and
// catapult imports nothing at all if one has none.
inline std::string_view flow_category(const Event& event) {
  const std::string_view category = event.text(Key::cat);
  return is_json_string(category) ? category : kQuotedNoName;
}

// A hash of category and name, by which viewers distinguish flows of one id. Flow events mostly
// have the same ones as the event before, which are not hashed again.
class FlowLabel {
 public:
  std::uint64_t hash(const Event& event);

 private:
  std::string category_;
  std::string name_;
  std::uint64_t hash_ = 0;
};

// A JavaScript number holds each whole number below this.
inline constexpr std::uint64_t kWholeIdLimit = std::uint64_t{1} << 53;

// Returns a whole number from 1 on and below kWholeIdLimit that is written without sign or leading
// zeros. Viewers take 0 for no id, so 0 is no such number.
inline std::optional<std::uint64_t> whole_id(std::string_view key) {
  if (key.empty() || key.size() > 16 || key.front() == '0') return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : key) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (number >= kWholeIdLimit) return std::nullopt;
  return number;
}

// True for an id that is not there, or null.
inline bool is_absent_id(std::string_view id) {
  return id.empty() || id == "null";
}

// Returns one spelling for one id: numbers as canonical_id() has them, text with its quotes, so
// that 31, "31" and "0x1f" stay three ids, as viewers see them. A plain whole number is returned as
// it is, without a copy.
std::string_view id_key(std::string_view json_value, std::string& scratch);

// The members "local" and "global" of an id2; both are empty if it is no JSON.
struct TwoIds {
  std::string_view local;
  std::string_view global;
};
TwoIds read_id2(std::string_view id2);

// Returns id, or else id2. A local id2 belongs to a process.
std::string_view flow_id_key(const Event& event, std::string& scratch);

// FlowEnds: gathers the flow events (s, t, f) of a chunk as numbers, for ArrowTally.
//
//   FlowEnds ends;
//   if (is_flow_phase(event.phase)) ends.add(event, timing.start_ns);
//   for (const FlowEnd& end : ends.all()) arrows.add(end);
//   ends.clear();                                              // for the next chunk

struct FlowEnd {
  std::uint64_t arrow = 0;  // the same for all flow events of one category, name and id
  std::int64_t ns = 0;
  std::uint64_t offset = 0;
  bool is_start = false;  // it is an s
};

// Memory: 32 bytes a flow event. Not thread-safe.
class FlowEnds {
 public:
  // Ignores a flow event without an id: viewers draw no arrow for it.
  void add(const Event& event, std::int64_t start_ns);
  const std::vector<FlowEnd>& all() const { return ends_; }
  void clear() { ends_.clear(); }

 private:
  FlowLabel label_;
  std::string scratch_;
  std::vector<FlowEnd> ends_;
};

// ArrowTally: counts the arrows (flow events s, t, f) that lack one end, and those that end before
// they start.
//
//   ArrowTally arrows;
//   for (const FlowEnd& end : chunk.flow_ends.all()) arrows.add(end);   // chunk after chunk
//   arrows.finish(file.problems);                                       // then the next file
//
// An arrow is all flow events of one id, category and name. It is dangling if it has no s, or
// nothing but s; both viewers draw nothing then. It goes back in time if one of its ends is before
// its only s: the clocks of the two sides (of two ranks, or of a GPU and its host) disagree. An id
// with several s is not judged: Chromium uses one id again and again, and its first ends belong to
// arrows that began before the trace.

// Uses at most kMaxBytes of memory, and half as much again while it grows. A file of torch takes
// some 32 bytes for each arrow whose ends are far apart, and a bit for each other arrow. Arrows
// that do not fit are not judged; their ends are counted as unjudged_arrow, and finish() says so
// beside the counts that it has. When room is needed, arrows with both ends are settled and no
// longer compared: an end that comes long after the other ends of its arrow is not checked then.
class ArrowTally {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

  explicit ArrowTally(std::size_t max_bytes = kMaxBytes);

  void add(const FlowEnd& end);
  // Ends the tally of a file: counts dangling_arrow and backward_arrow at each arrow's first event
  // and unjudged_arrow at each end that found no room, and forgets all arrows.
  void finish(ProblemCounts& problems);

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  struct Arrow {
    std::uint64_t key = 0;           // 0: a free slot
    std::int64_t start_ns = kNever;  // the time of its latest s
    std::int64_t end_ns = kNever;    // the earliest time of its t and f
    std::uint64_t offset : 63 = 0;   // its first event
    bool is_reused : 1 = false;      // it has several starts

    bool is_whole() const { return start_ns != kNever && end_ns != kNever; }
    bool is_backward() const { return is_whole() && !is_reused && end_ns < start_ns; }
  };

  Arrow& slot_of(std::uint64_t key);
  Arrow* find_or_add(std::uint64_t key, std::uint64_t offset);
  void make_room();
  void rebuild(std::size_t slots, bool drops_whole);
  bool is_settled(std::uint64_t key) const;
  void settle(std::uint64_t key);

  std::size_t max_slots_;
  std::size_t max_pages_;
  std::vector<Arrow> slots_;  // a hash table; its size is a power of two
  std::size_t used_ = 0;
  // Arrows that are no longer compared, as bits: ids mostly follow each other.
  static constexpr std::size_t kPageBits = 512;
  std::unordered_map<std::uint64_t, std::bitset<kPageBits>> settled_;
  bool is_closed_ = false;  // no room is left: ends of new arrows are counted only
  std::uint64_t unjudged_ = 0;
  std::uint64_t first_unjudged_ = 0;  // the offset of the first of them
};

// DisplacedEnds: counts ends of arrows that stand after the slice that begins with them.
//
//   DisplacedEnds ends;
//   ends.add(event, timing.start_ns);      // in parallel, for each chunk
//   of_file.append(ends);                  // chunk after chunk
//   of_file.finish(problems);

// Viewers bind an end without "bp": "e" to the first slice after it in the file that begins at its
// time. If they all stand before it, the arrow ends at a later slice: probably a program has sorted
// the trace by time and put flows last. Only events of one time that stand together in the file are
// compared. Memory: 24 bytes for each slice and end of one time.
class DisplacedEnds {
 public:
  void add(const Event& event, std::int64_t start_ns);
  // Adds what stands after all this in the file.
  void append(DisplacedEnds& later);
  // Counts displaced_arrow, and forgets all events.
  void finish(ProblemCounts& problems);

 private:
  struct Mark {
    std::uint64_t row;
    std::uint64_t offset;
    bool is_end;
  };
  // The slices and ends of one time, in file order.
  struct Moment {
    std::int64_t ns = 0;
    std::vector<Mark> marks;
  };
  void close(Moment& moment);

  std::vector<Moment> borders_;  // the first one, which may begin in the chunk before, and the last
  ProblemCounts displaced_;
};

}  // namespace traceloom
