#include "identity/clocks/lost_base.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

constexpr std::int64_t kHourNs = 3'600'000'000'000;
constexpr std::int64_t kDayNs = 24 * kHourNs;
// The year 2116: sums of hints and times are far from an overflow.
constexpr std::int64_t kLastHintNs = std::int64_t{1} << 62;

// A process keeps its first base: its times go on beyond the end of the unit.
constexpr std::int64_t kLongestNs = 2 * kTorchBaseUnitNs;

// A range of Unix time in which a file's events should lie.
struct Hint {
  LostBase::By by;
  std::int64_t first_ns;
  std::int64_t last_ns;
  std::int64_t tolerance_ns;
};

std::optional<std::int64_t> unix_sync(const FileEvidence& evidence) {
  const std::optional<std::int64_t> us = evidence.sync_us();
  std::int64_t ns = 0;
  if (!us || __builtin_mul_overflow(*us, std::int64_t{1000}, &ns) || !is_unix_time(ns))
    return std::nullopt;
  return ns;
}

// Chooses the whole number of units that brings the end of `relative` nearest to the end of the
// hint. It uses the ends because both belong to the moment at which the profiler stopped, while a
// first time may be a stray 0.
std::optional<LostBase> base_for(const StartTimes::Range& relative, const Hint& hint) {
  if (relative.last > kLongestNs || relative.last < -kDayNs) return std::nullopt;
  if (hint.last_ns > kLastHintNs) return std::nullopt;
  const std::int64_t distance = hint.last_ns - relative.last + kTorchBaseUnitNs / 2;
  const std::int64_t units = distance / kTorchBaseUnitNs;
  const std::int64_t base_ns = units * kTorchBaseUnitNs;
  const bool is_near = base_ns + relative.last >= hint.first_ns - hint.tolerance_ns &&
                       base_ns + relative.first <= hint.last_ns + hint.tolerance_ns;
  if (!is_near) return std::nullopt;
  return LostBase{hint.by, base_ns, units};
}

// Returns the range of the events of a file that knows its time.
std::optional<Hint> hint_of(const FileTimes& file) {
  const StartTimes::Range& relative = file.starts.relative();
  const StartTimes::Range& unix_time = file.starts.unix_time();
  constexpr LostBase::By kBy = LostBase::By::other_files;
  if (!unix_time.empty()) return Hint{kBy, unix_time.first, unix_time.last, kDayNs};
  const std::optional<std::int64_t> base_ns = file.evidence.base_ns;
  Hint hint{kBy, 0, 0, kDayNs};
  if (relative.empty() || !base_ns || !is_unix_time(*base_ns) ||
      __builtin_add_overflow(relative.first, *base_ns, &hint.first_ns) ||
      __builtin_add_overflow(relative.last, *base_ns, &hint.last_ns))
    return std::nullopt;
  return hint;
}

bool lacks_base(const FileTimes& file) {
  const FileEvidence& evidence = file.evidence;
  return !evidence.base_ns && !evidence.was_merged_by_us() && !file.starts.relative().empty() &&
         (evidence.is_torch || !evidence.rank_marks.empty());
}

// Finds the base with the file's own evidence.
std::optional<LostBase> own_base(const FileTimes& file) {
  const StartTimes::Range& relative = file.starts.relative();
  const StartTimes::Range& unix_time = file.starts.unix_time();
  const bool is_composer = !file.evidence.rank_marks.empty();
  const std::optional<std::int64_t> sync_ns = unix_sync(file.evidence);
  if (unix_time.empty()) {
    if (!sync_ns) return std::nullopt;
    return base_for(relative, {LostBase::By::own_sync, *sync_ns, *sync_ns, kDayNs});
  }
  // In files of other tools an event with a small time is broken and does not come from torch.
  if (!is_composer) return std::nullopt;
  if (const std::optional<LostBase> base =
          base_for(relative, {LostBase::By::own_events, unix_time.first, unix_time.last, kHourNs}))
    return base;
  LostBase guess{LostBase::By::guess, 0, 0};
  if (__builtin_sub_overflow(sync_ns.value_or(unix_time.first), relative.first, &guess.base_ns))
    return std::nullopt;
  return guess;
}

// Guesses the base of torch's own file next to Composer's, which holds copies of its events: the
// last events of both are at the same time. A first event is not used because it may be a stray 0.
std::optional<LostBase> guessed_for_rank(const FileTimes& file, const std::vector<FileTimes>& files,
                                         const std::vector<std::optional<LostBase>>& bases) {
  const StartTimes::Range& own = file.starts.relative();
  if (file.evidence.base_ns || file.evidence.was_merged_by_us() || own.empty() ||
      !file.starts.unix_time().empty())
    return std::nullopt;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].rank != file.rank || !bases[i] || bases[i]->by != LostBase::By::guess) continue;
    const StartTimes::Range& other = files[i].starts.relative();
    if (own.last == other.last && own.first >= other.first) return bases[i];
  }
  return std::nullopt;
}

}  // namespace

std::string to_string(const LostBase& base) {
  if (base.by == LostBase::By::guess) return "";
  const std::string number = fmt::format("{} s ({} x {} s)", base.base_ns / 1'000'000'000,
                                         base.units, kTorchBaseUnitNs / 1'000'000'000);
  const std::string_view by = base.by == LostBase::By::own_events
                                  ? "the Unix times of the same file"
                              : base.by == LostBase::By::own_sync ? "its clock sync"
                                                                  : "the times of another file";
  return fmt::format("{}, by {}", number, by);
}

std::vector<std::optional<LostBase>> find_lost_bases(const std::vector<FileTimes>& files) {
  std::vector<std::optional<LostBase>> bases;
  for (const FileTimes& file : files) {
    std::optional<LostBase>& base = bases.emplace_back();
    if (!lacks_base(file)) continue;
    base = own_base(file);
    if (!file.starts.unix_time().empty()) continue;
    for (const FileTimes& other : files) {
      if (base) break;
      if (const std::optional<Hint> hint = hint_of(other))
        base = base_for(file.starts.relative(), *hint);
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i)
    if (!bases[i]) bases[i] = guessed_for_rank(files[i], files, bases);
  return bases;
}

}  // namespace traceloom
