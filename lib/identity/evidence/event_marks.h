// The marks of a file, gathered event by event: metadata values, names of rows, clock syncs,
// collectives, work of devices that cannot be.
#pragma once

#include "base/ascii.h"
#include "base/problems.h"
#include "clock/clock_syncs.h"
#include "event/event.h"
#include "event/event_timing.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace traceloom {

// DistinctMarks: the values of metadata events with one name. Each distinct (value, pid, tid) is
// stored once, in the order met.
//
//   DistinctMarks syncs;
//   syncs.add({1795202969005000, "3", 812});
//   syncs.front().value

struct Mark {
  std::int64_t value = 0;
  std::string pid;           // canonical_id() of the event's pid
  std::uint64_t offset = 0;  // offset of the event in the uncompressed text
  std::string tid = {};      // canonical_id() of the event's tid, if it is needed
};

class DistinctMarks {
 public:
  // The ranks times cycles of a merged file are far fewer. A file with more marks is broken and
  // would fill the memory. Later marks are left out.
  static constexpr std::size_t kMaxMarks = 100'000;

  void add(const Mark& mark) {
    if (marks_.size() >= kMaxMarks || !known_.emplace(mark.value, mark.pid, mark.tid).second)
      return;
    marks_.push_back(mark);
    pids_.insert(mark.pid);
  }
  void add(const DistinctMarks& later) {
    for (const Mark& mark : later) add(mark);
  }

  bool empty() const { return marks_.empty(); }
  std::size_t size() const { return marks_.size(); }
  // True if a mark has that canonical pid.
  bool names(std::string_view pid) const { return pids_.contains(pid); }
  const Mark& front() const { return marks_.front(); }
  std::vector<Mark>::const_iterator begin() const { return marks_.begin(); }
  std::vector<Mark>::const_iterator end() const { return marks_.end(); }

  auto wired() { return std::tie(marks_, known_, pids_); }

 private:
  std::vector<Mark> marks_;
  std::set<std::tuple<std::int64_t, std::string, std::string>> known_;
  std::set<std::string, std::less<>> pids_;
};

// RowNames: the names that a file gives its rows. Metadata may follow the events to which it
// belongs, so rows have names only at the end of the file.
//
//   RowNames names;
//   for (each event of phase M) names.add(event);
//   names.append(names_of_the_next_chunk);
//   names.row("1", "13").process                              // "/device:GPU:0"

struct RowName {
  std::string process;
  std::string thread;
};

class RowNames {
 public:
  // Uses process_name, process_labels and thread_name and ignores all other metadata. The last
  // event of each kind counts. In a merge of ours the name of a thread contains the name of its
  // process in its file.
  void add(const Event& event);
  void append(const RowNames& later);
  void clear();
  // Whether a row is one of a device by the table of producers (event/event.h).

  // Returns decoded names; `pid` and `tid` are results of canonical_id(). What has no name in the
  // metadata is called by its pid or tid if that is a string. A process whose labels are those of a
  // device ("NPU") and whose own name has no meaning is called by the labels.
  RowName row(const std::string& pid, const std::string& tid) const;
  bool is_device_row(const std::string& pid, const std::string& tid) const;

 private:
  struct Process {
    std::string name;
    std::string labels;
  };
  std::map<std::string, Process> processes_;                        // keyed by pid
  std::map<std::pair<std::string, std::string>, RowName> threads_;  // keyed by pid and tid
};

// OperationRows: the rows of a coarse time line, whose thread names say where in the job they are:
// "PP rank 2, TP rank 0, pp-comm".
//
//   OperationRows rows;
//   for (each event M thread_name) rows.add(event);
//   rows.all().at({"0", "11"})                                // {.rank = 2, .stage = 2}

struct OperationRow {
  std::int64_t rank = 0;
  std::int64_t stage = 0;
};

class OperationRows {
 public:
  // Five rows belong to a rank, and a tid is 5 * rank + row. What has another name, or other
  // tids than the name says, is no such row.
  void add(const Event& event);
  void append(const OperationRows& later) { rows_.insert(later.rows_.begin(), later.rows_.end()); }

