#include "base/arithmetic.h"
#include "base/units.h"
#include "page/timeline/timeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
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
  RankRow row{std::move(label), true};
  for_each_role_span(
      run, rank,
      [&](Role role, const HostSpan& span) {
        if (span.track == track && (role != Role::host_code || thread.without_python() == 0))
          row.slices.push_back(slice_of(span, role));
      },
      [](Role, const DeviceSpan&) {});
  return row;
}

// The communication of gloo and MPI, on whichever threads it runs.
RankRow host_communication(const Run& run, const RankEvents& rank) {
  RankRow row{fmt::format("rank {} comm", rank.rank), true, true};
  for_each_role_span(
      run, rank,
      [&](Role role, const HostSpan& span) {
        if (role == Role::communication) row.slices.push_back(slice_of(span, role));
      },
      [](Role, const DeviceSpan&) {});
  return row;
}

// A device and its stream; work without a stream is one stream.
using StreamKey = std::pair<std::int32_t, std::int32_t>;

struct Stream {
  StreamKey key;
  std::vector<TimelineSlice> slices;  // by begin
  std::int64_t busy_ns = 0;
};

struct StreamRow {
  std::vector<StreamKey> streams;
  std::vector<TimelineSlice> slices;
  bool is_crowded = false;  // its streams overlap
};

bool begins_before(const TimelineSlice& a, const TimelineSlice& b) {
  return a.start_ns < b.start_ns;
}

constexpr std::size_t kMostStreamRows = 4;
// Streams that are compared with those before them: a million would take as many comparisons each.
constexpr std::ptrdiff_t kMostPlaced = 64;

// Both are sorted by begin.
bool overlap(const std::vector<TimelineSlice>& some, const std::vector<TimelineSlice>& others) {
  std::int64_t some_end = 0;
  std::int64_t others_end = 0;
  auto other = others.begin();
  for (const TimelineSlice& slice : some) {
    for (; other != others.end() && begins_before(*other, slice); ++other) {
      if (other->start_ns < some_end) return true;
      others_end = std::max(others_end, other->end_ns);
    }
    if (slice.start_ns < others_end) return true;
    some_end = std::max(some_end, slice.end_ns);
  }
  return other != others.end() && other->start_ns < some_end;
}

// Takes the slices. Each of the busiest streams has the first row in which it overlaps nothing; the
// last row has all others.
std::vector<StreamRow> rows_of(std::map<StreamKey, std::vector<TimelineSlice>>& slices) {
  std::vector<Stream> streams;
  for (auto& [key, list] : slices) {
    if (!std::ranges::is_sorted(list, begins_before)) std::ranges::stable_sort(list, begins_before);
    Stream stream{key, std::move(list)};
    for (const TimelineSlice& slice : stream.slices)
      add_to(stream.busy_ns, slice.end_ns - slice.start_ns);
    streams.push_back(std::move(stream));
  }
  std::ranges::stable_sort(streams, std::greater(), &Stream::busy_ns);
  std::vector<StreamRow> rows;
  for (Stream& stream : streams) {
    const bool is_placed = &stream < streams.data() + kMostPlaced;
    auto row = is_placed
                   ? std::find_if(rows.begin(), rows.end(),
                                  [&](const StreamRow& one) {
                                    return !one.is_crowded && !overlap(one.slices, stream.slices);
                                  })
                   : rows.end();
    if (row == rows.end() && rows.size() < kMostStreamRows) row = rows.emplace(rows.end());
    if (row == rows.end() || !is_placed) {
      row = rows.end() - 1;
      row->is_crowded = true;
    }
    row->streams.push_back(stream.key);
    const auto middle = static_cast<std::ptrdiff_t>(row->slices.size());
    row->slices.insert(row->slices.end(), stream.slices.begin(), stream.slices.end());
    if (!row->is_crowded)
      std::inplace_merge(row->slices.begin(), row->slices.begin() + middle, row->slices.end(),
                         begins_before);
  }
  for (StreamRow& row : rows)
    if (row.is_crowded) std::stable_sort(row.slices.begin(), row.slices.end(), begins_before);
  return rows;
}

// Returns "stream 7", "streams 7, 13", "GPU 1 stream 7" if there are several devices.
std::string name_of(const StreamRow& row, bool has_devices) {
  if (row.is_crowded) return "other streams";
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> names;
  for (const auto& [device, stream] : row.streams) {
    const std::string name = stream == kNoId ? "?" : std::to_string(stream);
    names.push_back(has_devices ? fmt::format("{}:{}", device, name) : name);
  }
  const bool is_cut = names.size() > kMostNamed;
  if (is_cut) names.resize(kMostNamed);
  return fmt::format("{} {}{}", plural(row.streams.size(), "stream"), fmt::join(names, ", "),
                     is_cut ? ", ..." : "");
}

void append_rows(const RankEvents& rank, std::string_view what,
                 std::map<StreamKey, std::vector<TimelineSlice>>& slices,
                 std::vector<RankRow>& rows) {
  std::set<std::int32_t> devices;
  for (const auto& [key, list] : slices) devices.insert(key.first);
  std::vector<StreamRow> streams = rows_of(slices);
  for (StreamRow& row : streams) {
    std::string label = fmt::format("rank {} {}", rank.rank, what);
    if (streams.size() > 1) {
      const std::string name = name_of(row, devices.size() > 1);
      label = what == "comm" ? fmt::format("rank {} comm {}", rank.rank, name)
                             : fmt::format("rank {} {}", rank.rank, name);
    }
    rows.push_back({std::move(label), false, false, std::move(row.slices)});
  }
}

// Computation comes first, then communication.
std::vector<RankRow> find_stream_rows(const Run& run, const RankEvents& rank) {
  std::map<StreamKey, std::vector<TimelineSlice>> compute;
  std::map<StreamKey, std::vector<TimelineSlice>> communication;
  for_each_role_span(
      run, rank, [](Role, const HostSpan&) {},
      [&](Role role, const DeviceSpan& span) {
        auto& streams = role == Role::communication ? communication : compute;
        streams[{span.device, span.stream}].push_back(
            {span.start_ns, span.end_ns, span.label, 0, role});
      });
  std::vector<RankRow> rows;
  append_rows(rank, "devices", compute, rows);
  append_rows(rank, "comm", communication, rows);
  return rows;
}

}  // namespace

std::vector<RankRow> find_rank_rows(const Run& run, const RankEvents& rank) {
  std::vector<RankRow> rows = find_stream_rows(run, rank);
  const auto communicates = [](const RankRow& row) {
    return !row.slices.empty() && row.slices.front().role == Role::communication;
  };
  if (std::ranges::none_of(rows, communicates)) rows.push_back(host_communication(run, rank));
  const std::size_t devices = rows.size();
  const Threads threads = find_threads(run, rank);
  for (const std::uint32_t track : shown_threads(threads))
    rows.push_back(
        host_row(run, rank, track, threads.at(track),
                 fmt::format("rank {} {}", rank.rank, rows.size() == devices ? "host" : "host 2")));
  std::erase_if(rows, [](const RankRow& row) { return row.slices.empty(); });
  for (RankRow& row : rows) {
    // Files mostly have them in this order.
    if (!std::ranges::is_sorted(row.slices, is_before)) std::ranges::sort(row.slices, is_before);
    if (row.is_host) set_depths(row.slices);
  }
  return rows;
}

}  // namespace traceloom
