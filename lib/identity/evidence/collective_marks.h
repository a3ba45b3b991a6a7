// CollectiveMarks: the times at which the rank of a file took part in collectives and messages,
// gathered event by event. They serve to align clocks (collective_clock.h).
//
//   CollectiveMarks marks;
//   marks.add(event, time_event(event, problems));          // any event; most cost one compare
//   marks.append(marks_of_the_next_chunk);
//   for (const auto& [key, kind] : marks.kinds()) use(kind.rounds);
//
// The marks are kernels of NCCL and similar libraries, and gloo's ranges on the host. NCCL's ranges
// on the host are not used: they only start work of a device, so their times prove nothing.
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
    template <typename Wire>
    void wire(Wire& wire) {
      wire(side, is_device, has_seq, what, group, ranks, peer, rounds, count, every, is_by_time,
           is_whole);
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

  template <typename Wire>
  void wire(Wire& wire) {
    wire(kinds_);
  }

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

}  // namespace traceloom
