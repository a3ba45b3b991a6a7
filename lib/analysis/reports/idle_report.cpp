#include "analysis/devices/device_work.h"
#include "analysis/numbers.h"
#include "analysis/reports/reports.h"
#include "base/arithmetic.h"
#include "output/json_writer.h"
#include "per_rank/per_rank.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

constexpr std::string_view kUnlinked = "(launch not recorded)";
constexpr std::string_view kOthers = "(others)";

// A sum of idle times, which each row and the totals have: first the kinds of gaps, then the short
// ones before work that had been launched, then HTA's kinds.
struct IdleSum {
  std::string_view key;
  std::string_view title;
  Readers readers;
};
constexpr std::array kIdleSums{
    IdleSum{"host_wait_ns", "Host wait", Readers::most},
    IdleSum{"turn_around_ns", "Turn-around", Readers::most},
    IdleSum{"queued_ns", "Queued", Readers::most},
    IdleSum{"blocked_ns", "Blocked", Readers::most},
    IdleSum{"not_recorded_ns", "Not recorded", Readers::most},
    IdleSum{"kernel_wait_ns", "Kernel wait", Readers::some},
    IdleSum{"hta_host_wait_ns", "HTA host", Readers::programs},
    IdleSum{"hta_kernel_wait_ns", "HTA kernel", Readers::programs},
    IdleSum{"hta_other_ns", "HTA other", Readers::programs},
};
constexpr std::size_t kKernelWait = kGapKindCount;
constexpr std::size_t kHta = kKernelWait + 1;
static_assert(kIdleSums.size() == kHta + kHtaGapCount);

// The idle times of one stream, or of one device.
struct IdleTimes {
  std::int64_t total_ns = 0;
  std::int64_t idle_ns = 0;
  std::array<std::int64_t, kIdleSums.size()> sums{};
  // The lengths of gaps. Each process makes these statistics of its own ranks, since there are
  // millions of gaps.
  TimeStats gaps = {};

  void add(const IdleTimes& other) {
    add_to(total_ns, other.total_ns);
    add_to(idle_ns, other.idle_ns);
    for (std::size_t i = 0; i < sums.size(); ++i) add_to(sums[i], other.sums[i]);
  }
};

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
};

IdleTimes times_of(std::int64_t total_ns, const std::vector<DeviceGap>& gaps,
                   const GapKinds& kinds) {
  IdleTimes times;
  times.total_ns = total_ns;
  std::vector<std::int64_t> lengths;
  lengths.reserve(gaps.size());
  std::vector<GapPart> parts;
  for (const DeviceGap& gap : gaps) {
    add_to(times.idle_ns, gap.length_ns());
    add_to(times.sums[kHta + static_cast<std::size_t>(gap.kind)], gap.length_ns());
    lengths.push_back(gap.length_ns());
    kinds.find_parts(gap, parts);
    for (const GapPart& part : parts) {
      add_to(times.sums[static_cast<std::size_t>(part.kind)], length_ns(part.time));
      if (part.is_kernel_wait) add_to(times.sums[kKernelWait], length_ns(part.time));
    }
  }
  times.gaps = time_stats(lengths);
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
    for (const HostPart& part : host.parts_of(piece.track, piece.time)) {
      const bool nothing = part.op.empty() && part.call.empty();
      add_to(parts[{piece.kind, std::string(nothing ? kNothingRecorded : part.op),
                    std::string(part.call)}],
             length_ns(part.time));
    }
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
  std::vector<std::vector<GapPart>> gaps;
  for (const auto& [device, list] : work.devices()) {
    const std::vector<DeviceGap> of_device =
        find_gaps(list, options.kernel_gap_ns, rank.unrecorded);
    found.devices.emplace_back(device,
                               times_of(worked_ns(list, rank.unrecorded), of_device, kinds));
    for (const DeviceGap& gap : of_device) kinds.find_parts(gap, gaps.emplace_back());
  }
  std::set<std::uint32_t> tracks;
  for (const std::vector<GapPart>& gap : gaps)
    for (const GapPart& part : gap)
      if (part.track != kNoTrack) tracks.insert(part.track);
  const HostTimeline host(run, rank, tracks);
  for (const std::vector<GapPart>& gap : gaps) add_hosts(found.hosts, host, gap);
  return found;
}

struct IdleRow {
  std::int64_t rank = 0;
  StreamKey key;
  const IdleTimes& times;

  Cell if_any(std::int64_t ns) const { return cell_if(times.gaps.count > 0, ns); }
};

