// TimeMap: maps the time of a file to the time that all files share.
//
//   TimeMap times(-3'000'000);                    // the file's clock is 3 ms ahead
//   std::int64_t common_ns = 0;
//   if (times.map(file_ns, common_ns)) use(common_ns);
//
// The shift may change with time: it is interpolated between the moments at which it is known, so
// later times stay later. If a file holds several cycles, each has its own shift, and later times
// stay later only within a cycle: if a clock was set back between two cycles, the later cycle has
// the earlier times.
//
// Composer copies torch's events, whose times count from a base of about three months, into files
// whose own events are Unix times. The size of a time shows its kind, so each kind has its own
// shift.
#pragma once

#include "base/arithmetic.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace traceloom {

// 1973 as Unix time. No machine with a trace has been up for three years, and torch's times stay
// below a year.
inline constexpr std::int64_t kFirstUnixNs = 100'000'000'000'000'000;

// In this time, clocks that differ by 50 ppm drift apart by 30 ms. Composer takes the sync of a
// cycle when the cycle begins, and what is farther from the events of a trace is not on its clock.
inline constexpr std::int64_t kFarFromEventsNs = std::int64_t{600} * 1'000'000'000;

inline bool is_unix_time(std::int64_t ns) {
  return ns >= kFirstUnixNs;
}

class TimeMap {
 public:
  // The shift at a moment, known from here on, or up to here.
  struct Knot {
    std::int64_t at_ns = 0;  // on the file's clock: its time plus its base
    std::int64_t shift_ns = 0;
    bool operator==(const Knot&) const = default;
  };
  // A line that is straight from knot to knot, and constant before the first and after the last.
  // The knots ascend by time, and so does at_ns + shift_ns.
  struct Line {
    explicit Line(std::vector<Knot> all);
    std::vector<Knot> knots;
    bool has_slope;
    auto wired() { return std::tie(knots, has_slope); }
    bool operator==(const Line&) const = default;
  };
  struct Cycle;

  explicit TimeMap(std::int64_t shift_ns = 0) : shift_ns_{shift_ns, shift_ns} {}
  // Shifts times that are too small for Unix times by the first number, other times by the second.
  TimeMap(std::int64_t relative_shift_ns, std::int64_t unix_shift_ns)
      : shift_ns_{relative_shift_ns, unix_shift_ns} {}
  // The same, plus a shift that drifts. The files of a rank share its line, which may have many
  // knots.
  TimeMap(std::int64_t relative_shift_ns, std::int64_t unix_shift_ns,
          std::shared_ptr<const Line> line);

  // Returns false, with no valid `common_ns`, if the result does not fit. It is called once or
  // twice an event.
  bool map(std::int64_t file_ns, std::int64_t& common_ns) const {
    return file_ns >= least_ns_ && file_ns <= most_ns_ && to_clock(file_ns, common_ns) &&
           (line_ == nullptr || add_shift(knots_at(common_ns), common_ns));
  }
  // The same for the end of a span, which uses the cycle in which it begins.
  bool map_end(std::int64_t start_ns, std::int64_t end_ns, std::int64_t& common_ns) const {
    std::int64_t at_ns = 0;
    return start_ns >= least_ns_ && start_ns <= most_ns_ && to_clock(start_ns, at_ns) &&
           to_clock(end_ns, common_ns) &&
           (line_ == nullptr || add_shift(knots_at(at_ns), common_ns));
  }
  // True if durations change, too.
  bool has_drift() const { return has_drift_; }
  // Returns the shift if it is the same for all times from `first_ns` to `last_ns`.
  std::optional<std::int64_t> constant_shift(std::int64_t first_ns, std::int64_t last_ns) const;
  // Returns the value; a time that does not fit stays unchanged.
  std::int64_t mapped_or_same(std::int64_t file_ns) const {
    std::int64_t common_ns = 0;
    return map(file_ns, common_ns) ? common_ns : file_ns;
  }

