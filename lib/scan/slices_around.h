// SlicesAround: when does the first of the closed slices (X) around a moment of a track end?
//
//   SlicesAround slices;
//   slices.add(start_ns, end_ns);                          // in any order
//   std::vector<std::int64_t> ends = slices.first_ends(moments);
//   slices.drop_passed(moments_to_come);                   // now and then
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace traceloom {

// It holds the slices of one track, in 16 bytes each. Not thread-safe.
class SlicesAround {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  void add(std::int64_t start_ns, std::int64_t end_ns);
  // One for each of `moments`, which are ascending: the earliest end of the slices that begin
  // before it and end after it; kNever where there is none. n log n in the number of slices.
  std::vector<std::int64_t> first_ends(const std::vector<std::int64_t>& moments) const;
  // Forgets the slices of the older half that ended before the latest start and hold none of
  // `moments`, which are ascending. A moment inside of such a slice that comes later still in the
  // file no longer finds it.
  void drop_passed(const std::vector<std::int64_t>& moments);
  std::size_t size() const { return slices_.size(); }

 private:
  struct Slice {
    std::int64_t start_ns;
    std::int64_t end_ns;
  };

  std::vector<Slice> slices_;  // in the order in which they came
  std::int64_t latest_ns_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace traceloom