  bool empty() const { return rows_.empty(); }
  // Keyed by pid and tid, as canonical_id() gives them.
  const std::map<std::pair<std::string, std::string>, OperationRow>& all() const { return rows_; }

  auto wired() { return std::tie(rows_); }

 private:
  std::map<std::pair<std::string, std::string>, OperationRow> rows_;
};

// SyncMarks: the clock syncs in a file's events (phase c), gathered event by event.
//
//   SyncMarks marks;
//   if (SyncMarks::is_mark(event)) marks.add(event);
//   std::vector<SyncEvent> syncs = marks.events();

class SyncMarks {
 public:
  // A file with more ids is broken and would fill the memory. Later ids are left out.
  static constexpr std::size_t kMaxIds = 100'000;

  // True for a `c`, and for the legacy pair named ClockSyncEvent.ID: S when another process was
  // asked for the sync, and F when it answered.
  static bool is_mark(const Event& event);
  void add(const Event& event);
  void add(const SyncMarks& later);

  // Returns one event for each id, sorted by id. Of several marks the one that took the shortest
  // time counts, the first of equals.
  std::vector<SyncEvent> events() const;

  auto wired() { return std::tie(marks_); }

 private:
  struct Mark {
    std::optional<SyncEvent> event;  // the best c; its id is empty
    std::optional<std::int64_t> asked_ns;
    std::optional<std::int64_t> answered_ns;
  };
  Mark* find(const std::string& id);

  std::map<std::string, Mark> marks_;
};

// CollectiveMarks: the times at which the rank of a file took part in collectives and messages,
// gathered event by event. They serve to align clocks (align_by_collectives).
//
//   CollectiveMarks marks;
//   marks.add(event, time_event(event, problems));          // any event; most cost one compare
//   marks.append(marks_of_the_next_chunk);
//   for (const auto& [key, kind] : marks.kinds()) use(kind.rounds);
//
// The marks are kernels of NCCL and similar libraries, and gloo's ranges on the host. NCCL's ranges
// on the host are not used: they only start work of a device, so their times prove nothing.

inline constexpr std::int64_t kNoPeer = -1;

class CollectiveMarks {
 public:
  // This number is enough for any clock, and takes at most 1.5 MB a file. If a kind has more
  // rounds, every second one is kept, then every fourth, and so on. The choice depends on their
  // numbers, so all ranks keep the same rounds.
  static constexpr std::size_t kMostOfKind = 512;
  static constexpr std::size_t kMostKinds = 128;

  enum class Side : std::uint8_t {
    all,      // no rank leaves before all have entered
    send,     // a message to one other rank
    receive,  // a message from one other rank
  };

  struct Round {
    std::int64_t number = 0;  // Seq, otherwise the position among the rounds of its kind
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };

  // The properties that are equal on all ranks that take part, except the other end of a message.
  struct Kind {
    Side side = Side::all;
    bool is_device = false;
    bool has_seq = false;
    std::string what = {};        // "allreduce"; without Seq also everything else that separates it
                                  // from other kinds
    std::string group = {};       // name and description of the group; empty if they are not
                                  // recorded
    std::string ranks = {};       // ranks of the group: "[0, 1]"
    std::int64_t peer = kNoPeer;  // other end of a message: its number among all ranks, or in the
                                  // group
    std::vector<Round> rounds = {};
    std::uint64_t count = 0;  // number of rounds, including those that were not kept
    std::int64_t every = 1;   // one in this number of rounds was kept
    bool is_by_time = true;   // the rounds are in time order in the file
    bool is_whole = true;     // false if too many rounds were out of order, or of one number

    void add(const Round& round);
    void append(const Kind& later);
    auto wired() {
      return std::tie(side, is_device, has_seq, what, group, ranks, peer, rounds, count, every,
                      is_by_time, is_whole);
    }

