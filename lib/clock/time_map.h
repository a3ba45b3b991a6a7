// TimeMap: from the time that a file has to the time that all files share.
//
//   TimeMap times(-3'000'000);                    // the file's clock is 3 ms ahead
//   std::int64_t common_ns = 0;
//   if (times.map(file_ns, common_ns)) use(common_ns);
//
// The shift may change with time: between the moments at which it is known it is interpolated, so
// that later times stay later. Where a file holds several cycles, each has its own shift.
//
// Composer copies the events of torch, whose times count from a base of about three months, into
// files whose own events are Unix time. Which of the two a time is can be told by its size, so the
// two kinds are shifted each by its own.
#pragma once

#include <cstdint>
#include <vector>

namespace traceloom {

// 1973 as Unix time; no machine that has a trace to show has been up for three years, and torch's
// times stay below a year.
inline constexpr std::int64_t kFirstUnixNs = 100'000'000'000'000'000;

inline bool is_unix_time(std::int64_t ns) {
  return ns >= kFirstUnixNs;
}

class TimeMap {
 public:
  // From here on, or up to here, the shift is known.
  struct Knot {
    std::int64_t at_ns = 0;  // on the file's clock: its time plus its base
    std::int64_t shift_ns = 0;
    bool operator==(const Knot&) const = default;
  };
  struct Piece;

  explicit TimeMap(std::int64_t shift_ns = 0) : shift_ns_{shift_ns, shift_ns} {}
  // Times that are no Unix time by their size are shifted by the first, the others by the second.
  TimeMap(std::int64_t relative_shift_ns, std::int64_t unix_shift_ns)
      : shift_ns_{relative_shift_ns, unix_shift_ns} {}
  // The same, and on top of it a shift that drifts: straight from knot to knot, constant before the
  // first and behind the last. They ascend by time, and at_ns + shift_ns does, too.
  TimeMap(std::int64_t relative_shift_ns, std::int64_t unix_shift_ns, std::vector<Knot> knots);

  // False, and `common_ns` means nothing, when the result does not fit. Once or twice an event.
  bool map(std::int64_t file_ns, std::int64_t& common_ns) const {
    if (__builtin_add_overflow(file_ns, shift_ns_[is_unix_time(file_ns) ? 1 : 0], &common_ns))
      return false;
    return knots_.empty() || add_drift(common_ns);
  }
  // Whether durations change, too. A step from one cycle to the next does not change any.
  bool has_drift() const { return has_drift_; }
  // The same as a value; what does not fit stays as it is.
  std::int64_t mapped_or_same(std::int64_t file_ns) const {
    std::int64_t common_ns = 0;
    return map(file_ns, common_ns) ? common_ns : file_ns;
  }

  // Each piece from its beginning to that of the next, the first one also before. One at least;
  // they ascend. Times of the file, of both kinds, are shifted by `base_ns` before they are
  // compared.
  static TimeMap joined(std::int64_t base_ns, std::vector<Piece> pieces);

  // To a common time that begins at `origin_ns`.
  TimeMap since(std::int64_t origin_ns) const;

  bool operator==(const TimeMap&) const = default;

 private:
  bool add_drift(std::int64_t& ns) const;

  std::int64_t shift_ns_[2];  // of relative and of Unix times
  // None, or two and more. Two that are 1 ns apart are a step: no time is between them.
  std::vector<Knot> knots_;
  bool has_drift_ = false;
};

struct TimeMap::Piece {
  std::int64_t from_ns = 0;  // on the file's clock, as Knot::at_ns
  TimeMap times;             // of the file, whatever its time
};

}  // namespace traceloom