  // Each cycle lasts from its first time to that of the next one; the first cycle also covers the
  // time before. There is at least one, and they ascend. The file's times of both kinds are shifted
  // by `base_ns` before they are compared.
  static TimeMap joined(std::int64_t base_ns, const std::vector<Cycle>& cycles);

  // From now on, times of the file before `least_ns` and after `most_ns` do not fit.
  void limit_to(std::int64_t least_ns, std::int64_t most_ns) {
    least_ns_ = std::max(least_ns_, least_ns);
    most_ns_ = std::min(most_ns_, most_ns);
  }

  // True for a time before those that fit.
  bool is_early(std::int64_t file_ns) const { return file_ns < least_ns_; }

  // Returns the map to a common time that begins at `origin_ns`.
  TimeMap since(std::int64_t origin_ns) const;

  // Calls use(ns) for times of a file whose times of one kind go from `first_ns` to `last_ns`. One
  // of them is the earliest on the common clock, and one the latest.
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
  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    bool has_line = line_ != nullptr;
    Line line = has_line ? *line_ : Line({});
    wire(shift_ns_, has_line, line, origin_ns_, parts_, has_drift_, least_ns_, most_ns_);
    if constexpr (Wire::kReads)
      line_ = has_line ? std::make_shared<const Line>(std::move(line)) : nullptr;
  }
  // True if each time that fits is the same on the common clock.
  bool moves_nothing() const;

 private:
  // A cycle of joined().
  struct Part {
    std::int64_t first_ns;  // first and last time, as in Cycle
    std::int64_t last_ns;
    std::size_t first_knot;
    bool operator==(const Part&) const = default;
  };

  // Maps to the clock of Knot::at_ns, which is the common time if there are no knots.
  bool to_clock(std::int64_t file_ns, std::int64_t& at_ns) const {
    return !__builtin_add_overflow(file_ns, shift_ns_[is_unix_time(file_ns) ? 1 : 0], &at_ns);
  }
  std::span<const Knot> knots_at(std::int64_t at_ns) const;
  bool add_shift(std::span<const Knot> knots, std::int64_t& ns) const;

  std::int64_t shift_ns_[2];          // shifts of relative and of Unix times
  std::shared_ptr<const Line> line_;  // null, or the line that holds the whole shift except base
                                      // and origin
  std::int64_t origin_ns_ = 0;        // origin of since() if there is a line
  std::vector<Part> parts_;           // empty, or two and more, each with knots of its own
  bool has_drift_ = false;
  std::int64_t least_ns_ = std::numeric_limits<std::int64_t>::min();  // limits on the file's clock
  std::int64_t most_ns_ = std::numeric_limits<std::int64_t>::max();
};

// Times are on the file's clock, as in Knot::at_ns.
struct TimeMap::Cycle {
  std::int64_t first_ns = 0;  // its first event
  std::int64_t last_ns = 0;   // its last event
  TimeMap times;              // the map for the cycle, applied to the whole file
};

// OwnClocks: the common time of what other files of a process say, whose times are since 1970, by
// the clocks of its traces.
//
//   OwnClocks clocks;
//   clocks.add(file_times, base_ns, first_ns, last_ns);   // one a trace of the rank
//   if (clocks.are_near(from_ns, to_ns)) use(clocks.at(from_ns));
class OwnClocks {
 public:
  // `first_ns` and `last_ns` are common times of the trace's events, and `base_ns` its base or 0.
  void add(const TimeMap& times, std::int64_t base_ns, std::int64_t first_ns,
           std::int64_t last_ns) {
    traces_.push_back({times, base_ns, first_ns, last_ns});
  }
  // Returns the time by the clock of the trace whose events are nearest; nothing without a trace.
  std::optional<std::int64_t> at(std::int64_t unix_ns) const;
  // True if a trace has events between these times, or not far from them (kFarFromEventsNs): its
  // clock is theirs then.
  bool are_near(std::int64_t from_ns, std::int64_t to_ns) const;

 private:
  struct Trace {
    TimeMap times;
    std::int64_t base_ns;
    std::int64_t first_ns;
    std::int64_t last_ns;
  };
  std::vector<Trace> traces_;
};

}  // namespace traceloom
