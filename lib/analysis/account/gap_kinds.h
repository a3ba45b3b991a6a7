// The reasons why a device has no work.
#pragma once

#include "analysis/account/host_timeline.h"
#include "analysis/devices/device_work.h"
#include "run/run.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// GapKinds: the reason why a device had no work, for every instant of a gap. `idle` and
// `bottleneck` share it.
//
//   const GapKinds kinds(run, rank, all_work, 30'000);
//   kinds.find_parts(gap, parts);
//   for (const GapPart& part : parts) sums[part.kind] += length_ns(part.time);
//
// - host wait: nothing was launched. Work is launched when its call returns; a call that waits for
//   it, and one that launched the work before the gap as well, have launched it when they begin. If
//   the work begins as soon as its call ends, all of the gap is host wait
// - turn-around: the next work had been launched behind the last one in the same stream, so that
//   the device waited for nobody, however long it took
// - queued: the work had been launched and did not begin: it waited for another stream, another
//   rank, or work that was not recorded
// - blocked: host wait, while the thread that launched the next work is in a call that waits for
//   the device (least_blocking_ns())
// - not recorded: the launch of the next work is not in the traces
//
// If no event has a correlation, nothing was lost: gaps are then inferred to be host wait.

enum class GapKind : std::uint8_t { host_wait, turn_around, queued, blocked, not_recorded };
inline constexpr std::size_t kGapKindCount = 5;
inline constexpr std::array<std::string_view, kGapKindCount> kGapKindNames{
    "host wait", "turn-around", "queued", "blocked", "not recorded"};
constexpr std::string_view gap_kind_name(GapKind kind) {
  return kGapKindNames[static_cast<std::size_t>(kind)];
}

inline constexpr std::int64_t kUsualKernelGap = 30'000;  // ns

struct GapPart {
  Interval time;
  GapKind kind = GapKind::not_recorded;
  bool is_kernel_wait = false;     // launched, for less than the usual change between kernels
  std::uint32_t track = kNoTrack;  // thread that launched the next work, or that is blocked
  // The blocking call; if queued, the longest in which that thread sits meanwhile, if any.
  const HostSpan* blocked_in = nullptr;
};

class GapKinds {
 public:
  // `work` is all work of the rank, in any order. The other arguments must outlive the object,
  // `work` need not.
  GapKinds(const Run& run, const RankEvents& rank, const WorkList& work,
           std::int64_t kernel_gap_ns = kUsualKernelGap);

  // Fills a list, which the caller may reuse, with parts that follow each other and fill the gap.
  void find_parts(const DeviceGap& gap, std::vector<GapPart>& parts) const;
  // True if no event has a launch, so that host wait is inferred.
  bool infers() const { return infers_; }
  // Returns the threads that launched work; of more than `most` those that launched most.
  std::set<std::uint32_t> launching_tracks(std::size_t most) const;
  // Returns the thread that launched last; kNoTrack if none did.
  std::uint32_t last_launcher() const {
    return launches_.empty() ? kNoTrack : launches_.back().second;
  }
  // Returns the number of calls that launched work and began in one of these times.
  std::uint64_t launches_in(const Intervals& times) const;

 private:
  using Spans = std::vector<HostSpan>;

  std::int64_t launched_at(const DeviceGap& gap) const;
  std::span<const HostSpan> blocking_in(std::uint32_t track, const Interval& time) const;
  void append(GapPart part, std::uint32_t track, std::vector<GapPart>& parts) const;

  std::int64_t kernel_gap_ns_;
  std::vector<std::int64_t> least_blocking_ns_;  // by label, for calls that were selected; else -1
  bool infers_ = true;
  // Keyed by track, or kNoTrack if launches are inferred; ascending, none within another.
  std::map<std::uint32_t, Spans> blocking_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> launches_;  // begin and track, ascending
};

}  // namespace traceloom