   private:
    void keep(const Round& round);
  };

  void add(const Event& event, const EventTiming& timing) {
    if (event.phase == 'X' && may_be_round(event.text(Key::name))) add_round(event, timing);
  }
  void append(const CollectiveMarks& later);

  const std::map<std::string, Kind, std::less<>>& kinds() const { return kinds_; }
  bool empty() const { return kinds_.empty(); }

  auto wired() { return std::tie(kinds_); }

 private:
  // Decides by the name, which includes its quotes.
  static bool may_be_round(std::string_view name) {
    return name.size() > 6 && (name[1] == 'n' || name[1] == 'r' || name[1] == 'g') &&
           (name.substr(2, 3) == "ccl" || name.substr(1, 5) == "gloo:");
  }
  void add_round(const Event& event, const EventTiming& timing);

  std::map<std::string, Kind, std::less<>> kinds_;
  std::string scratch_;
};

// StreamOrder: counts as overlong_work what cannot be: a stream runs one launch after the other,
// and yet this work ends long after the next one begins.
//
//   StreamOrder streams;
//   streams.add(event, timing, problems);               // any event; most cost three compares
//   streams.append(streams_of_the_next_chunk, problems);
//
// Work is compared with what follows it on its row of the file, where it stands in the order of
// time. Work that names no stream is not judged: its row may be a whole device. Clocks of devices
// wobble: of 15,628 pairs in public traces, 9 overlap, by at most 13 us. An overlap of 1 ms is
// allowed.

inline constexpr std::int64_t kMostOverlapNs = 1'000'000;

struct StreamWork {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t stream = -1;       // -1 if the event names none
  std::int64_t correlation = -1;  // -1 if the event names none

  bool may_be_overlong() const { return end_ns - start_ns > kMostOverlapNs; }
  // True if this work, which may be overlong, is so because `next` of its row begins. Pieces of
  // one launch (a graph) may overlap.
  bool is_overlong_before(const StreamWork& next) const {
    return start_ns <= next.start_ns && next.start_ns < end_ns - kMostOverlapNs && stream >= 0 &&
           stream == next.stream && (correlation != next.correlation || correlation < 0);
  }
};

class StreamOrder {
 public:
  // The streams of all devices of a rank are far fewer. Work on later rows is not judged.
  static constexpr std::size_t kMostRows = 16'384;

  void add(const Event& event, const EventTiming& timing, ProblemCounts& problems) {
    if (event.phase == 'X' && may_be_work(event.text(Key::cat))) add_work(event, timing, problems);
  }
  void append(const StreamOrder& later, ProblemCounts& problems);

 private:
  struct Open : StreamWork {
    std::uint64_t offset = 0;  // in the uncompressed text
  };
  struct Row {
    std::string pid;
    std::string tid;
    // The first work of the chunk, and the first that is not of the same launch, up to the first
    // that may be overlong: the chunk before may have work that these show to be overlong.
    std::vector<StreamWork> first = {};
    bool knows_first = false;       // no more work is wanted there
    bool has_long = false;          // `open` was set, and is empty if that was counted
    std::optional<Open> open = {};  // the last work that may be overlong

    void judge(const StreamWork& next, ProblemCounts& problems);
  };

  // Decides by the end of the category, which includes its quotes. ends_with() is a call, and
  // took 2 % of `bottleneck`.
  static bool may_be_work(std::string_view category) {
    const auto ends_in = [&](const char* end) {
      return std::memcmp(category.data() + category.size() - 6, end, 6) == 0;
    };
    return category.size() > 6 && (ends_in("ernel\"") || ends_in("emcpy\"") || ends_in("emset\""));
  }
  void add_work(const Event& event, const EventTiming& timing, ProblemCounts& problems);
  // Returns the row with these ids; nullptr if there are too many.
  Row* row_of(std::string_view pid, std::string_view tid);

  std::vector<Row> rows_;
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;  // of rows, by pid and tid
  std::size_t last_ = 0;
};

}  // namespace traceloom
