#include "analysis/devices/device_work.h"
#include "analysis/reports/reports.h"
#include "per_rank/per_rank.h"
#include "run/event_columns.h"
#include "run/steps.h"
#include "table/columns.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace traceloom {
namespace {

// The events of a device by role, and the measurements of its use.
struct DeviceEvents {
  ByEnum<Role, Intervals> sets;
  Interval span;  // from the first to the last event, including those without length
  std::vector<std::pair<Interval, double>> blocks;  // kernels with their blocks per SM
  double occupied_ns = 0;                           // sum of occupancy times duration
  double measured_ns = 0;                           // duration of kernels with an occupancy

  Intervals united(std::initializer_list<Role> roles) const {
    Intervals all;
    for (const Role role : roles) all.insert(all.end(), sets[role].begin(), sets[role].end());
    return unite(std::move(all));
  }
};

using Devices = std::map<std::int32_t, DeviceEvents>;

// Returns the time from the first step to the last of each recording, for the utilization. Steps
// that do not count divide it.
Intervals steps_windows(const RankEvents& rank) {
  Intervals windows;
  bool is_divided = true;
  for (const Step& step : rank.steps.list) {
    is_divided |= !step.counted;
    if (!step.counted) continue;
    const Interval between{windows.empty() ? 0 : windows.back().to_ns, step.time.from_ns};
    if (is_divided || holds_any(rank.unrecorded, between)) windows.push_back(step.time);
    windows.back().to_ns = step.time.to_ns;
    is_divided = false;
  }
  return unite(std::move(windows));
}

void add_details(DeviceEvents& events, std::string_view details, const Interval& time,
                 const Intervals& windows) {
  // A kernel lies in only one recording.
  const Intervals parts = intersect({time}, windows);
  if (parts.empty()) return;
  const Interval& inside = parts.front();
  const auto length = static_cast<double>(inside.to_ns - inside.from_ns);
  if (const std::optional<double> blocks = find_number(details, "blocks per SM"))
    events.blocks.emplace_back(inside, *blocks);
  if (const std::optional<double> percent = find_number(details, "est. achieved occupancy %")) {
    events.occupied_ns += *percent / 100 * length;
    events.measured_ns += length;
  }
}

Devices gather_devices(const Run& run, const RankEvents& rank) {
  Devices devices;
  const Intervals windows = steps_windows(rank);
  rank.for_each_device([&](const DeviceSpan& span) {
    const Role role = run.labels.kind(span.label).role;
    const auto [device, is_new] = devices.try_emplace(span.device);
    DeviceEvents& events = device->second;
    if (is_new) events.span = span.interval();
    events.span.from_ns = std::min(events.span.from_ns, span.start_ns);
    events.span.to_ns = std::max(events.span.to_ns, span.end_ns);
    events.sets[role].push_back(span.interval());
    if (span.detail != kNoDetail && (role == Role::kernel || role == Role::communication))
      add_details(events, run.details[span.detail], span.interval(), windows);
  });
  return devices;
}

// Returns the time integral of min(1, sum of blocks per SM of the running kernels).
double efficient_ns(const std::vector<std::pair<Interval, double>>& blocks) {
  std::vector<std::pair<std::int64_t, double>> changes;
  for (const auto& [time, count] : blocks) {
    changes.emplace_back(time.from_ns, count);
    changes.emplace_back(time.to_ns, -count);
  }
  std::sort(changes.begin(), changes.end());
  double sum = 0;
  double running = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i > 0)
      sum += std::clamp(running, 0.0, 1.0) *
             static_cast<double>(changes[i].first - changes[i - 1].first);
    running += changes[i].second;
  }
  return sum;
}

