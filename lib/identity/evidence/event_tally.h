// The tally of all events of a file and of its threads, and when they begin and end.
#pragma once

#include "base/ascii.h"
#include "base/problems.h"
#include "base/string_table.h"
#include "clock/time_map.h"
#include "event/event_timing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// EventTally: a fingerprint of the events of a file, gathered event by event. It distinguishes the
// file from others and recognises a copy.
//
//   ThreadTallier tallier;                             // for a chunk
//   tallier.add(event, time_event(event, problems));   // any event that begins: no M, no E
//   tally.append(tallier.sum());
//   if (tally == other_tally) ...                      // a copy, whatever its layout and packing

// How much some events are. All times are the file's own, unchanged. Sums are modulo 2^64, so that
// they are the same in any order.
struct EventSums {
  std::uint64_t events = 0;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();  // the last begin
  std::uint64_t sum_ns = 0;                                         // of all starts
  // Of all durations: starts alone may be whole milliseconds.
  std::uint64_t lengths_ns = 0;

  void add(const EventTiming& timing) {
    ++events;
    first_ns = std::min(first_ns, timing.start_ns);
    last_ns = std::max(last_ns, timing.start_ns);
    sum_ns += static_cast<std::uint64_t>(timing.start_ns);
    lengths_ns += static_cast<std::uint64_t>(timing.duration_ns);
  }
  void add(const EventSums& more) {
    events += more.events;
    first_ns = std::min(first_ns, more.first_ns);
    last_ns = std::max(last_ns, more.last_ns);
    sum_ns += more.sum_ns;
    lengths_ns += more.lengths_ns;
  }
  bool operator==(const EventSums&) const = default;
};

struct EventTally : EventSums {
  std::uint64_t first_event = 0;  // hash of name and thread of the first event

  // Appends the tally of a later part of the same file.
  void append(const EventTally& later) {
    if (events == 0) first_event = later.first_event;
    add(later);
  }
  bool empty() const { return events == 0; }
  // True if `earlier` may belong to the same file at a time when it was incomplete.
  bool continues(const EventTally& earlier) const {
    return events > earlier.events && first_ns == earlier.first_ns &&
           first_event == earlier.first_event;
  }
  bool operator==(const EventTally&) const = default;
};

// ThreadTallies: how much each thread of a file holds. By that, files are recognised that hold the
// events of others under new process numbers, or a part of them.
//
//   ThreadTallies threads;                                     // for a file
//   threads.append(tallier);                                   // of the next chunk
//
// It costs a comparison an event, and a look-up where the thread changes. Memory: 64 bytes a thread
// of a file.

// Returns the number of a process or thread in ThreadTally, equal in all files.
std::uint64_t hash_of_id(std::string_view canonical_id);

struct ThreadTally : EventSums {
  std::uint64_t id = 0;   // hash_of_id() of pid and tid
  std::uint64_t pid = 0;  // 0 for counters without a tid, which belong to no thread

  bool operator==(const ThreadTally&) const = default;
};

class ThreadTallier {
 public:
  void add(const Event& event, const EventTiming& timing) {
    const std::string_view pid = event.text(Key::pid);
    const std::string_view tid = event.text(Key::tid);
    if (last_ == nullptr || !same_text(tid, last_tid_) || !same_text(pid, last_pid_))
      find(event, pid, tid);
    last_->add(timing);
  }
  void clear();

  // The row of the event that was added last. Rows have numbers from 0 on; several may be one
  // thread, since ids can be written in several ways.
  std::uint32_t last_row() const { return static_cast<std::uint32_t>(last_ - all_.data()); }
  // Calls use(pid, tid) for each row, in order, with the texts as they are written.
  template <typename Use>
  void for_each_row(Use use) const {
    for (std::uint32_t row = 0; row < all_.size(); ++row)
      use(texts_[row].substr(0, pid_sizes_[row]), texts_[row].substr(pid_sizes_[row] + 1));
  }
  // Returns the tally of all of them.
  EventTally sum() const;

  // By row.
  const std::vector<ThreadTally>& all() const { return all_; }
  // SGLang's merges begin the pids of each rank with its place: "[TP00-PP01]".
  const std::set<std::string>& merged_ranks() const { return merged_ranks_; }

 private:
  void find(const Event& event, std::string_view pid, std::string_view tid);

  StringTable texts_;  // pid and tid as they are written
  std::vector<std::size_t> pid_sizes_;
  std::vector<ThreadTally> all_;
  std::set<std::string> merged_ranks_;
  std::uint64_t first_event_ = 0;
  ThreadTally* last_ = nullptr;
  std::string_view last_pid_;
  std::string_view last_tid_;
  std::string scratch_;
};

struct ThreadTallies {
  // A file with more threads names requests by its tids. The later ones are not tallied.
  static constexpr std::size_t kMostThreads = 4096;

  std::vector<ThreadTally> all;  // sorted by id
  std::set<std::string> merged_ranks;
  bool is_complete = true;

  void append(const ThreadTallier& later);
};

// StartTimes: the begins (and ends) of a file's events in the file's own time, gathered event by
// event.
//
//   StartTimes starts;
//   starts.add(timing.start_ns, event.offset);          // any event but an E
//   if (starts.is_mixed()) ...
//
// Some times cannot be those of a run. Such events are outliers, which only count_outliers() and
// limits() consider:
// - Times further apart than int64 nanoseconds reach (292 years) cannot be on one time line. The
//   time line with most of the events is used.
// - The earliest or latest events are outliers if a gap of kNoRunPausesNs separates them from a
//   crowd, and all of them together are fewer than a tenth of it (or one, and four are the crowd).
// - So are events at exactly 0, before all others, if they are fewer than those, and further from
//   them than a collective waits, and than those are from each other: writers leave 0 where they
//   know no time. With trust_zero() they are only so behind a gap of kNoRunPausesNs.
//
// The last two rules compare times of one kind (TimeMap), but for 0, and no times of a merge:
// that begins at 0, and its files may be of several days.

