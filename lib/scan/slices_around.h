// SlicesAround: finds the first end among the closed slices (X) around a moment of a track.
//
//   SlicesAround slices;
//   slices.add(start_ns, end_ns);                          // in any order
//   std::vector<std::int64_t> ends = slices.first_ends(moments);
//   slices.drop_passed(moments_to_come);                   // from time to time
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace traceloom {

// Holds the slices of one track, in 16 bytes each. Not thread-safe.
class SlicesAround {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  void add(std::int64_t start_ns, std::int64_t end_ns);
  // Returns for each of `moments`, which are ascending, the earliest end of the slices that begin
  // before it and end after it, or kNever if there is none. It takes n log n in the number of
  // slices.
  std::vector<std::int64_t> first_ends(const std::vector<std::int64_t>& moments) const;
  // Forgets those slices of the older half that ended before the latest start and contain none of
  // `moments`, which are ascending. A moment inside such a slice that comes even later in the file
  // no longer finds it.
  void drop_passed(const std::vector<std::int64_t>& moments);
  std::size_t size() const { return slices_.size(); }

 private:
  struct Slice {
    std::int64_t start_ns;
    std::int64_t end_ns;
  };

  std::vector<Slice> slices_;  // in the order of add()
  std::int64_t latest_ns_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace traceloom
