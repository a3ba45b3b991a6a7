#include "analysis/devices/device_work.h"

#include "analysis/work/work_names.h"
#include "base/arithmetic.h"
#include "base/ascii.h"
#include "run/impossible_work.h"
#include "run/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

namespace traceloom {
namespace {

std::int64_t launched_at(const WorkPiece& piece) {
  return piece.call == nullptr ? std::numeric_limits<std::int64_t>::max() : piece.call->start_ns;
}

bool is_before(const WorkPiece& a, const WorkPiece& b) {
  if (a.span.start_ns != b.span.start_ns) return a.span.start_ns < b.span.start_ns;
  if (launched_at(a) != launched_at(b)) return launched_at(a) < launched_at(b);
  return a.span.end_ns < b.span.end_ns;
}

// Sorts indices and not the pieces, which are large.
void sort_by_time(WorkList& work) {
  if (std::is_sorted(work.begin(), work.end(), is_before)) return;
  std::vector<std::pair<std::int64_t, std::uint32_t>> places;
  places.reserve(work.size());
  for (const WorkPiece& piece : work)
    places.emplace_back(piece.span.start_ns, static_cast<std::uint32_t>(places.size()));
  std::sort(places.begin(), places.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    if (is_before(work[a.second], work[b.second])) return true;
    return !is_before(work[b.second], work[a.second]) && a.second < b.second;
  });
  WorkList sorted;
  sorted.reserve(work.size());
  for (const auto& [start_ns, place] : places) sorted.push_back(work[place]);
  work = std::move(sorted);
}

}  // namespace

std::map<std::int32_t, WorkList> DeviceWork::devices() const {
  std::map<std::int32_t, WorkList> all;
  for (const auto& [stream, work] : streams) {
    WorkList& of_device = all[stream.device];
    of_device.insert(of_device.end(), work.begin(), work.end());
  }
  for (auto& [device, work] : all) sort_by_time(work);
  return all;
}

WorkList all_work(const RankEvents& rank) {
  WorkList work;
  const Launches launches(rank.own_parts());
  for (const EventColumns& part : rank.own_parts())
    for (const DeviceSpan& span : part.devices) work.push_back({span, launches.find(part, span)});
  sort_by_time(work);
  return work;
}

DeviceWork find_device_work(const RankEvents& rank) {
  DeviceWork found;
  const Launches launches(rank.own_parts());
  for (const EventColumns& part : rank.own_parts())
    for (const DeviceSpan& span : part.devices) {
      const CallSpan* const call = launches.find(part, span);
      found.streams[{span.device, span.stream}].push_back({span, call});
      ++found.pieces;
      if (call == nullptr) ++found.unlinked;
    }
  for (auto& [stream, work] : found.streams) sort_by_time(work);
  return found;
}

std::vector<DeviceGap> find_gaps(const WorkList& work, std::int64_t kernel_gap_ns,
                                 const Intervals& unrecorded) {
  std::vector<DeviceGap> gaps;
  if (work.empty()) return gaps;
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::max();
  std::vector<const WorkPiece*> last;  // the earlier work that ends then: none ends later
  for (const WorkPiece& piece : work) {
    if (piece.span.start_ns > end_ns && !holds_any(unrecorded, {end_ns, piece.span.start_ns})) {
      DeviceGap gap{{end_ns, piece.span.start_ns}, HtaGap::other, piece.call, piece.span.label};
      if (piece.call != nullptr && piece.call->start_ns > end_ns)
        gap.kind = HtaGap::host_wait;
      else if (gap.length_ns() < kernel_gap_ns)
        gap.kind = HtaGap::kernel_wait;
      for (const WorkPiece* const before : last) {
        gap.is_in_stream |=
            before->span.device == piece.span.device && before->span.stream == piece.span.stream;
        gap.is_of_launch |= before->call != nullptr && before->call == piece.call;
      }
      gaps.push_back(gap);
    }
    if (last.empty() || piece.span.end_ns > end_ns) {
      end_ns = piece.span.end_ns;
      last.clear();
    }
    if (piece.span.end_ns == end_ns) last.push_back(&piece);
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

std::vector<Launch> find_launches(const WorkList& work) {
  std::vector<Launch> launches;
  std::unordered_map<const CallSpan*, std::size_t> known;
  launches.reserve(work.size());
  known.reserve(work.size());
  for (const WorkPiece& piece : work) {
    if (piece.call == nullptr) continue;
    const auto [entry, is_new] = known.emplace(piece.call, launches.size());
    if (is_new) launches.push_back({piece.call, piece.span.start_ns});
    Launch& launch = launches[entry->second];
    add_to(launch.device_ns, piece.span.end_ns - piece.span.start_ns);
    ++launch.pieces;
  }
  return launches;
}

std::vector<QueueChange> find_queue(const std::vector<Launch>& launches) {
  std::vector<QueueChange> changes;
  changes.reserve(2 * launches.size());
  for (const Launch& launch : launches) {
    changes.push_back({std::min(launch.call->start_ns, launch.start_ns), 1});
    changes.push_back({launch.start_ns, -1});
  }
  std::sort(changes.begin(), changes.end(), [](const QueueChange& a, const QueueChange& b) {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.length > b.length;
  });
  std::int64_t length = 0;
  for (QueueChange& change : changes) {
    length += change.length;
    change.length = length;
  }
  return changes;
}

namespace {

// HTA's limit for outliers: a call that only launches takes some microseconds.
constexpr std::int64_t kLongerThanLaunch = 50'000;

struct CallRow {
  std::string_view part;  // part of the name, in lower case
  std::int64_t least_ns;
};

// The runtimes and drivers of CUDA, HIP, Level Zero, Unified Runtime, MUSA and Ascend.
constexpr CallRow kCalls[] = {
    {"synchronize", 0},             // cudaDeviceSynchronize, hipStreamSynchronize, aclrt...
    {"queuefinish", 0},             // urQueueFinish
    {"ureventwait", 0},             //
    {"pieventswait", 0},            //
    {"memcpy", kLongerThanLaunch},  // cudaMemcpyAsync, hipMemcpyWithStream, urEnqueueUSMMemcpy
};

// Parts of the names of calls that wait for all streams of a device, in lower case.
constexpr std::string_view kDeviceCalls[] = {"devicesynchronize", "ctxsynchronize",
                                             "synchronizedevice"};

// Parts of the names of calls that copy and fill, in lower case.
constexpr std::string_view kMemoryCalls[] = {"memcpy", "memset"};

constexpr std::string_view kOperators[] = {"aten::item", "aten::_local_scalar_dense"};

}  // namespace

std::int64_t least_blocking_ns(std::string_view call) {
  const std::string lower = to_lower(call);
  const auto* const found =
      std::find_if(std::begin(kCalls), std::end(kCalls),
                   [&](const CallRow& row) { return lower.find(row.part) != std::string::npos; });
  return found == std::end(kCalls) ? std::numeric_limits<std::int64_t>::max() : found->least_ns;
}

bool waits_for_device(std::string_view call) {
  return has_any(kDeviceCalls, to_lower(call));
}

bool is_launching(std::string_view call) {
  return launches_kernels(call) || has_any(kMemoryCalls, to_lower(call));
}

bool is_reading_operator(std::string_view op) {
  return std::find(std::begin(kOperators), std::end(kOperators), op) != std::end(kOperators);
}

std::string unlinked_text(std::uint64_t unlinked, std::uint64_t pieces, std::string_view where) {
  return fmt::format("the launch of {} of {} pieces of device work{} is not in these traces",
                     unlinked, pieces, where);
}

}  // namespace traceloom
