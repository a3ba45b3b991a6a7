#include "analysis/reports/idle_report.h"

#include "analysis/devices/device_facts.h"
#include "analysis/devices/gap_kinds.h"
#include "analysis/numbers.h"
#include "base/arithmetic.h"
#include "output/json_writer.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

constexpr std::string_view kNothing = "(nothing recorded)";
constexpr std::string_view kUnlinked = "(launch not recorded)";
constexpr std::string_view kOthers = "(others)";

constexpr std::array<std::size_t, 3> kGapPercents{50, 99, 100};

// The idle times of one stream, or of one device.
struct IdleTimes {
  std::int64_t total_ns = 0;
  std::int64_t idle_ns = 0;
  std::array<std::int64_t, kGapKindCount> kinds{};
  std::int64_t kernel_wait_ns = 0;  // part of the queued time
  std::array<std::int64_t, kHtaGapCount> hta{};
  // The number of gaps, and lengths at kGapPercents; 0 without gaps. Each process makes these of
  // its own ranks, since there are millions of gaps.
  std::size_t gaps = 0;
  std::array<std::int64_t, kGapPercents.size()> lengths{};

  void add(const IdleTimes& other) {
    add_to(total_ns, other.total_ns);
    add_to(idle_ns, other.idle_ns);
    for (std::size_t i = 0; i < kGapKindCount; ++i) add_to(kinds[i], other.kinds[i]);
    add_to(kernel_wait_ns, other.kernel_wait_ns);
    for (std::size_t i = 0; i < kHtaGapCount; ++i) add_to(hta[i], other.hta[i]);
  }

  // For other processes: see team/wire.h.
  auto wired() { return std::tie(total_ns, idle_ns, kinds, kernel_wait_ns, hta, gaps, lengths); }
};

// The keys of the sums, in the order of IdleTimes.
constexpr std::string_view kSumKeys[] = {"host_wait_ns",       "queued_ns",      "blocked_ns",
                                         "not_recorded_ns",    "kernel_wait_ns", "hta_host_wait_ns",
                                         "hta_kernel_wait_ns", "hta_other_ns"};

std::vector<std::int64_t> sums_of(const IdleTimes& times) {
  std::vector<std::int64_t> sums(times.kinds.begin(), times.kinds.end());
  sums.push_back(times.kernel_wait_ns);
  sums.insert(sums.end(), times.hta.begin(), times.hta.end());
  return sums;
}

// The activity of the host in gaps: kind, op and call.
using HostKey = std::tuple<GapKind, std::string, std::string>;
struct HostSum {
  std::int64_t idle_ns = 0;
  std::int64_t gaps = 0;
};
using HostSums = std::map<HostKey, HostSum>;

struct RankIdle {
  std::vector<std::pair<StreamKey, IdleTimes>> streams;
  std::vector<std::pair<std::int32_t, IdleTimes>> devices;
  HostSums hosts;
  std::uint64_t pieces = 0;
  std::uint64_t unlinked = 0;
  bool inferred = false;

  // For other processes: see team/wire.h.
  auto wired() { return std::tie(streams, devices, hosts, pieces, unlinked, inferred); }
};

IdleTimes times_of(std::int64_t total_ns, const std::vector<DeviceGap>& gaps,
                   const GapKinds& kinds) {
  IdleTimes times;
  times.total_ns = total_ns;
  std::vector<std::int64_t> lengths;
  lengths.reserve(gaps.size());
  for (const DeviceGap& gap : gaps) {
    add_to(times.idle_ns, gap.length_ns());
    add_to(times.hta[static_cast<std::size_t>(gap.kind)], gap.length_ns());
    lengths.push_back(gap.length_ns());
    for (const GapPart& part : kinds.parts_of(gap)) {
      add_to(times.kinds[static_cast<std::size_t>(part.kind)], length_ns(part.time));
      if (part.is_kernel_wait) add_to(times.kernel_wait_ns, length_ns(part.time));
    }
  }
  times.gaps = lengths.size();
  for (std::size_t i = 0; i < kGapPercents.size() && !lengths.empty(); ++i)
    times.lengths[i] = percentile(lengths, kGapPercents[i]);
  return times;
}

// Counts a gap once for each key, however often the host came back to it.
void add_hosts(HostSums& sums, const HostTimeline& host, const std::vector<GapPart>& gap) {
  std::map<HostKey, std::int64_t> parts;
  for (const GapPart& piece : gap) {
    if (piece.track == kNoTrack) {
      add_to(parts[{piece.kind, std::string(kUnlinked), ""}], length_ns(piece.time));
      continue;
    }
    host.for_each_part(piece.track, piece.time, [&](const HostPart& part) {
      const bool nothing = part.op.empty() && part.call.empty();
      add_to(parts[{piece.kind, std::string(nothing ? kNothing : part.op), std::string(part.call)}],
             part.time.to_ns - part.time.from_ns);
    });
  }
  for (const auto& [key, ns] : parts) {
    add_to(sums[key].idle_ns, ns);
    ++sums[key].gaps;
  }
}

