#include "page/timeline/rank_rows.h"

#include "page/timeline/stream_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace traceloom {
namespace {

TimelineSlice slice_of(const HostSpan& span, Role role) {
  return {span.start_ns, span.end_ns, span.label, 0, role};
}

bool is_step_mark(SpanMark mark) {
  return mark == SpanMark::step || mark == SpanMark::batch || mark == SpanMark::train_batch ||
         is_iteration(mark);
}

struct ThreadSpans {
  std::uint64_t steps = 0;
  std::uint64_t spans = 0;
  std::uint64_t python = 0;  // functions of Python among them

  std::uint64_t without_python() const { return spans - python; }
};
using Threads = std::map<std::uint32_t, ThreadSpans>;  // by the number in Tracks

Threads find_threads(const Run& run, const RankEvents& rank) {
  Threads threads;
  for_each_role_span(
      run, rank,
      [&](Role role, const HostSpan& span) {
        ThreadSpans& thread = threads[span.track];
        ++thread.spans;
        if (role == Role::host_code) ++thread.python;
      },
      [](Role, const DeviceSpan&) {});
  rank.for_each_mark([&](const MarkedSpan& span) {
    const auto thread = threads.find(span.track);
    if (thread != threads.end() && is_step_mark(span.mark)) ++thread->second.steps;
  });
  return threads;
}

// The threads that are shown, the main one first.
std::vector<std::uint32_t> shown_threads(const Threads& threads) {
  std::vector<std::uint32_t> order;
  order.reserve(threads.size());
  for (const auto& [track, thread] : threads) order.push_back(track);
  const auto is_busier = [&](std::uint32_t a, std::uint32_t b) {
    const ThreadSpans& left = threads.at(a);
    const ThreadSpans& right = threads.at(b);
    if (left.without_python() != right.without_python())
      return left.without_python() > right.without_python();
    return left.spans > right.spans;
  };
  std::stable_sort(order.begin(), order.end(), is_busier);
  std::stable_partition(order.begin(), order.end(),
                        [&](std::uint32_t track) { return threads.at(track).steps > 0; });
  const auto is_quiet = [&](std::uint32_t track) {
    return 5 * threads.at(track).without_python() < threads.at(order.front()).without_python();
  };
  std::size_t shown = std::min<std::size_t>(order.size(), 2);
  if (shown == 2 && is_quiet(order[1])) shown = 1;
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(shown), order.end());
  return order;
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

RankRow host_row(const Run& run, const RankEvents& rank, std::uint32_t track,
                 const ThreadSpans& thread, std::string label) {
  RankRow row{std::move(label), true, {}};
  for_each_role_span(
      run, rank,
      [&](Role role, const HostSpan& span) {
        if (span.track == track && (role != Role::host_code || thread.without_python() == 0))
          row.slices.push_back(slice_of(span, role));
      },
      [](Role, const DeviceSpan&) {});
  return row;
}

}  // namespace

std::vector<RankRow> find_rank_rows(const Run& run, const RankEvents& rank) {
  std::vector<RankRow> rows = find_stream_rows(run, rank);
  const std::size_t devices = rows.size();
  const Threads threads = find_threads(run, rank);
  for (const std::uint32_t track : shown_threads(threads))
    rows.push_back(
        host_row(run, rank, track, threads.at(track),
                 fmt::format("rank {} {}", rank.rank, rows.size() == devices ? "host" : "host 2")));
  std::erase_if(rows, [](const RankRow& row) { return row.slices.empty(); });
  for (RankRow& row : rows) {
    std::sort(row.slices.begin(), row.slices.end(), is_before);
    if (row.is_host) set_depths(row.slices);
  }
  return rows;
}

}  // namespace traceloom
