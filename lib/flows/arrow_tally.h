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
#pragma once

#include "base/problems.h"
#include "flows/flow_ends.h"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace traceloom {

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

}  // namespace traceloom
