// What Unix time do the relative times of a file count from, when the file does not say so?
//
// torch (Kineto) writes times since a base that is a whole number of 7 889 238 s (three average
// months) and names it beside the events; Composer copies the events into its own file and leaves
// the base behind. Any hint of the right time selects that number again, and with it the base to
// the nanosecond.
//
//   for (const std::optional<LostBase>& base : find_lost_bases(inputs)) ...
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
    own_sync,     // its clock sync
    other_files,  // the times of files that have a base or Unix times
    guess,        // no base fits: the first relative event was put at the file's clock sync, or
                  // else at its first Unix time; or it is what was guessed for another file of
                  // the rank that has relative times of the same clock
  };
  By by = By::own_events;
  std::int64_t base_ns = 0;  // Unix ns of the relative time 0
  std::int64_t units = 0;    // base_ns = units * kTorchBaseUnitNs; 0 for a guess
};
// "1790857026 s (227 x 7889238 s), by the Unix times of the same file"
std::string to_string(const LostBase& base);

struct FileTimes {
  std::int64_t rank;
  const FileEvidence& evidence;
  const StartTimes& starts;
};

// One entry a file; nullopt where no base is missing or nothing tells it. Only of files of Composer
// and torch, and only a base that puts the file where the hint is: within an hour of the file's own
// Unix times, a day of a clock sync or of the events of another file.
//
// The time stamp of the file itself is no hint: a copy has another one, and the same inputs shall
// give the same output.
std::vector<std::optional<LostBase>> find_lost_bases(const std::vector<FileTimes>& files);

}  // namespace traceloom
