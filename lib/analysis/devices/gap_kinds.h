// GapKinds: the reason why a device had no work, for every instant of a gap. `idle` and
// `bottleneck` share it.
//
//   const GapKinds kinds(run, rank, all_work, 30'000);
//   for (const GapPart& part : kinds.parts_of(gap)) sums[part.kind] += length_ns(part.time);
//
// - host wait: nothing was launched; the call that launched the next work began after the gap had.
//   If the work begins as soon as its call ends, all of the gap is host wait
// - queued: the work was launched and did not begin; the device was busy with unrecorded work, or
//   the work waited for another stream or another rank
// - blocked: host wait or queued, while the host is in a call that waits for the device
//   (blocking_calls.h). The host is the thread that launched the next work or, for work already
//   launched, the thread that launches next
// - not recorded: the launch of the next work is not in the traces
//
// If no event has a correlation, nothing was lost: gaps are then inferred to be host wait.
#pragma once

#include "analysis/devices/blocking_calls.h"
#include "analysis/devices/device_gaps.h"
#include "analysis/devices/device_work.h"
#include "run/run.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

enum class GapKind : std::uint8_t { host_wait, queued, blocked, not_recorded };
inline constexpr std::size_t kGapKindCount = 4;
inline constexpr std::array<std::string_view, kGapKindCount> kGapKindNames{
    "host wait", "queued", "blocked", "not recorded"};
constexpr std::string_view gap_kind_name(GapKind kind) {
  return kGapKindNames[static_cast<std::size_t>(kind)];
}

inline constexpr std::uint32_t kNoTrack = ~std::uint32_t{0};
inline constexpr std::int64_t kUsualKernelGap = 30'000;  // ns

struct GapPart {
  Interval time;
  GapKind kind = GapKind::not_recorded;
  bool was_launched = false;             // queued, and blocked after the work had been launched
  bool is_kernel_wait = false;           // queued for less than the usual change between kernels
  std::uint32_t track = kNoTrack;        // thread that launched the next work, or that is blocked
  const HostSpan* blocked_in = nullptr;  // the blocking call
};

class GapKinds {
 public:
  // `work` is all work of the rank, in any order. The other arguments must outlive the object,
  // `work` need not.
  GapKinds(const Run& run, const RankEvents& rank, const WorkList& work,
           std::int64_t kernel_gap_ns = kUsualKernelGap);

  // The parts follow each other and fill the gap.
  std::vector<GapPart> parts_of(const DeviceGap& gap) const;
  // The same, into a list that the caller reuses.
  void find_parts(const DeviceGap& gap, std::vector<GapPart>& parts) const;
  // The same for a time after all work, in which nothing was launched.
  std::vector<GapPart> parts_behind(const Interval& time) const;
  // True if no event has a launch, so that host wait is inferred.
  bool infers() const { return infers_; }

 private:
  using Spans = std::vector<HostSpan>;

  void add_blocking(std::map<std::uint32_t, Spans> spans);
  std::uint32_t next_launcher(std::int64_t ns) const;
  void append(const GapPart& part, std::span<const std::uint32_t> tracks,
              std::vector<GapPart>& parts) const;

  std::int64_t kernel_gap_ns_;
  bool infers_ = true;
  std::map<std::uint32_t, Spans> blocking_;  // keyed by track; ascending, none within another
  std::vector<std::uint32_t> blocking_tracks_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> launches_;  // begin and track, ascending
};

}  // namespace traceloom
