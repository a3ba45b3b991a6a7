#include "page/timeline/stream_rows.h"

#include "base/saturating.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace traceloom {
namespace {

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

// Takes the slices. Each stream has the first row in which it overlaps nothing; the busiest come
// first.
std::vector<StreamRow> rows_of(std::map<StreamKey, std::vector<TimelineSlice>>& slices) {
  std::vector<Stream> streams;
  for (auto& [key, list] : slices) {
    std::stable_sort(list.begin(), list.end(), begins_before);
    Stream stream{key, std::move(list)};
    for (const TimelineSlice& slice : stream.slices)
      add_to(stream.busy_ns, slice.end_ns - slice.start_ns);
    streams.push_back(std::move(stream));
  }
  std::stable_sort(streams.begin(), streams.end(),
                   [](const Stream& a, const Stream& b) { return a.busy_ns > b.busy_ns; });
  std::vector<StreamRow> rows;
  for (Stream& stream : streams) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](const StreamRow& one) {
      return !one.is_crowded && !overlap(one.slices, stream.slices);
    });
    if (row == rows.end() && rows.size() < kMostStreamRows) row = rows.emplace(rows.end());
    if (row == rows.end()) {
      row = rows.end() - 1;
      row->is_crowded = true;
    }
    row->streams.push_back(stream.key);
    const auto middle = static_cast<std::ptrdiff_t>(row->slices.size());
    row->slices.insert(row->slices.end(), stream.slices.begin(), stream.slices.end());
    std::inplace_merge(row->slices.begin(), row->slices.begin() + middle, row->slices.end(),
                       begins_before);
  }
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
  return fmt::format("stream{} {}{}", row.streams.size() == 1 ? "" : "s", fmt::join(names, ", "),
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
    rows.push_back({std::move(label), false, std::move(row.slices)});
  }
}

}  // namespace

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

}  // namespace traceloom
