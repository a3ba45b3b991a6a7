// TimeMap: from the time that a file has to the time that all files share.
//
//   TimeMap times(-3'000'000);                    // the file's clock is 3 ms ahead
//   std::int64_t common_ns = 0;
//   if (times.map(file_ns, common_ns)) use(common_ns);
//
// The shift may change with time: between the moments at which it is known it is interpolated, so
// that later times stay later. Where a file holds several cycles each has its own shift, and later
// times stay later only within one: a clock that was set back between two of them has put the later
// one first.
//
// Composer copies the events of torch, whose times count from a base of about three months, into
// files whose own events are Unix time. Which of the two a time is can be told by its size, so the
// two kinds are shifted each by its own.
#pragma once

#include "base/saturating.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
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
  // Straight from knot to knot, constant before the first and behind the last. They ascend by time,
  // and at_ns + shift_ns does, too.
  struct Line {
    explicit Line(std::vector<Knot> all);
    std::vector<Knot> knots;
    bool has_slope;
    bool operator==(const Line&) const = default;
  };
  struct Cycle;

  explicit TimeMap(std::int64_t shift_ns = 0) : shift_ns_{shift_ns, shift_ns} {}
  // Times that are no Unix time by their size are shifted by the first, the others by the second.
  TimeMap(std::int64_t relative_shift_ns, std::int64_t unix_shift_ns)
      : shift_ns_{relative_shift_ns, unix_shift_ns} {}
  // The same, and on top of it a shift that drifts. The files of a rank share its line, which may
  // have many knots.
  TimeMap(std::int64_t relative_shift_ns, std::int64_t unix_shift_ns,
          std::shared_ptr<const Line> line);

  // False, and `common_ns` means nothing, when the result does not fit. Once or twice an event.
  bool map(std::int64_t file_ns, std::int64_t& common_ns) const {
    return file_ns >= least_ns_ && file_ns <= most_ns_ && to_clock(file_ns, common_ns) &&
           (line_ == nullptr || add_shift(knots_at(common_ns), common_ns));
  }
  // The same for the end of a span, which goes by the cycle that it begins in.
  bool map_end(std::int64_t start_ns, std::int64_t end_ns, std::int64_t& common_ns) const {
    std::int64_t at_ns = 0;
    return start_ns >= least_ns_ && start_ns <= most_ns_ && to_clock(start_ns, at_ns) &&
           to_clock(end_ns, common_ns) &&
           (line_ == nullptr || add_shift(knots_at(at_ns), common_ns));
  }
  // Whether durations change, too.
  bool has_drift() const { return has_drift_; }
  // The same as values; what does not fit stays as it is.
  std::int64_t mapped_or_same(std::int64_t file_ns) const {
    std::int64_t common_ns = 0;
    return map(file_ns, common_ns) ? common_ns : file_ns;
  }
  std::int64_t end_or_same(std::int64_t start_ns, std::int64_t end_ns) const {
    std::int64_t common_ns = 0;
    return map_end(start_ns, end_ns, common_ns) ? common_ns : end_ns;
  }

  // Each cycle goes from its first time to the next one's, the first cycle also before. One at
  // least; they ascend. Times of the file, of both kinds, are shifted by `base_ns` before they are
  // compared.
  static TimeMap joined(std::int64_t base_ns, const std::vector<Cycle>& cycles);

  // From now on times of the file before `least_ns` and after `most_ns` do not fit.
  void limit_to(std::int64_t least_ns, std::int64_t most_ns) {
    least_ns_ = std::max(least_ns_, least_ns);
    most_ns_ = std::min(most_ns_, most_ns);
  }

  // To a common time that begins at `origin_ns`.
  TimeMap since(std::int64_t origin_ns) const;

  // use(ns) for times of a file whose times of that kind go from `first_ns` to `last_ns`: one of
  // them is the earliest on the common clock, and one the latest.
  template <class Use>
  void for_each_bound(std::int64_t first_ns, std::int64_t last_ns, Use use) const {
    if (parts_.empty()) {
      use(first_ns);
      use(last_ns);
      return;
    }
    const std::int64_t base_ns = shift_ns_[is_unix_time(first_ns) ? 1 : 0];
    const std::int64_t first_at_ns = saturating_add(first_ns, base_ns);
    const std::int64_t last_at_ns = saturating_add(last_ns, base_ns);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const bool ends_here = i + 1 == parts_.size() || last_at_ns < parts_[i + 1].first_ns;
      const std::int64_t begin_ns =
          i == 0 ? first_at_ns : std::max(first_at_ns, parts_[i].first_ns);
      const std::int64_t end_ns = ends_here ? last_at_ns : parts_[i + 1].first_ns - 1;
      if (begin_ns > end_ns) continue;
      use(saturating_subtract(begin_ns, base_ns));
      use(saturating_subtract(
          ends_here ? end_ns : std::min(end_ns, std::max(begin_ns, parts_[i].last_ns)), base_ns));
    }
  }

  bool operator==(const TimeMap& other) const;
  // Whether each time that fits is the same on the common clock.
  bool moves_nothing() const;

 private:
  // Of joined().
  struct Part {
    std::int64_t first_ns;  // as in Cycle
    std::int64_t last_ns;
    std::size_t first_knot;
    bool operator==(const Part&) const = default;
  };

  // To what Knot::at_ns is, and the common time where there are no knots.
  bool to_clock(std::int64_t file_ns, std::int64_t& at_ns) const {
    return !__builtin_add_overflow(file_ns, shift_ns_[is_unix_time(file_ns) ? 1 : 0], &at_ns);
  }
  std::span<const Knot> knots_at(std::int64_t at_ns) const;
  bool add_shift(std::span<const Knot> knots, std::int64_t& ns) const;

  std::int64_t shift_ns_[2];          // of relative and of Unix times
  std::shared_ptr<const Line> line_;  // none, or all shift is its but for base and origin
  std::int64_t origin_ns_ = 0;        // of since(), where there is a line
  std::vector<Part> parts_;           // none, or two and more, each with knots of its own
  bool has_drift_ = false;
  std::int64_t least_ns_ = std::numeric_limits<std::int64_t>::min();  // of the file
  std::int64_t most_ns_ = std::numeric_limits<std::int64_t>::max();
};

// On the file's clock, as Knot::at_ns.
struct TimeMap::Cycle {
  std::int64_t first_ns = 0;  // its first event
  std::int64_t last_ns = 0;   // and its last one
  TimeMap times;              // of the file, whatever its time
};

}  // namespace traceloom
