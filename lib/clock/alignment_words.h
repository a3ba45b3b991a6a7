// The words of an alignment: by which evidence a clock was aligned, what may be asked for, and what
// is said of the result.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace traceloom {

enum class ClockMethod : std::uint8_t {
  sync,          // the file's own clock sync
  rounds,        // the barriers of that sync: when this rank and the others entered and left them
  same_boot,     // a clock of the machine, which the file shares with one whose place is known
  sync_of_rank,  // that of another file of its rank: of the same cycle, else the nearest in time
  sync_event,    // moments that files stamped under one id (phase c)
  collectives,   // the collectives that the rank had in common with others (identity/)
  base,          // an absolute base time
  epoch,         // ts is Unix time by its size
  merged,        // aligned by an earlier merge, and without a sync
  given,         // ClockOptions::offsets
  none,          // nothing is known, or nothing was asked for: left as it is
};
std::string_view to_string(ClockMethod method);
// By the file's own clock sync, or by what was stamped with it.
constexpr bool is_by_sync(ClockMethod method) {
  return method == ClockMethod::sync || method == ClockMethod::rounds ||
         method == ClockMethod::same_boot;
}

// What evidence is to be used.
enum class AlignBy : std::uint8_t {
  any,   // the best that a file has
  sync,  // clock syncs only
  base,  // base times only: hosts whose clocks are better than the syncs
  none,  // nothing: all times stay as they are
};
std::optional<AlignBy> parse_align_by(std::string_view name);  // "auto", "sync", "base", "none"

// What becomes of a rank with several clock syncs.
enum class DriftMode : std::uint8_t {
  constant,  // each file has the shift of its own sync; durations stay what they are
  linear,    // the shift is interpolated between neighbouring syncs, and durations with it
};
std::optional<DriftMode> parse_drift_mode(std::string_view name);  // "constant", "linear"

struct ClockOptions {
  AlignBy align_by = AlignBy::any;
  DriftMode drift = DriftMode::constant;
  // By rank: added to the times of its files (and to their base, if they have one) in place of what
  // their syncs say.
  std::map<std::int64_t, std::int64_t> offsets = {};
};

// What collectives say of a clock beside what else is known of it.
struct CollectiveEstimate {
  std::int64_t shift_ns = 0;         // by which its times come to those of the reference
  std::int64_t residual_p50_ns = 0;  // how far its collectives end from those of the others then
  std::int64_t residual_p95_ns = 0;
  std::int64_t bound_ns = 0;  // how far shift_ns may be off
  bool is_used = false;       // offset_ns has it: else the clock that it had may be right
};

// What is to be said of the clock of a file.
struct ClockSummary {
  ClockMethod method = ClockMethod::none;
  // Whether its times can be compared with those of other files: not without evidence, nor where an
  // earlier merge had none and counts from the zero of its inputs.
  bool is_known = false;
  // Common time = file time + offset_ns: of all times but the relative ones of a mixed file.
  std::int64_t offset_ns = 0;
  // By sync: how far two ranks may be apart at the sync of the file's cycle, the least bound that
  // any of them gives, plus 1 us for the two truncated stamps. By rounds and same_boot: how far
  // this file may be from the reference, from the first to the last barriers of its cycle that it
  // stamped; two other files may be as far apart as both errors together. Unknown without a sync.
  std::optional<std::int64_t> error_ns;
  // The same for all events of the file. It is more where error_ns is about one moment, the sync:
  // by how far the clock drifts from there to the farthest event, as far as that is known, else by
  // kWorstDriftPpm (worst_error.h). Equal where the bound is of the whole file: by rounds at both
  // ends of the cycle, on the machine of the reference, where drift is interpolated.
  std::optional<std::int64_t> worst_error_ns;
  // Drift::ppm, at the file's sync; unknown where that is the only one.
  std::optional<double> drift_ppm;
  // Of a file that has collectives in common with the reference: see align_by_collectives().
  std::optional<CollectiveEstimate> collectives;
};

}  // namespace traceloom