void set_utilization(DeviceTimes& times, const DeviceEvents& events, const Intervals& windows) {
  if (windows.empty()) return;
  const auto length = static_cast<double>(total_ns(windows));
  const Intervals kernels = events.united({Role::kernel, Role::communication});
  times.utilization = static_cast<double>(total_ns(intersect(kernels, windows))) / length;
  if (!events.blocks.empty()) times.sm_efficiency = efficient_ns(events.blocks) / length;
  if (events.measured_ns > 0) times.occupancy = events.occupied_ns / events.measured_ns;
}

// Returns the time without a recording: from the end of the work in one recording to the begin of
// the work in the next.
std::int64_t between_recordings(const Intervals& busy, const Intervals& unrecorded) {
  std::int64_t sum = 0;
  for (std::size_t i = 1; i < busy.size() && !unrecorded.empty(); ++i)
    if (const Interval gap{busy[i - 1].to_ns, busy[i].from_ns}; holds_any(unrecorded, gap))
      add_to(sum, length_ns(gap));
  return sum;
}

// The work of a device by HTA's types: kernels compute or communicate, copies and memset are
// memory.
constexpr std::array<std::string_view, 3> kTypes{"computation", "communication", "memory"};
using TypeSets = std::array<Intervals, kTypes.size()>;

// Returns the instants at which exactly the types of `mask` run.
Intervals only(const TypeSets& sets, std::size_t mask) {
  Intervals instants;
  bool any = false;
  for (std::size_t type = 0; type < sets.size(); ++type) {
    if ((mask >> type & 1U) == 0) continue;
    instants = any ? intersect(instants, sets[type]) : sets[type];
    any = true;
  }
  for (std::size_t type = 0; type < sets.size(); ++type)
    if ((mask >> type & 1U) == 0) instants = subtract(instants, sets[type]);
  return instants;
}

std::string name_of(std::size_t mask) {
  std::string name;
  for (std::size_t type = 0; type < kTypes.size(); ++type)
    if ((mask >> type & 1U) != 0) {
      if (!name.empty()) name += " overlapping ";
      name += kTypes[type];
    }
  return name;
}

// The time of each mask of types.
using MaskTimes = std::array<std::int64_t, std::size_t{1} << kTypes.size()>;

// Every instant of a device with any work belongs to one mask.
void add_types(const DeviceEvents& events, MaskTimes& times) {
  const TypeSets sets{events.united({Role::kernel}), events.united({Role::communication}),
                      events.united({Role::memcpy, Role::memset, Role::runtime, Role::dataloader,
                                     Role::cpu, Role::host_code, Role::other})};
  for (std::size_t mask = 1; mask < times.size(); ++mask)
    add_to(times[mask], total_ns(only(sets, mask)));
}

DeviceTimes times_of(const DeviceEvents& events, const RankEvents& rank) {
  DeviceTimes times;
  const Intervals kernels = events.united({Role::kernel});
  const Intervals compute = events.united({Role::kernel, Role::memset});
  const Intervals comm = events.united({Role::communication});
  const Intervals memcpy = events.united({Role::memcpy});
  const Intervals busy =
      events.united({Role::kernel, Role::memset, Role::communication, Role::memcpy});
  times.total_ns =
      events.span.to_ns - events.span.from_ns - between_recordings(busy, rank.unrecorded);
  times.compute_ns = total_ns(compute);
  times.exposed_comm_ns = total_ns(subtract(comm, compute));
  times.exposed_memcpy_ns = total_ns(subtract(subtract(memcpy, compute), comm));
  times.idle_ns = times.total_ns - total_ns(busy);
  times.kernel_ns = total_ns(kernels);
  times.comm_ns = total_ns(comm);
  times.memcpy_ns = total_ns(memcpy);
  times.overlap_ns = total_ns(intersect(comm, kernels));
  set_utilization(times, events, steps_windows(rank));
  return times;
}

