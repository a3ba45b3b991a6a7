// SliceJoiner: makes one X event of each begin (B) and end event (E) that belong together.
//
//   SliceJoiner joiner;
//   joiner.take(halves);            // all of a file, chunk by chunk, in file order
//   joiner.finish(last_ends);
//   blocks.take(joiner.out());
//
// Why: viewers match B and E by their order (an E of another file closes the B of this one, and a
// slice that begins and ends in the same microsecond falls apart if X events are near), and X by
// time alone. BeginEndPairer decides which E belongs to which B, so that the statistics of a merged
// file are those of its inputs.
#pragma once

#include "base/problems.h"
#include "merge/order/event_block.h"
#include "merge/slices/last_ends.h"
#include "merge/slices/last_starts.h"
#include "merge/slices/slice_halves.h"
#include "scan/begin_end.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <string>
#include <vector>

namespace traceloom {

// The joiner of one file. Memory: the halves that wait for their other half, or to be sorted. Not
// thread-safe.
class SliceJoiner {
 public:
  // The bytes that waiting halves may take together, texts and all. If they take more, those that
  // wait to be sorted are joined as they come. So many ordinary events fit that BeginEndPairer
  // sorts fewer.
  static constexpr std::size_t kMaxBytes = std::size_t{32} << 20;

  // Drops pairs that last less than `least_ns`.
  explicit SliceJoiner(std::int64_t least_ns = 0, std::size_t max_bytes = kMaxBytes);
  // See BeginEndPairer::match_names().
  void match_names() { pairer_.match_names(); }
  SliceJoiner(const SliceJoiner&) = delete;
  SliceJoiner& operator=(const SliceJoiner&) = delete;

  void take(const SliceHalves& halves);
  // Closes the slices that are still open. The events of the file end at `last_ends` on the clock
  // of the merge.
  //
  // - A B that is still open ends with the first slice around it that ends, or else with the events
  //   of its rank. A member "unclosed": true marks it, because its length is not known.
  // - A B that a save has cut ends at the cut, and is marked by kCutSlice, or dropped if it is
  //   superseded.
  // - An X that never ended ends with the events of its rank, and is marked by kNeverEnded.
  // - An X without dur ends where the last event of its thread begins, and is marked by
  //   kNoDuration.
  void finish(const LastEnds& last_ends);

  // Returns how many B wait for their E.
  std::size_t open() const { return pairer_.open(); }

  // Returns what has been joined so far, to be taken and cleared. An event that begins in the same
  // nanosecond as the one around it comes after that one.
  EventBlock& out() { return out_; }

  // Counts end_without_begin, begin_without_end and out_of_order.
  const ProblemCounts& problems() const { return pairer_.problems(); }

 private:
  struct Joined {
    std::string event;
    std::int64_t start_ns;
    std::int64_t duration_ns;
    std::uint64_t begin_offset;
    std::uint32_t track;
  };
  struct Slot {
    SliceHalf half;
    std::list<Joined> inner;  // slices that begin with this one and come after it
  };

  std::uint32_t keep(const SliceHalf& half);
  void join(const BeginEndPair& pair);
  void close_open(const OpenBegin& begin);
  void end_endless();
  bool is_dropped(std::uint32_t begin, std::int64_t duration_ns) const;
  void leave(std::uint32_t begin, std::uint32_t outer);
  void emit(std::uint32_t begin, Joined slice, std::uint32_t outer);
  void write_inner(std::uint32_t slot);
  void write(const Joined& slice);
  void release(std::uint32_t slot);

  static std::size_t bytes_of(const SliceHalf& half) { return half.text.size() + kBytesBesideText; }
  static std::size_t bytes_of(const Joined& slice) { return slice.event.size() + kBytesBesideText; }
  // The size of a slot, of a record of the pairer, and of what a text takes besides its characters.
  static constexpr std::size_t kBytesBesideText = 200;
  // A free slot keeps the memory of an ordinary text for the next one.
  static constexpr std::size_t kKeptTextBytes = 512;

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::size_t inner_bytes_ = 0;  // sum over all Slot::inner
  bool is_finishing_ = false;
  std::deque<Slot> slots_;  // a deque grows without holding its old memory next to its new one
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> payloads_;
  std::vector<EndlessSlice> endless_;
  LastStarts last_starts_;
  EventBlock out_;
  LastEnds last_ends_;
  std::int64_t least_ns_;
  BeginEndPairer pairer_;
};

}  // namespace traceloom
