#include "analysis/devices/device_work.h"
#include "analysis/numbers.h"
#include "analysis/reports/reports.h"
#include "base/arithmetic.h"
#include "per_rank/per_rank.h"
#include "run/event_columns.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

// Splits "Memcpy HtoD (Pageable -> Device)" into "Memcpy HtoD" and "Pageable -> Device".
std::pair<std::string_view, std::string_view> split_name(std::string_view name) {
  const std::size_t open = name.find(" (");
  if (open == std::string_view::npos || !name.ends_with(')')) return {name, {}};
  return {name.substr(0, open), name.substr(open + 2, name.size() - open - 3)};
}

using CopyRowKey = std::tuple<std::int64_t, std::int32_t, std::string_view, std::string_view>;
using DeviceOfRank = std::pair<std::int64_t, std::int32_t>;

struct RowSums {
  std::vector<std::int64_t> times;
  std::vector<double> gbps;
  std::optional<std::int64_t> bytes;  // bytes of the transfers that give them
  double measured_bytes = 0;          // bytes of the transfers whose bandwidth is known
  double measured_ns = 0;
  std::map<DeviceOfRank, Intervals> sets;
};

void add(RowSums& sums, const Transfer& transfer) {
  const std::int64_t ns = transfer.time.to_ns - transfer.time.from_ns;
  sums.times.push_back(ns);
  sums.sets[{transfer.rank, transfer.device}].push_back(transfer.time);
  if (transfer.bytes) sums.bytes = saturating_add(sums.bytes.value_or(0), *transfer.bytes);
  if (!transfer.gbps) return;
  sums.gbps.push_back(*transfer.gbps);
  if (!transfer.bytes || *transfer.gbps <= 0) return;
  sums.measured_bytes += static_cast<double>(*transfer.bytes);
  sums.measured_ns += static_cast<double>(*transfer.bytes) / *transfer.gbps;
}

// Returns the times at which each device computes or communicates.
std::map<DeviceOfRank, Intervals> find_work(const Run& run) {
  using Work = std::map<DeviceOfRank, Intervals>;
  const auto find = [&](std::size_t i) {
    Work work;
    const RankEvents& rank = run.ranks[i];
    rank.for_each_device([&](const DeviceSpan& span) {
      const Role role = run.labels.kind(span.label).role;
      if (role == Role::kernel || role == Role::communication)
        work[{rank.rank, span.device}].push_back(span.interval());
    });
    for (auto& [device, set] : work) set = unite(std::move(set));
    return work;
  };
  Work all;
  for_each_rank<Work>(run, all_ranks(run), find, [&](std::size_t, Work work) { all.merge(work); });
  return all;
}

std::int64_t exposed_ns(const RowSums& sums, const std::map<DeviceOfRank, Intervals>& work) {
  std::int64_t exposed = 0;
  for (const auto& [device, set] : sums.sets) {
    const auto others = work.find(device);
    const Intervals united = unite(set);
    add_to(exposed, total_ns(others == work.end() ? united : subtract(united, others->second)));
  }
  return exposed;
}

struct CopyRow {
  const CopyRowKey& key;
  const RowSums& sums;
  TimeStats times;
  std::int64_t exposed_ns = 0;

  Cell gbps_at(std::size_t percent) const {
    return sums.gbps.empty() ? Cell{} : Cell{percentile(sums.gbps, percent)};
  }
  Cell least_gbps() const {
    return sums.gbps.empty() ? Cell{} : Cell{*std::ranges::min_element(sums.gbps)};
  }
};

ColumnsOf<CopyRow> columns_for(const MemcpyOptions& by) {
  using enum ColumnKind;
  using enum Readers;
  using Row = CopyRow;
  return {
      {"rank", "Rank", count, by.by_rank, [](auto& of) { return std::get<0>(of.key); }},
      {"device", "GPU", count, by.by_device, [](auto& of) { return std::get<1>(of.key); }},
      {"total_ns", "Total", duration, path(&Row::times, &TimeStats::total_ns)},
      {"count", "Count", count, path(&Row::times, &TimeStats::count)},
      {"bytes", "Bytes", count, [](auto& of) { return of.sums.bytes; }},
      {"mean_ns", "Avg", duration, most, path(&Row::times, &TimeStats::mean_ns)},
      {"p50_ns", "Med", duration, few, path(&Row::times, &TimeStats::p50_ns)},
      {"max_ns", "Max", duration, some, path(&Row::times, &TimeStats::max_ns)},
      {"gbps", "GB/s", number,
       [](auto& of) {
         return cell_if(of.sums.measured_ns > 0, of.sums.measured_bytes / of.sums.measured_ns);
       }},
      {"gbps_min", "Min GB/s", number, few, &Row::least_gbps},
      {"gbps_p50", "Med GB/s", number, few, [](auto& of) { return of.gbps_at(50); }},
      {"gbps_p90", "P90 GB/s", number, few, [](auto& of) { return of.gbps_at(90); }},
      {"gbps_max", "Max GB/s", number, some, [](auto& of) { return of.gbps_at(100); }},
      {"exposed_ns", "Exposed", duration, most, &Row::exposed_ns},
      {"kind", "Kind", text, [](auto& of) { return std::get<2>(of.key); }},
      {"memory", "Memory", text, [](auto& of) { return text_or_nothing(std::get<3>(of.key)); }},
  };
}

