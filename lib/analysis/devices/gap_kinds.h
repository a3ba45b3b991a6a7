// GapKinds: why a device had no work, for every instant of a gap. `idle` and `bottleneck` share it.
//
//   const GapKinds kinds(run, rank, all_work, 30'000);
//   for (const GapPart& part : kinds.parts_of(gap)) sums[part.kind] += length_ns(part.time);
//
//   host wait     nothing was launched: the call that launched the next work began after the gap
//                 had. Work that begins as soon as its call ends was waited for to the end
//   queued        launched and not begun: the device was busy with what was not recorded, or the
//                 work waited for another stream, or another rank
//   blocked       the same or the other, while the host sits in a call that waits for the device
//                 (blocking_calls.h): the thread that launched the next work or, of work that had
//                 been launched, the one that launches next
//   not recorded  the launch of the next work is not in the traces
//
// Where events have no correlations at all nothing was lost: then gaps are host wait, inferred.
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
  bool was_launched = false;             // queued, and blocked behind work that had been launched
  bool is_kernel_wait = false;           // queued for less than it takes to change between kernels
  std::uint32_t track = kNoTrack;        // the thread that launched the next work, or is blocked
  const HostSpan* blocked_in = nullptr;  // the call
};

class GapKinds {
 public:
  // `work`: all of the rank, in any order. The three must outlive it, `work` need not.
  GapKinds(const Run& run, const RankEvents& rank, const WorkList& work,
           std::int64_t kernel_gap_ns = kUsualKernelGap);

  // They follow each other and fill the gap.
  std::vector<GapPart> parts_of(const DeviceGap& gap) const;
  // The same, in a list that is used again for each.
  void find_parts(const DeviceGap& gap, std::vector<GapPart>& parts) const;
  // The same of a time behind all work: nothing was launched in it.
  std::vector<GapPart> parts_behind(const Interval& time) const;
  // No event tells its launch: what is host wait is inferred.
  bool infers() const { return infers_; }

 private:
  using Spans = std::vector<HostSpan>;

  void add_blocking(std::map<std::uint32_t, Spans> spans);
  std::uint32_t next_launcher(std::int64_t ns) const;
  void append(const GapPart& part, std::span<const std::uint32_t> tracks,
              std::vector<GapPart>& parts) const;

  std::int64_t kernel_gap_ns_;
  bool infers_ = true;
  std::map<std::uint32_t, Spans> blocking_;  // by track, ascending, none within another
  std::vector<std::uint32_t> blocking_tracks_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> launches_;  // begin and track, ascending
};

}  // namespace traceloom
