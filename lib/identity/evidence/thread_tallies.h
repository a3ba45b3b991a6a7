// ThreadTallies: how much each thread of a file holds. By that, files are recognised that hold the
// events of others under new process numbers, or a part of them.
//
//   ThreadTallier tallier;                                     // for a chunk
//   tallier.add(event, time_event(event, problems));           // no metadata, no E
//   ThreadTallies threads;                                     // for its file
//   threads.append(tallier);
//
// It costs a comparison an event, and a look-up where the thread changes. Memory: 64 bytes a thread
// of a file.
#pragma once

#include "base/ascii.h"
#include "base/string_table.h"
#include "event/event_timing.h"
#include "identity/evidence/event_tally.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// One thread. Ids are hashes of canonical ids, equal in all files. Sums are modulo 2^64, so that
// they are the same in any order.
struct ThreadTally {
  std::uint64_t id = 0;   // of pid and tid
  std::uint64_t pid = 0;  // 0 for counters without a tid, which belong to no thread
  std::uint64_t events = 0;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();  // the last begin
  std::uint64_t sum_ns = 0;                                         // of all starts
  std::uint64_t lengths_ns = 0;                                     // of all durations

  void add(const ThreadTally& more) {
    events += more.events;
    first_ns = std::min(first_ns, more.first_ns);
    last_ns = std::max(last_ns, more.last_ns);
    sum_ns += more.sum_ns;
    lengths_ns += more.lengths_ns;
  }
  friend bool operator==(const ThreadTally&, const ThreadTally&) = default;
};

class ThreadTallier {
 public:
  void add(const Event& event, const EventTiming& timing) {
    const std::string_view pid = event.text(Key::pid);
    const std::string_view tid = event.text(Key::tid);
    if (last_ == nullptr || !same_text(tid, last_tid_) || !same_text(pid, last_pid_))
      find(event, pid, tid);
    ++last_->events;
    last_->first_ns = std::min(last_->first_ns, timing.start_ns);
    last_->last_ns = std::max(last_->last_ns, timing.start_ns);
    last_->sum_ns += static_cast<std::uint64_t>(timing.start_ns);
    last_->lengths_ns += static_cast<std::uint64_t>(timing.duration_ns);
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

  // For other processes: see team/wire.h.
  auto wired() { return std::tie(all, merged_ranks, is_complete); }
};

}  // namespace traceloom
