// find_lost_bases: finds the Unix time from which the relative times of a file count if the file
// does not name it.
//
// torch (Kineto) writes times since a base that is a whole number of 7 889 238 s (three average
// months) and names the base next to the events. Composer copies the events into its own file
// without the base. Any hint of the right time selects that number again, and with it the base to
// the nanosecond.
#pragma once

#include "identity/evidence/file_evidence.h"
#include "identity/evidence/start_times.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

inline constexpr std::int64_t kTorchBaseUnitNs = 7'889'238'000'000'000;

struct LostBase {
  enum class By : std::uint8_t {
    own_events,   // Unix times in the same file
    own_sync,     // the file's clock sync
    other_files,  // the times of files that have a base or Unix times
    // no base fits: the first relative event was placed at the file's clock sync, otherwise at its
    // first Unix time; or the guess was made for another file of the rank with relative times of
    // the same clock
    guess,
  };
  By by = By::own_events;
  std::int64_t base_ns = 0;  // Unix nanoseconds of the relative time 0
  std::int64_t units = 0;    // base_ns = units * kTorchBaseUnitNs; 0 for a guess
};
// Returns "1790857026 s (227 x 7889238 s), by the Unix times of the same file".
std::string to_string(const LostBase& base);

struct FileTimes {
  std::int64_t rank;
  const FileEvidence& evidence;
  const StartTimes& starts;
};

// Returns one entry a file; nullopt if no base is missing or there is no hint. It looks only at
// files of Composer and torch, and accepts only a base that puts the file near the hint: within an
// hour of the file's own Unix times, or a day of a clock sync or of the events of another file.
//
// The time stamp of the file itself is no hint: a copy has another one, and the same inputs must
// give the same output.
std::vector<std::optional<LostBase>> find_lost_bases(const std::vector<FileTimes>& files);

}  // namespace traceloom
