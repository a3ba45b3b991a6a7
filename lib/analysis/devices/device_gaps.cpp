#include "analysis/devices/device_gaps.h"

#include "run/recorded_times.h"

#include <algorithm>

namespace traceloom {

std::vector<DeviceGap> find_gaps(const WorkList& work, std::int64_t kernel_gap_ns,
                                 const Intervals& unrecorded) {
  std::vector<DeviceGap> gaps;
  if (work.empty()) return gaps;
  std::int64_t end_ns = work.front().span.end_ns;
  for (const WorkPiece& piece : work) {
    if (piece.span.start_ns > end_ns && !holds_any(unrecorded, {end_ns, piece.span.start_ns})) {
      DeviceGap gap{{end_ns, piece.span.start_ns}, HtaGap::other, piece.call};
      if (piece.call != nullptr && piece.call->start_ns > end_ns)
        gap.kind = HtaGap::host_wait;
      else if (gap.length_ns() < kernel_gap_ns)
        gap.kind = HtaGap::kernel_wait;
      gaps.push_back(gap);
    }
    end_ns = std::max(end_ns, piece.span.end_ns);
  }
  return gaps;
}

std::int64_t worked_ns(const WorkList& work, const Intervals& unrecorded) {
  if (work.empty()) return 0;
  std::int64_t from_ns = work.front().span.start_ns;
  std::int64_t end_ns = work.front().span.end_ns;
  std::int64_t sum = 0;
  for (const WorkPiece& piece : work) {
    if (piece.span.start_ns > end_ns && holds_any(unrecorded, {end_ns, piece.span.start_ns})) {
      add_to(sum, end_ns - from_ns);
      from_ns = piece.span.start_ns;
    }
    end_ns = std::max(end_ns, piece.span.end_ns);
  }
  add_to(sum, end_ns - from_ns);
  return sum;
}

}  // namespace traceloom
