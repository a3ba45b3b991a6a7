// CollectiveMarks: when the rank of a file took part in collectives and messages, gathered event by
// event, so that clocks can be told by them (collective_clock.h).
//
//   CollectiveMarks marks;
//   marks.add(event, time_event(event, problems));          // any event; most cost one compare
//   marks.append(marks_of_the_next_chunk);
//   for (const auto& [key, kind] : marks.kinds()) use(kind.rounds);
//
// Kernels of NCCL and its like, and what gloo says that it does on the host. Those of NCCL on the
// host only start what a device does, and say nothing of when.
#pragma once

#include "event/event_timing.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

inline constexpr std::int64_t kNoSeq = -1;
inline constexpr std::int64_t kNoPeer = -1;

class CollectiveMarks {
 public:
  // Enough for any clock, and 1.5 MB a file at most. Of more of a kind every second one is kept,
  // every fourth and so on: by their numbers, so that all ranks keep the same ones.
  static constexpr std::size_t kMostOfKind = 512;
  static constexpr std::size_t kMostKinds = 128;

  enum class Side : std::uint8_t {
    all,      // nobody leaves before all have entered
    send,     // to one other rank
    receive,  // from one
  };

  struct Round {
    std::int64_t number = 0;  // Seq, else the how manyeth of its kind
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };

  // What is alike on all ranks that take part, but for the other end of a message.
  struct Kind {
    Side side = Side::all;
    bool is_device = false;
    bool has_seq = false;
    std::string what = {};        // "allreduce"; without Seq with all that tells it from others
    std::string group = {};       // its name and description; empty where it is not told
    std::string ranks = {};       // of the group: "[0, 1]"
    std::int64_t peer = kNoPeer;  // of a message: by its number among all, or in the group
    std::vector<Round> rounds = {};
    std::uint64_t count = 0;  // with those that were not kept
    std::int64_t every = 1;   // of which one was kept
    bool is_by_time = true;   // as they stand in the file
    bool is_whole = true;     // false: too many, out of order or of one number

    void add(const Round& round);
    void append(const Kind& later);

   private:
    void keep(const Round& round);
  };

  void add(const Event& event, const EventTiming& timing) {
    if (event.phase == 'X' && may_be_round(event.text(Key::name))) add_round(event, timing);
  }
  void append(const CollectiveMarks& later);

  const std::map<std::string, Kind, std::less<>>& kinds() const { return kinds_; }
  bool empty() const { return kinds_.empty(); }

 private:
  // By its name, with its quotes.
  static bool may_be_round(std::string_view name) {
    return name.size() > 6 && (name[1] == 'n' || name[1] == 'r' || name[1] == 'g') &&
           (name.substr(2, 3) == "ccl" || name.substr(1, 5) == "gloo:");
  }
  void add_round(const Event& event, const EventTiming& timing);

  std::map<std::string, Kind, std::less<>> kinds_;
  std::string scratch_;
};

}  // namespace traceloom