// The length of a time line: as far as int64 reaches if the first time is floored to a whole
// microsecond.
inline constexpr std::int64_t kTimeLineNs = std::numeric_limits<std::int64_t>::max() - 1000;
// 6 days and 12 hours.
inline constexpr std::int64_t kNoRunPausesNs = std::int64_t{1} << 49;
// Gloo gives up a collective after 30 minutes, NCCL after 10.
inline constexpr std::int64_t kLongestWaitNs = 1'800 * std::int64_t{1'000'000'000};

class StartTimes {
 public:
  void add(std::int64_t ns, std::uint64_t offset_bytes = 0) {
    Cell& cell = cell_of(ns);
    if (cell.events++ == 0) cell.first_offset = offset_bytes;
    cell.first = std::min(cell.first, ns);
    cell.last = std::max(cell.last, ns);
  }
  // Adds an end event: it may be the last time, but nothing begins with it.
  void add_end(std::int64_t ns) {
    Cell& cell = cell_of(ns);
    cell.first_end = std::min(cell.first_end, ns);
    cell.last = std::max(cell.last, ns);
  }
  void add(const StartTimes& later);
  // Keeps all times that one time line reaches.
  void trust() { is_trusted_ = true; }
  // Says that an event at 0 has a length, or a value: its writer knew more of it than 0.
  void trust_zero() { is_zero_known_ = true; }

  struct Range {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();  // also counts an E
    std::uint64_t events = 0;                                      // number of events that begin

    bool empty() const { return first == std::numeric_limits<std::int64_t>::max(); }
  };
  // Times that are too small for Unix times (TimeMap), and Unix times.
  Range relative() const { return range_of(false); }
  Range unix_time() const { return range_of(true); }
  bool is_mixed() const { return !relative().empty() && !unix_time().empty(); }
  bool empty() const { return relative().empty() && unix_time().empty(); }
  // Returns the earliest time.
  std::optional<std::int64_t> first_ns() const {
    if (empty()) return std::nullopt;
    return std::min(relative().first, unix_time().first);
  }

  // Returns the latest time.
  std::optional<std::int64_t> last_ns() const {
    if (empty()) return std::nullopt;
    return std::max(relative().last, unix_time().last);
  }
  // Counts outliers as outlying_timestamp, and those at 0 as bad_timestamp.
  void count_outliers(ProblemCounts& problems) const;
  // Counts `events` outliers of which the first is at `ns`.
  static void count_outlier(std::int64_t ns, std::uint64_t offset_bytes, std::uint64_t events,
                            ProblemCounts& problems);
  bool has_outliers() const { return kept().size() < cells_.size(); }
  // The range contains all times that fit, and no outlier.
  Range limits() const;

  // For other processes: see team/wire.h.
  auto wired() { return std::tie(cells_, last_cell_, shift_, is_trusted_, is_zero_known_); }

 private:
  // The times of a piece of the time line. The pieces are as long as a pause that no run has. If a
  // file has times in more than kMostCells of them, they are twice as long, and so on.
  struct Cell : Range {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;                                            // its last time
    std::int64_t first_end = std::numeric_limits<std::int64_t>::max();  // of an E
    std::uint64_t first_offset = 0;

    bool is_zero() const { return end_ns == 0 && begin_ns == 0; }
    bool is_unix() const { return is_unix_time(begin_ns); }
    std::int64_t least() const { return std::min(first, first_end); }
    void add(const Cell& later);
  };
  static constexpr std::size_t kMostCells = 32;

  static Cell empty_cell(std::int64_t ns, int shift);
  Cell& cell_of(std::int64_t ns) {
    if (last_cell_ < cells_.size() && ns >= cells_[last_cell_].begin_ns &&
        ns <= cells_[last_cell_].end_ns) [[likely]]
      return cells_[last_cell_];
    return find_cell(ns);
  }
  Cell& find_cell(std::int64_t ns);
  void widen(int shift);
  FileBlock most() const;
  FileBlock group_at(std::size_t begin, std::size_t end) const;
  std::uint64_t events_in(const FileBlock& cells) const;
  void drop_zero(FileBlock& kept) const;
  void drop_outliers(FileBlock& kept, bool is_unix) const;
  FileBlock kept() const { return cells_.size() < 2 ? FileBlock{0, cells_.size()} : judge(); }
  FileBlock judge() const;
  Range range_of(bool is_unix) const;

  std::vector<Cell> cells_;  // ascend
  std::size_t last_cell_ = 0;
  int shift_ = 49;  // a cell has 2^shift_ ns
  bool is_trusted_ = false;
  bool is_zero_known_ = false;
};

// The range of a file's events on the common clock.
struct CommonTimes {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();

  void add(std::int64_t ns) { add({ns, ns}); }
  void add(const CommonTimes& other) {
    first_ns = std::min(first_ns, other.first_ns);
    last_ns = std::max(last_ns, other.last_ns);
  }
  bool operator==(const CommonTimes&) const = default;
};

// A time that does not fit has no place in the output either, and is used unchanged.
inline CommonTimes common_times(const StartTimes& starts, const TimeMap& times) {
  CommonTimes common;
  for (const StartTimes::Range& range : {starts.relative(), starts.unix_time()}) {
    if (range.empty()) continue;
    times.for_each_bound(range.first, range.last,
                         [&](std::int64_t ns) { common.add(times.mapped_or_same(ns)); });
  }
  return common;
}

}  // namespace traceloom
