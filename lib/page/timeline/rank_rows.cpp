#include "page/timeline/rank_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace traceloom {
namespace {

TimelineSlice slice_of(const HostSpan& span, Role role) {
  return {span.start_ns, span.end_ns, span.label, 0, role};
}

// The thread with the most spans. Its number in Tracks decides between equals.
std::uint32_t main_track(const std::map<std::uint32_t, std::uint64_t>& counts) {
  std::uint32_t best = 0;
  std::uint64_t most = 0;
  for (const auto& [track, count] : counts)
    if (count > most) {
      best = track;
      most = count;
    }
  return best;
}

// Total, so that the order does not depend on the number of threads.
bool is_before(const TimelineSlice& a, const TimelineSlice& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
  return a.label < b.label;
}

void set_depths(std::vector<TimelineSlice>& slices) {
  std::vector<std::int64_t> ends;
  for (TimelineSlice& slice : slices) {
    while (!ends.empty() && ends.back() <= slice.start_ns) ends.pop_back();
    slice.depth = static_cast<std::uint8_t>(std::min<std::size_t>(ends.size(), kMostDepth));
    ends.push_back(slice.end_ns);
  }
}

}  // namespace

std::vector<RankRow> find_rank_rows(const Run& run, const RankEvents& rank) {
  std::map<std::uint32_t, std::uint64_t> counts;
  std::vector<RankRow> rows(3);
  rows[0].label = fmt::format("rank {} devices", rank.rank);
  rows[1].label = fmt::format("rank {} comm", rank.rank);
  rows[2].label = fmt::format("rank {} host", rank.rank);
  for_each_role_span(
      run, rank, [&](Role, const HostSpan& span) { ++counts[span.track]; },
      [&](Role role, const DeviceSpan& span) {
        rows[role == Role::communication ? 1 : 0].slices.push_back(slice_of(span, role));
      });
  if (!counts.empty()) {
    const std::uint32_t track = main_track(counts);
    for_each_role_span(
        run, rank,
        [&](Role role, const HostSpan& span) {
          if (span.track == track) rows[2].slices.push_back(slice_of(span, role));
        },
        [](Role, const DeviceSpan&) {});
  }
  std::erase_if(rows, [](const RankRow& row) { return row.slices.empty(); });
  for (RankRow& row : rows) std::sort(row.slices.begin(), row.slices.end(), is_before);
  for (RankRow& row : rows) {
    const bool is_host = row.label.ends_with("host");
    if (is_host) set_depths(row.slices);
  }
  return rows;
}

}  // namespace traceloom
