// The words of an alignment: by which evidence a clock was aligned, what may be asked for, and what
// is said of the result.
#pragma once

#include "base/by_enum.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace traceloom {

enum class ClockMethod : std::uint8_t {
  sync,          // the clock sync of the file itself
  rounds,        // the times at which ranks entered and left the barriers of that sync
  same_boot,     // a clock of the machine, which another file with a known place shares
  sync_of_rank,  // the sync of another file of its rank, of the same cycle or else the nearest in
                 // time
  sync_event,    // moments that files stamped under one id (phase c)
  collectives,   // the collectives that the rank had in common with others (identity/)
  base,          // an absolute base time
  epoch,         // ts is Unix time by its size
  merged,        // aligned by an earlier merge, without a sync
  given,         // ClockOptions::offsets
  none,          // no evidence, or no alignment requested: the clock stays as it is
};
constexpr std::string_view to_string(ClockMethod method) {
  return name_in({"sync", "rounds", "same_boot", "sync_of_rank", "sync_event", "collectives",
                  "base", "epoch", "merged", "given", "none"},
                 method);
}
static_assert(to_string(ClockMethod::none) == "none");
// True for the file's own clock sync, and for evidence that was stamped with it.
constexpr bool is_by_sync(ClockMethod method) {
  return method == ClockMethod::sync || method == ClockMethod::rounds ||
         method == ClockMethod::same_boot;
}

// The evidence that may be used.
enum class AlignBy : std::uint8_t {
  any,   // the best evidence that a file has
  sync,  // clock syncs only
  base,  // base times only: hosts whose clocks are better than the syncs
  none,  // no evidence: all times stay as they are
};

// The treatment of a rank with several clock syncs.
enum class DriftMode : std::uint8_t {
  constant,  // each file has the shift of its own sync; durations do not change
  linear,    // the shift is interpolated between neighbouring syncs, which changes durations
};

struct ClockOptions {
  AlignBy align_by = AlignBy::any;
  DriftMode drift = DriftMode::constant;
  // Nanoseconds, by rank, that are added to the times of its files (and to their base, if they have
  // one) instead of the shift by syncs.
  std::map<std::int64_t, std::int64_t> offsets = {};
};

// The estimate that collectives give for a clock, besides other evidence.
struct CollectiveEstimate {
  std::int64_t shift_ns = 0;         // added to its times, it gives those of the reference
  std::int64_t residual_p50_ns = 0;  // distance of its collectives' ends from those of the others
                                     // after the shift
  std::int64_t residual_p95_ns = 0;
  std::int64_t bound_ns = 0;  // possible error of shift_ns
  bool is_used = false;       // true if offset_ns contains the shift; otherwise the earlier clock
                              // may be right
};

// What is to be said of the clock of a file.
struct ClockSummary {
  ClockMethod method = ClockMethod::none;
  // True if its times can be compared with those of other files. False without evidence, and also
  // if an earlier merge had none and its times count from the zero of its inputs.
  bool is_known = false;
  // Common time = file time + offset_ns, except for the relative times of a mixed file.
  std::int64_t offset_ns = 0;
  // By sync: how far two ranks may be apart at the sync of the file's cycle, the least bound that
  // any of them gives, plus 1 us for the two truncated stamps. By rounds and same_boot: how far
  // this file may be from the reference, from the first to the last barriers of its cycle that it
  // stamped; two other files may be as far apart as both errors together. Unknown without a sync.
  std::optional<std::int64_t> error_ns;
  // The same for all events of the file. If error_ns holds only at the moment of the sync, it is
  // larger by the drift from there to the farthest event, which is the known drift or else
  // kWorstDriftPpm (alignment.h). It is equal if the bound holds for the whole file: with rounds
  // at both ends of the cycle, on the machine of the reference, or with interpolated drift.
  std::optional<std::int64_t> worst_error_ns;
  // Drift::ppm at the file's sync; not known if that is the only sync.
  std::optional<double> drift_ppm;
  // Set for a file that has collectives in common with the reference: see align_by_collectives().
  std::optional<CollectiveEstimate> collectives;
};

}  // namespace traceloom