ColumnsOf<IdleRow> columns_for(bool by_stream) {
  using enum ColumnKind;
  using enum Readers;
  using Row = IdleRow;
  ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"device", "GPU", count, [](auto& of) { return of.key.device; }},
      {"stream", "Stream", count, by_stream,
       [](auto& of) { return cell_if(of.key.stream >= 0, of.key.stream); }},
      {"total_ns", "Total", duration, [](auto& of) { return of.times.total_ns; }},
      {"idle_ns", "Idle", duration, [](auto& of) { return of.times.idle_ns; }},
      {"idle_share", "Idle %", share,
       [](auto& of) { return share_cell(of.times.idle_ns, of.times.total_ns); }},
  };
  for (std::size_t i = 0; i < kIdleSums.size(); ++i)
    columns.push_back({kIdleSums[i].key, kIdleSums[i].title, duration, kIdleSums[i].readers,
                       [i](auto& of) { return of.times.sums[i]; }});
  const ColumnsOf<Row> gaps{
      {"gaps", "Gaps", count, some, [](auto& of) { return of.times.gaps.count; }},
      {"gap_p50_ns", "Med gap", duration, few,
       [](auto& of) { return of.if_any(of.times.gaps.p50_ns); }},
      {"gap_p99_ns", "P99 gap", duration, few,
       [](auto& of) { return of.if_any(of.times.gaps.p99_ns); }},
      {"gap_max_ns", "Max gap", duration, some,
       [](auto& of) { return of.if_any(of.times.gaps.max_ns); }},
  };
  columns.insert(columns.end(), gaps.begin(), gaps.end());
  return columns;
}

// The activity of the host in some gaps.
struct HostShare {
  std::string_view gap;
  std::int64_t idle_ns = 0;
  std::optional<std::int64_t> gaps;
  std::string_view call;
  std::string_view op;
};

Table hosts_table(const HostSums& sums, std::int64_t idle_ns, std::size_t most) {
  std::vector<HostShare> rows;
  for (const auto& [key, sum] : sums)
    rows.push_back({gap_kind_name(std::get<GapKind>(key)), sum.idle_ns, sum.gaps, std::get<2>(key),
                    std::get<1>(key)});
  std::ranges::stable_sort(rows, std::greater(), &HostShare::idle_ns);
  // The number of gaps is not known for the rest: one gap may have several of these keys.
  HostShare rest;
  rest.op = kOthers;
  for (std::size_t i = most; i < rows.size(); ++i) add_to(rest.idle_ns, rows[i].idle_ns);
  rows.resize(std::min(rows.size(), most));
  if (rest.idle_ns > 0) rows.push_back(rest);
  using enum ColumnKind;
  using Row = HostShare;
  const ColumnsOf<Row> columns{
      {"gap", "Gap", text, text_of(&Row::gap)},
      {"idle_ns", "Idle", duration, &Row::idle_ns},
      {"share", "Idle %", share, [=](auto& of) { return ratio(of.idle_ns, idle_ns); }},
      {"gaps", "Gaps", count, &Row::gaps},
      {"call", "In call", text, text_of(&Row::call)},
      {"op", "Host op", text, text_of(&Row::op)},
  };
  return make_table(rows, columns);
}

struct Totals {
  IdleTimes times;
  std::uint64_t pieces = 0;
  std::uint64_t unlinked = 0;
  bool inferred = true;  // true if it holds for all ranks
};

std::string totals_json(const Totals& totals) {
  return json_object([&](JsonWriter& json) {
    json.member("total_ns", totals.times.total_ns);
    json.member("idle_ns", totals.times.idle_ns);
    for (std::size_t i = 0; i < kIdleSums.size(); ++i)
      json.member(kIdleSums[i].key, totals.times.sums[i]);
    json.member("device_work", totals.pieces);
    json.member("unlinked_work", totals.unlinked);
  });
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
    report.notes.push_back(unlinked_text(totals.unlinked, totals.pieces) +
                           (totals.inferred ? ": gaps before them count as host wait"
                                            : ": why there are gaps before them was not recorded"));
  const std::int64_t idle_ns = totals.times.idle_ns;
  if (idle_ns <= 0) return;
  const auto percent = [&](GapKind kind) {
    return ratio(totals.times.sums[static_cast<std::size_t>(kind)], idle_ns) * 100;
  };
  report.headline.push_back(
      fmt::format("devices are idle {:.1f} % of their time: {:.1f} % of that is host wait, {:.1f} "
                  "% turn-around, "
                  "{:.1f} % queued, {:.1f} % blocked, {:.1f} % not recorded",
                  ratio(idle_ns, totals.times.total_ns) * 100, percent(GapKind::host_wait),
                  percent(GapKind::turn_around), percent(GapKind::queued),
                  percent(GapKind::blocked), percent(GapKind::not_recorded)));
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
  const ColumnsOf<IdleRow> device_columns = columns_for(false);
  const ColumnsOf<IdleRow> stream_columns = columns_for(true);
  Table devices = empty_table(device_columns);
  Table streams = empty_table(stream_columns);
  HostSums hosts;
  Totals totals;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::int64_t rank = run.ranks[i].rank;
    for (const auto& [device, times] : ranks[i].devices)
      add_row(devices, device_columns, {rank, {device, -1}, times});
    for (const auto& [key, times] : ranks[i].streams)
      add_row(streams, stream_columns, {rank, key, times});
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