Table devices_table(const std::vector<DeviceTimes>& devices) {
  using enum ColumnKind;
  using enum Readers;
  using Row = DeviceTimes;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"device", "GPU", count, &Row::device},
      {"total_ns", "Total", duration, &Row::total_ns},
      {"compute_ns", "Compute", duration, &Row::compute_ns},
      {"exposed_comm_ns", "Exp. comm", duration, &Row::exposed_comm_ns},
      {"exposed_memcpy_ns", "Exp. memcpy", duration, most, &Row::exposed_memcpy_ns},
      {"idle_ns", "Idle", duration, &Row::idle_ns},
      {"busy_ns", "Busy", duration, few, &Row::busy_ns},
      {"kernel_ns", "Kernels", duration, few, &Row::kernel_ns},
      {"non_compute_ns", "Non-compute", duration, few,
       [](auto& of) { return of.busy_ns() - of.kernel_ns; }},
      {"comm_ns", "Comm", duration, some, &Row::comm_ns},
      {"memcpy_ns", "Memcpy", duration, few, &Row::memcpy_ns},
      {"overlap_share", "Overlap", share, some, share_of(&Row::overlap_ns, &Row::comm_ns)},
      {"compute_share", "Compute %", share, some, share_of(&Row::compute_ns, &Row::total_ns)},
      {"idle_share", "Idle %", share, most, share_of(&Row::idle_ns, &Row::total_ns)},
      {"utilization", "Util.", share, some, &Row::utilization},
      {"sm_efficiency", "SM eff.", share, few, &Row::sm_efficiency},
      {"occupancy", "Occup.", share, few, &Row::occupancy},
  };
  return make_table(devices, columns);
}

// Has a row for each mask that occurs, the longest first: "computation", "computation overlapping
// communication" and so on.
Table types_table(const MaskTimes& sums) {
  std::int64_t all_ns = 0;
  for (const std::int64_t ns : sums) add_to(all_ns, ns);
  using enum ColumnKind;
  using Row = std::size_t;
  const ColumnsOf<Row> columns{
      {"type", "Type", text, &name_of},
      {"total_ns", "Total", duration, [&](Row mask) { return sums[mask]; }},
      {"share", "Share", share, [&](Row mask) { return share_cell(sums[mask], all_ns); }},
  };
  Table table = empty_table(columns);
  for (std::size_t mask = 1; mask < sums.size(); ++mask)
    if (sums[mask] > 0) add_row(table, columns, mask);
  table.sort_by("total_ns");
  return table;
}

// The devices of a rank, and the types of their work.
struct RankDevices {
  std::vector<DeviceTimes> devices;
  MaskTimes types{};
};

RankDevices measure_rank(const Run& run, const RankEvents& rank) {
  RankDevices found;
  for (const auto& [device, events] : gather_devices(run, rank)) {
    DeviceTimes& times = found.devices.emplace_back(times_of(events, rank));
    times.rank = rank.rank;
    times.device = device;
    add_types(events, found.types);
  }
  return found;
}

RankDevices measure_ranks(const Run& run) {
  RankDevices all;
  for_each_rank<RankDevices>(
      run, all_ranks(run), [&](std::size_t rank) { return measure_rank(run, run.ranks[rank]); },
      [&](std::size_t, const RankDevices& found) {
        all.devices.insert(all.devices.end(), found.devices.begin(), found.devices.end());
        for (std::size_t mask = 1; mask < all.types.size(); ++mask)
          add_to(all.types[mask], found.types[mask]);
      });
  return all;
}

const RankDevices& measure_all(const Run& run) {
  return run.memo.get<RankDevices>([&] { return measure_ranks(run); });
}

}  // namespace

std::vector<DeviceTimes> device_times(const Run& run) {
  return measure_all(run).devices;
}

Report gpu_report(const Run& run) {
  Report report("gpu", run);
  const RankDevices& found = measure_all(run);
  Table table = devices_table(found.devices);
  if (table.rows().empty()) note_no_devices(run, report, "no devices to show");
  report.tables.push_back({"rows", "", std::move(table)});
  report.tables.push_back({"types", "By type of work", types_table(found.types)});
  append_phases(run, report);
  return report;
}

}  // namespace traceloom
