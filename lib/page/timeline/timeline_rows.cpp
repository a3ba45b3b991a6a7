#include "base/arithmetic.h"
#include "base/units.h"
#include "page/timeline/timeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

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
  std::ranges::stable_sort(order, std::greater(), [&](std::uint32_t track) {
    const ThreadSpans& thread = threads.at(track);
    return std::tuple(thread.steps > 0, thread.without_python(), thread.spans);
  });
  const auto spans = [&](std::size_t place) { return threads.at(order[place]).without_python(); };
  if (order.size() > 1) order.resize(5 * spans(1) < spans(0) ? 1 : 2);
  return order;
}

// The longer one comes first. Total, so that the order does not depend on the number of threads.
bool is_before(const TimelineSlice& a, const TimelineSlice& b) {
  return std::tuple(a.start_ns, b.end_ns, a.label) < std::tuple(b.start_ns, a.end_ns, b.label);
}

void set_depths(std::vector<TimelineSlice>& slices) {
  std::vector<std::int64_t> ends;
  for (TimelineSlice& slice : slices) {
    while (!ends.empty() && ends.back() <= slice.start_ns) ends.pop_back();
    slice.depth = static_cast<std::uint8_t>(std::min<std::size_t>(ends.size(), kMostDepth));
    ends.push_back(slice.end_ns);
  }
}

// `is_wanted` takes a role and a span.
template <typename IsWanted>
RankRow host_row(const Run& run, const RankEvents& rank, std::string label, IsWanted is_wanted) {
  RankRow row{std::move(label), true};
  for_each_role_span(
      run, rank,
      [&](Role role, const HostSpan& span) {
        if (is_wanted(role, span))
          row.slices.push_back({span.start_ns, span.end_ns, span.label, 0, role});
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

constexpr auto kBegin = &TimelineSlice::start_ns;
constexpr std::size_t kMostStreamRows = 4;
// Streams that are compared with those before them: a million would take as many comparisons each.
constexpr std::ptrdiff_t kMostPlaced = 64;

// Both are sorted by begin.
bool overlap(const std::vector<TimelineSlice>& some, const std::vector<TimelineSlice>& others) {
  std::int64_t some_end = 0;
  std::int64_t others_end = 0;
  auto other = others.begin();
  for (const TimelineSlice& slice : some) {
    for (; other != others.end() && other->start_ns < slice.start_ns; ++other) {
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
    if (!std::ranges::is_sorted(list, {}, kBegin)) std::ranges::stable_sort(list, {}, kBegin);
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
      std::ranges::inplace_merge(row->slices, row->slices.begin() + middle, {}, kBegin);
  }
  for (StreamRow& row : rows)
    if (row.is_crowded) std::ranges::stable_sort(row.slices, {}, kBegin);
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
  // The communication of gloo and MPI, on whichever threads it runs.
  if (std::ranges::none_of(rows, communicates)) {
    rows.push_back(
        host_row(run, rank, fmt::format("rank {} comm", rank.rank),
                 [](Role role, const HostSpan&) { return role == Role::communication; }));
    rows.back().is_copy = true;
  }
  const std::size_t devices = rows.size();
  const Threads threads = find_threads(run, rank);
  for (const std::uint32_t track : shown_threads(threads)) {
    const bool has_python = threads.at(track).without_python() == 0;
    rows.push_back(host_row(
        run, rank, fmt::format("rank {} {}", rank.rank, rows.size() == devices ? "host" : "host 2"),
        [&](Role role, const HostSpan& span) {
          return span.track == track && (role != Role::host_code || has_python);
        }));
  }
  std::erase_if(rows, [](const RankRow& row) { return row.slices.empty(); });
  for (RankRow& row : rows) {
    // Files mostly have them in this order.
    if (!std::ranges::is_sorted(row.slices, is_before)) std::ranges::sort(row.slices, is_before);
    if (row.is_host) set_depths(row.slices);
  }
  return rows;
}

}  // namespace traceloom