RankIdle find_idle(const Run& run, const RankEvents& rank, const IdleOptions& options) {
  RankIdle found;
  const DeviceWork work = find_device_work(rank);
  found.pieces = work.pieces;
  found.unlinked = work.unlinked;
  WorkList all;
  for (const auto& [stream, list] : work.streams) all.insert(all.end(), list.begin(), list.end());
  const GapKinds kinds(run, rank, all, options.kernel_gap_ns);
  found.inferred = kinds.infers();
  for (const auto& [stream, list] : work.streams)
    found.streams.emplace_back(
        stream, times_of(worked_ns(list, rank.unrecorded),
                         find_gaps(list, options.kernel_gap_ns, rank.unrecorded), kinds));
  std::set<std::uint32_t> tracks;
  std::vector<std::vector<GapPart>> gaps;
  for (const auto& [device, list] : work.devices()) {
    const std::vector<DeviceGap> of_device =
        find_gaps(list, options.kernel_gap_ns, rank.unrecorded);
    found.devices.emplace_back(device,
                               times_of(worked_ns(list, rank.unrecorded), of_device, kinds));
    for (const DeviceGap& gap : of_device) gaps.push_back(kinds.parts_of(gap));
  }
  for (const std::vector<GapPart>& gap : gaps)
    for (const GapPart& part : gap)
      if (part.track != kNoTrack) tracks.insert(part.track);
  const HostTimeline host(run, rank, tracks);
  for (const std::vector<GapPart>& gap : gaps) add_hosts(found.hosts, host, gap);
  return found;
}

std::vector<Column> columns(bool by_stream) {
  std::vector<Column> columns{{"rank", "Rank", ColumnKind::count},
                              {"device", "GPU", ColumnKind::count}};
  if (by_stream) columns.push_back({"stream", "Stream", ColumnKind::count});
  const std::vector<Column> numbers{
      {"total_ns", "Total", ColumnKind::duration},
      {"idle_ns", "Idle", ColumnKind::duration},
      {"idle_share", "Idle %", ColumnKind::share},
      {"host_wait_ns", "Host wait", ColumnKind::duration, Readers::most},
      {"queued_ns", "Queued", ColumnKind::duration, Readers::most},
      {"blocked_ns", "Blocked", ColumnKind::duration, Readers::most},
      {"not_recorded_ns", "Not recorded", ColumnKind::duration, Readers::most},
      {"kernel_wait_ns", "Kernel wait", ColumnKind::duration, Readers::some},
      {"hta_host_wait_ns", "HTA host", ColumnKind::duration, Readers::programs},
      {"hta_kernel_wait_ns", "HTA kernel", ColumnKind::duration, Readers::programs},
      {"hta_other_ns", "HTA other", ColumnKind::duration, Readers::programs},
      {"gaps", "Gaps", ColumnKind::count, Readers::some},
      {"gap_p50_ns", "Med gap", ColumnKind::duration, Readers::few},
      {"gap_p99_ns", "P99 gap", ColumnKind::duration, Readers::few},
      {"gap_max_ns", "Max gap", ColumnKind::duration, Readers::some}};
  columns.insert(columns.end(), numbers.begin(), numbers.end());
  return columns;
}

double share_of(std::int64_t part_ns, std::int64_t all_ns) {
  return all_ns > 0 ? static_cast<double>(part_ns) / static_cast<double>(all_ns) : 0;
}

void append_cells(std::vector<Cell>& cells, const IdleTimes& times) {
  cells.emplace_back(times.total_ns);
  cells.emplace_back(times.idle_ns);
  cells.push_back(share_cell(times.idle_ns, times.total_ns));
  for (const std::int64_t ns : sums_of(times)) cells.emplace_back(ns);
  cells.emplace_back(static_cast<std::int64_t>(times.gaps));
  for (const std::int64_t ns : times.lengths) cells.push_back(times.gaps > 0 ? Cell{ns} : Cell{});
}

Cell name_or_nothing(const std::string& text) {
  return text.empty() ? Cell{} : Cell{text};
}