// CUDA gives the direction in the name, MTIA in the args.
void add_details(Transfer& transfer, std::string_view details) {
  transfer.bytes = find_integer(details, "bytes");
  if (!transfer.bytes) transfer.bytes = find_integer(details, "size");
  if (transfer.memory.empty()) transfer.memory = find_detail(details, "direction");
  if (transfer.bytes && *transfer.bytes < 0) transfer.bytes = std::nullopt;
  transfer.gbps = find_number(details, "memory bandwidth (GB/s)");
  // std::from_chars accepts "inf" and "nan" as numbers.
  if (transfer.gbps && !(std::isfinite(*transfer.gbps) && *transfer.gbps >= 0))
    transfer.gbps = std::nullopt;
  const std::int64_t ns = transfer.time.to_ns - transfer.time.from_ns;
  if (!transfer.gbps && transfer.bytes && ns > 0)
    transfer.gbps = static_cast<double>(*transfer.bytes) / static_cast<double>(ns);
}

void add_notes(Report& report, const Run& run, const std::vector<Transfer>& transfers) {
  if (!has_devices(run))
    note_no_devices(run, report, "no copies to show");
  else if (transfers.empty())
    report.notes.emplace_back("the devices in these traces copy and fill nothing");
  const auto silent = std::count_if(transfers.begin(), transfers.end(),
                                    [](const Transfer& transfer) { return !transfer.bytes; });
  if (silent > 0)
    report.notes.push_back(fmt::format(
        "{} of {} transfers do not say how many bytes: they have a time and no bandwidth", silent,
        transfers.size()));
}

}  // namespace

std::vector<Transfer> find_transfers(const Run& run) {
  using Transfers = std::vector<Transfer>;
  const auto find = [&](std::size_t i) {
    Transfers transfers;
    const RankEvents& rank = run.ranks[i];
    rank.for_each_device([&](const DeviceSpan& span) {
      const Role role = run.labels.kind(span.label).role;
      if (role != Role::memcpy && role != Role::memset) return;
      const auto [kind, memory] = split_name(run.labels.name(span.label));
      Transfer& transfer = transfers.emplace_back();
      transfer.kind = kind;
      transfer.memory = memory;
      transfer.rank = rank.rank;
      transfer.device = span.device;
      transfer.time = span.interval();
      if (span.detail != kNoDetail) add_details(transfer, run.details[span.detail]);
    });
    return transfers;
  };
  Transfers all;
  for_each_rank<Transfers>(run, all_ranks(run), find, [&](std::size_t, const Transfers& found) {
    all.insert(all.end(), found.begin(), found.end());
  });
  return all;
}

Report memcpy_report(const Run& run, const MemcpyOptions& options) {
  const std::vector<Transfer> transfers = find_transfers(run);
  std::map<CopyRowKey, RowSums> rows;
  for (const Transfer& transfer : transfers)
    add(rows[{options.by_rank ? transfer.rank : 0, options.by_device ? transfer.device : 0,
              transfer.kind, transfer.memory}],
        transfer);
  const std::map<DeviceOfRank, Intervals> work = find_work(run);
  const ColumnsOf<CopyRow> columns = columns_for(options);
  Table table = empty_table(columns);
  for (const auto& [key, sums] : rows)
    add_row(table, columns, {key, sums, time_stats(sums.times), exposed_ns(sums, work)});
  table.sort_by("total_ns");
  Report report("memcpy", run);
  report.tables.push_back({"rows", "", std::move(table)});
  add_notes(report, run, transfers);
  return report;
}

}  // namespace traceloom
