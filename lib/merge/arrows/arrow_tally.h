// ArrowTally: counts the arrows (flow events s, t, f) of which one end is missing, and those that
// end before they start.
//
//   ArrowTally arrows;
//   for (const FlowEnd& end : chunk.flow_ends) arrows.add(end, file);   // as they are written
//   arrows.finish(problems);                                            // by file
//
// An arrow is all flow events of one id, category and name. It is dangling without an s, or with
// nothing but s; both viewers draw nothing then. It goes back in time when one of its ends is
// before its only s: the clocks of the two (of ranks, of a GPU and its host) disagree. Of an id
// with several s nobody can tell: Chromium uses one again and again, and the first ends are those
// of arrows that began before the trace.
#pragma once

#include "base/problems.h"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace traceloom {

// An s, t or f as it is written.
struct FlowEnd {
  std::uint64_t arrow = 0;  // FlowLabel::hash() plus the number of its id
  std::int64_t ns = 0;
  std::uint64_t offset = 0;
  bool is_start = false;   // an s
  bool is_shared = false;  // of PlanOptions::shared_flows: the other end may be in another file
};

// Memory: kMaxBytes at most, and half as much again while it grows. In a file of torch some 32
// bytes an arrow whose ends are far apart, and a bit for each other one. What does not fit is not
// looked at, and finish() says so; what is whole is looked at no more when room is needed, so that
// of several ends of an arrow one far behind the others is not compared.
class ArrowTally {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

  explicit ArrowTally(std::size_t max_bytes = kMaxBytes);

  // `file` is below kMaxFiles, or the end is not looked at.
  void add(const FlowEnd& end, std::size_t file);
  // No more ends: counts (dangling_arrow, backward_arrow) to the file of an arrow's first event,
  // and forgets all.
  void finish(std::vector<ProblemCounts>& problems);

  static constexpr std::size_t kMaxFiles = std::size_t{1} << 20;

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  struct Arrow {
    std::uint64_t key = 0;           // 0: a free slot
    std::int64_t start_ns = kNever;  // of one
    std::int64_t end_ns = kNever;    // of the earliest
    std::uint64_t offset : 43 = 0;   // of its first event; 8 TiB of text
    std::uint64_t file : 20 = 0;
    bool is_reused : 1 = false;  // it has several starts

    bool is_whole() const { return start_ns != kNever && end_ns != kNever; }
    bool is_backward() const { return is_whole() && !is_reused && end_ns < start_ns; }
  };

  Arrow& slot_of(std::uint64_t key);
  void make_room();
  void rebuild(std::size_t slots, bool drops_whole);
  bool is_settled(std::uint64_t key) const;
  void settle(std::uint64_t key);

  std::size_t max_slots_;
  std::size_t max_pages_;
  std::vector<Arrow> slots_;  // by hash, a power of two of them
  std::size_t used_ = 0;
  // Those that are looked at no more, as bits: ids mostly follow each other.
  static constexpr std::size_t kPageBits = 512;
  std::unordered_map<std::uint64_t, std::bitset<kPageBits>> settled_;
  bool is_closed_ = false;  // arrows that are new are not looked at
};

}  // namespace traceloom
