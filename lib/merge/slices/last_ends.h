// LastEnds: when the last event of each rank of a file ends. A B that is never closed ends there. A
// merged file has several ranks, and how long one was recorded says nothing of another.
//
//   chunk.last_ends.note(target.rank, end_ns);
//   of_file.add(chunk.last_ends);
//   std::int64_t end_ns = of_file.of(target.rank, begin_ns);
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>

namespace traceloom {

// Cheap if an event belongs to the same rank as the one before it.
class LastEnds {
 public:
  void note(std::int64_t rank, std::int64_t end_ns) {
    if (rank != rank_) [[unlikely]] {
      keep();
      rank_ = rank;
      last_ns_ = end_ns;
    }
    last_ns_ = std::max(last_ns_, end_ns);
  }
  void add(const LastEnds& other) {
    for (const auto& [rank, end_ns] : other.ends_) note(rank, end_ns);
    if (other.rank_ != kNone) note(other.rank_, other.last_ns_);
  }
  // Returns the end of the rank's last event, but no time before `begin_ns`.
  std::int64_t of(std::int64_t rank, std::int64_t begin_ns) const {
    if (rank == rank_) begin_ns = std::max(begin_ns, last_ns_);
    const auto found = ends_.find(rank);
    return found == ends_.end() ? begin_ns : std::max(begin_ns, found->second);
  }
  void clear() {
    ends_.clear();
    rank_ = kNone;
  }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

  void keep() {
    if (rank_ == kNone) return;
    std::int64_t& end_ns = ends_.try_emplace(rank_, last_ns_).first->second;
    end_ns = std::max(end_ns, last_ns_);
  }

  std::unordered_map<std::int64_t, std::int64_t> ends_;
  std::int64_t rank_ = kNone;  // the rank of the event before, not in ends_ yet
  std::int64_t last_ns_ = 0;
};

}  // namespace traceloom
