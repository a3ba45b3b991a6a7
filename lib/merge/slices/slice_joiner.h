// Slices while they are written: begin and end events become one X, open ones get an end,
// overlaps are found.
#pragma once

#include "base/arithmetic.h"
#include "base/problems.h"
#include "event/event_timing.h"
#include "merge/order/event_block.h"
#include "scan/begin_end.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace traceloom {

// LastTimes: the latest time of each rank or track of a file.
//
//   chunk.last_ends.note(target.rank, end_ns);
//   of_file.add(chunk.last_ends);
//   std::int64_t end_ns = of_file.of(target.rank, begin_ns);

// Cheap if an event belongs to the same one as the event before it.
template <typename Key>
class LastTimes {
 public:
  void note(Key key, std::int64_t ns) {
    if (key != key_) [[unlikely]] {
      keep();
      key_ = key;
      last_ns_ = ns;
    }
    last_ns_ = std::max(last_ns_, ns);
  }
  void add(const LastTimes& other) {
    for (const auto& [key, ns] : other.times_) note(key, ns);
    if (other.key_ != kNone) note(other.key_, other.last_ns_);
  }
  // Returns the latest time of the key, but none before `begin_ns`.
  std::int64_t of(Key key, std::int64_t begin_ns) const {
    if (key == key_) begin_ns = std::max(begin_ns, last_ns_);
    const auto found = times_.find(key);
    return found == times_.end() ? begin_ns : std::max(begin_ns, found->second);
  }
  bool empty() const { return key_ == kNone; }
  void clear() { *this = {}; }

 private:
  static constexpr Key kNone = std::numeric_limits<Key>::max();

  void keep() {
    if (key_ == kNone) return;
    std::int64_t& ns = times_.try_emplace(key_, last_ns_).first->second;
    ns = std::max(ns, last_ns_);
  }

  std::unordered_map<Key, std::int64_t> times_;
  Key key_ = kNone;  // the key of the event before, not in times_ yet
  std::int64_t last_ns_ = 0;
};

// When the last event of each rank ends. A B that is never closed ends there. A merged file has
// several ranks, and how long one was recorded says nothing of another.
using LastEnds = LastTimes<std::int64_t>;
// When the last event of each track (TrackTarget::number) begins. An X without dur ends there.
// Starts are noted only in the few files that have one.
using LastStarts = LastTimes<std::uint32_t>;

// OverlapCheck: finds slices of a track that overlap without one being inside the other.
//
//   OverlapCheck check;
//   if (check.overlaps(track, start_ns, duration_ns))
//     problems.add(Problem::partial_overlap, offset);

// Viewers cannot nest such slices: Perfetto moves the later one to a lane of its own. The producer
// wrote them so (kernels that start before the one before them has ended), and they are left as
// they are. The check looks at slices in the order of a file, and only where their starts ascend,
// so that it never reports an overlap that is none. A slice costs a few nanoseconds. Not
// thread-safe.
class OverlapCheck {
 public:
  // Returns true if an earlier slice of the track ends within this one, after its start. If slices
  // start together, the shorter ones are inside the longest, in whichever order they come.
  bool overlaps(std::uint32_t track, std::int64_t start_ns, std::int64_t duration_ns) {
    if (track >= tracks_.size()) tracks_.resize(track + 1);
    Track& on = tracks_[track];
    if (on.round != round_ || start_ns < on.last_start_ns) on.open.clear();
    on.round = round_;
    on.last_start_ns = start_ns;
    while (!on.open.empty() && on.open.back().end_ns <= start_ns) on.open.pop_back();
    const std::int64_t end_ns = saturating_add(start_ns, duration_ns);
    auto place = on.open.end();
    while (place != on.open.begin() && place[-1].end_ns < end_ns && place[-1].start_ns == start_ns)
      --place;
    const bool overlaps = place != on.open.begin() && place[-1].end_ns < end_ns;
    if (!overlaps) on.open.insert(place, {start_ns, end_ns});
    return overlaps;
  }
  // Forgets all earlier slices.
  void forget() { ++round_; }

 private:
  struct Slice {
    std::int64_t start_ns;
    std::int64_t end_ns;
  };
  struct Track {
    std::uint64_t round = 0;
    std::int64_t last_start_ns = 0;
    std::vector<Slice> open;  // not ended at the last start; the innermost is last
  };
  std::vector<Track> tracks_;
  std::uint64_t round_ = 1;
};

// SliceHalves: the begin (B) and end events (E) of a chunk, written as far as that can be done
// before they are joined.
//
//   halves.add(event, start_ns, {text, ...});     // in parallel, by EventWriter
//   joiner.take(halves);                          // in file order

struct SliceHalf {
  // For a B: the whole event as an X, but for its duration. For an E: its args, or nothing.
  std::string text = {};
  // For a B: places in `text`, where the duration goes, and the args.
  std::size_t duration_at = 0;
  bool has_duration_key = false;  // the key is there already, only the number is missing
  std::size_t args_begin = 0;     // equal to args_end when there are none
  std::size_t args_end = 0;
  std::uint32_t track = 0;  // TrackTarget::number
  std::int64_t rank = 0;
  std::optional<std::int64_t> thread_ns = {};  // time on the clock of the thread (tts)
  std::string frame = {};                      // for an E: its stack frame (sf), JSON text
  std::string cut_id = {};     // for an E that cuts a slice which goes on: its id, JSON text
  bool is_superseded = false;  // for such an E: another file has the whole slice
  bool wanted = true;          // for a B: false if a filter drops the pair; then there is no text
};

// An X without dur, or one that never ended: a begin that no end will close.
struct EndlessSlice {
  std::int64_t start_ns;  // in time of the merge
  std::uint64_t offset;   // offset in its file
  SliceHalf half;
  SliceEnd slice_end;  // missing or never
};

// Holds one B or E event after the other. Reuse it: it keeps its memory.
struct SliceHalves {
  BeginEndBatch batch;
  std::vector<SliceHalf> halves;  // one for each record of the batch
  std::vector<EndlessSlice> endless;
  LastStarts last_starts;  // for a file with slices without dur

  // `start_ns` is in time of the merge.
  void add(const Event& event, std::int64_t start_ns, SliceHalf half) {
    batch.add(event, start_ns);
    halves.push_back(std::move(half));
  }
  bool empty() const { return batch.empty() && endless.empty() && last_starts.empty(); }
  void clear() {
    batch.clear();
    halves.clear();
    endless.clear();
    last_starts.clear();
  }
};

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