Table hosts_table(const HostSums& sums, std::int64_t idle_ns, std::size_t most) {
  std::vector<std::pair<HostKey, HostSum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.idle_ns > b.second.idle_ns;
  });
  Table table({{"gap", "Gap", ColumnKind::text},
               {"idle_ns", "Idle", ColumnKind::duration},
               {"share", "Idle %", ColumnKind::share},
               {"gaps", "Gaps", ColumnKind::count},
               {"call", "In call", ColumnKind::text},
               {"op", "Host op", ColumnKind::text}});
  HostSum rest;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [key, sum] = sorted[i];
    const auto& [kind, op, call] = key;
    if (i >= most) {
      add_to(rest.idle_ns, sum.idle_ns);
      continue;
    }
    table.add_row({std::string(gap_kind_name(kind)), sum.idle_ns, share_of(sum.idle_ns, idle_ns),
                   sum.gaps, name_or_nothing(call), name_or_nothing(op)});
  }
  // The number of gaps is not known for the rest: one gap may have several of these keys.
  if (rest.idle_ns > 0)
    table.add_row({name_or_nothing(""), rest.idle_ns, share_of(rest.idle_ns, idle_ns),
                   name_or_nothing(""), name_or_nothing(""), std::string(kOthers)});
  return table;
}

struct Totals {
  IdleTimes times;
  std::uint64_t pieces = 0;
  std::uint64_t unlinked = 0;
  bool inferred = true;  // true if it holds for all ranks
};

std::string totals_json(const Totals& totals) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("total_ns");
  json.value(totals.times.total_ns);
  json.key("idle_ns");
  json.value(totals.times.idle_ns);
  const std::vector<std::int64_t> sums = sums_of(totals.times);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    json.key(kSumKeys[i]);
    json.value(sums[i]);
  }
  json.key("device_work");
  json.value(totals.pieces);
  json.key("unlinked_work");
  json.value(totals.unlinked);
  json.end_object();
  return text;
}

void add_words(Report& report, const Run& run, const Totals& totals) {
  report.values.emplace_back("totals", totals_json(totals));
  if (totals.pieces == 0)
    note_no_devices(run, report, "no idle times to show");
  else
    for (const RankEvents& rank : run.ranks)
      if (!rank.has_devices())
        report.notes.push_back(fmt::format("rank {} has no device activity", rank.rank));
  if (totals.unlinked > 0)
    report.notes.push_back(
        fmt::format("the launch of {} of {} pieces of device work is not in these traces: {}",
                    totals.unlinked, totals.pieces,
                    totals.inferred ? "gaps before them count as host wait"
                                    : "why there are gaps before them was not recorded"));
  const std::int64_t idle_ns = totals.times.idle_ns;
  if (idle_ns <= 0) return;
  const auto percent = [](std::int64_t part, std::int64_t all) {
    return share_of(part, all) * 100;
  };
  report.headline.push_back(fmt::format(
      "devices are idle {:.1f} % of their time: {:.1f} % of that is host wait, {:.1f} % queued, "
      "{:.1f} % blocked, {:.1f} % not recorded",
      percent(idle_ns, totals.times.total_ns), percent(totals.times.kinds[0], idle_ns),
      percent(totals.times.kinds[1], idle_ns), percent(totals.times.kinds[2], idle_ns),
      percent(totals.times.kinds[3], idle_ns)));
}

std::vector<Cell> row_of(std::int64_t rank, const StreamKey& key, bool by_stream,
                         const IdleTimes& times) {
  std::vector<Cell> cells{rank, std::int64_t{key.device}};
  if (by_stream && key.stream < 0)
    cells.emplace_back();
  else if (by_stream)
    cells.emplace_back(std::int64_t{key.stream});
  append_cells(cells, times);
  return cells;
}

void add(Totals& totals, const RankIdle& idle) {
  for (const auto& [device, times] : idle.devices) totals.times.add(times);
  totals.inferred = totals.inferred && idle.inferred;
  totals.pieces += idle.pieces;
  totals.unlinked += idle.unlinked;
}

}  // namespace

Report idle_report(const Run& run, const IdleOptions& options) {
  const std::vector<RankIdle> ranks = per_rank<RankIdle>(
      run, [&](std::size_t rank) { return find_idle(run, run.ranks[rank], options); });
  Report report("idle", run);
  Table devices(columns(false));
  Table streams(columns(true));
  HostSums hosts;
  Totals totals;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::int64_t rank = run.ranks[i].rank;
    for (const auto& [device, times] : ranks[i].devices)
      devices.add_row(row_of(rank, {device, -1}, false, times));
    for (const auto& [key, times] : ranks[i].streams)
      streams.add_row(row_of(rank, key, true, times));
    for (const auto& [key, sum] : ranks[i].hosts) {
      add_to(hosts[key].idle_ns, sum.idle_ns);
      hosts[key].gaps += sum.gaps;
    }
    add(totals, ranks[i]);
  }
  add_words(report, run, totals);
  report.tables.push_back({"rows", "", std::move(devices)});
  report.tables.push_back({"streams", "By stream", std::move(streams)});
  report.tables.push_back({"hosts", "What the host did in gaps of whole devices",
                           hosts_table(hosts, totals.times.idle_ns, options.host_rows)});
  return report;
}

}  // namespace traceloom
