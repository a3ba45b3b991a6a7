#include "analysis/reports/launch_report.h"

#include "analysis/devices/device_facts.h"
#include "analysis/devices/device_work.h"
#include "analysis/devices/gap_kinds.h"
#include "analysis/numbers.h"
#include "base/arithmetic.h"
#include "per_rank/per_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

constexpr std::string_view kNoOp = "(nothing recorded)";

// The sums over some launches.
struct CallSums {
  std::int64_t launches = 0;
  std::int64_t work = 0;
  std::int64_t call_ns = 0;
  std::int64_t device_ns = 0;
  std::int64_t delay_ns = 0;
  std::int64_t delay_max_ns = 0;
  std::int64_t slow = 0;
  std::int64_t late = 0;
  std::int64_t short_ones = 0;

  void add(const Launch& launch) {
    ++launches;
    work += launch.pieces;
    add_to(call_ns, launch.call_ns());
    add_to(device_ns, launch.device_ns);
    add_to(delay_ns, launch.delay_ns());
    delay_max_ns = std::max(delay_max_ns, launch.delay_ns());
    slow += launch.call_ns() > kSlowCallNs ? 1 : 0;
    late += launch.delay_ns() > kLateWorkNs ? 1 : 0;
    short_ones += launch.is_short() ? 1 : 0;
  }
  void add(const CallSums& other) {
    launches += other.launches;
    work += other.work;
    add_to(call_ns, other.call_ns);
    add_to(device_ns, other.device_ns);
    add_to(delay_ns, other.delay_ns);
    delay_max_ns = std::max(delay_max_ns, other.delay_max_ns);
    slow += other.slow;
    late += other.late;
    short_ones += other.short_ones;
  }
};
using NamedSums = std::map<std::string, CallSums, std::less<>>;

// The launches of one kind of call, with the lengths of the calls.
struct KindOfCall {
  CallSums sums;
  std::vector<std::int64_t> lengths;

  // For other processes: see team/wire.h.
  auto wired() { return std::tie(sums, lengths); }
};
using NamedCalls = std::map<std::string, KindOfCall, std::less<>>;

constexpr std::array<std::size_t, 4> kPercents{50, 90, 99, 100};

// DelayNumbers say how long launches wait, and QueueNumbers how many wait at a time. Each process
// makes these of its own ranks, since there are millions of launches.
struct DelayNumbers {
  std::int64_t mean_ns = 0;
  std::array<std::int64_t, kPercents.size()> percentiles_ns{};
};
struct QueueNumbers {
  double mean = 0;
  std::array<std::int64_t, kPercents.size()> percentiles{};
  std::optional<double> empty_share;
  std::int64_t full_ns = 0;
};

// The launches of a stream.
struct StreamLaunches {
  StreamKey key;
  std::uint64_t work = 0;
  CallSums sums;
  DelayNumbers delays;                // without launches 0
  std::optional<QueueNumbers> queue;  // absent without launches
};

struct RankLaunches {
  std::vector<StreamLaunches> streams;
  NamedCalls calls;
  NamedSums ops;
  std::uint64_t pieces = 0;
  std::uint64_t unlinked = 0;

  // For other processes: see team/wire.h.
  auto wired() { return std::tie(streams, calls, ops, pieces, unlinked); }
};

double ratio(std::int64_t part, std::int64_t all) {
  return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

DelayNumbers find_delays(const std::vector<Launch>& launches) {
  DelayNumbers found;
  if (launches.empty()) return found;
  std::vector<std::int64_t> delays;
  delays.reserve(launches.size());
  for (const Launch& launch : launches) delays.push_back(launch.delay_ns());
  found.mean_ns = mean(delays);
  for (std::size_t i = 0; i < kPercents.size(); ++i)
    found.percentiles_ns[i] = percentile(delays, kPercents[i]);
  return found;
}

std::optional<QueueNumbers> find_queue_numbers(const std::vector<Launch>& launches) {
  const std::vector<QueueChange> queue = find_queue(launches);
  if (queue.empty()) return std::nullopt;
  std::vector<std::int64_t> lengths;
  std::int64_t sum = 0;
  std::int64_t empty_ns = 0;
  QueueNumbers found;
  lengths.reserve(queue.size());
  for (std::size_t i = 0; i < queue.size(); ++i) {
    lengths.push_back(queue[i].length);
    sum += queue[i].length;
    if (i + 1 == queue.size()) break;
    const std::int64_t ns = queue[i + 1].at_ns - queue[i].at_ns;
    if (queue[i].length == 0) add_to(empty_ns, ns);
    if (queue[i].length >= kFullQueue) add_to(found.full_ns, ns);
  }
  const std::int64_t all_ns = queue.back().at_ns - queue.front().at_ns;
  found.mean = ratio(sum, static_cast<std::int64_t>(queue.size()));
  for (std::size_t i = 0; i < kPercents.size(); ++i)
    found.percentiles[i] = percentile(lengths, kPercents[i]);
  if (all_ns > 0) found.empty_share = ratio(empty_ns, all_ns);
  return found;
}

StreamLaunches sum_stream(const StreamKey& key, std::size_t work,
                          const std::vector<Launch>& launches) {
  StreamLaunches stream{key, work, {}, find_delays(launches), find_queue_numbers(launches)};
  for (const Launch& launch : launches) stream.sums.add(launch);
  return stream;
}

RankLaunches gather_launches(const Run& run, const RankEvents& rank) {
  RankLaunches found;
  const DeviceWork work = find_device_work(rank);
  found.pieces = work.pieces;
  found.unlinked = work.unlinked;
  std::set<std::uint32_t> tracks;
  std::vector<Launch> launches;
  for (const auto& [key, list] : work.streams) {
    const std::vector<Launch> of_stream = find_launches(list);
    found.streams.push_back(sum_stream(key, list.size(), of_stream));
    launches.insert(launches.end(), of_stream.begin(), of_stream.end());
  }
  for (const Launch& launch : launches) tracks.insert(launch.call->track);
  const HostTimeline host(run, rank, tracks);
  for (const Launch& launch : launches) {
    KindOfCall& kind = found.calls[std::string(run.labels.name(launch.call->label))];
    kind.sums.add(launch);
    kind.lengths.push_back(launch.call_ns());
    const std::string_view op = host.op_around(*launch.call);
    found.ops[std::string(op.empty() ? kNoOp : op)].add(launch);
  }
  return found;
}

std::vector<Cell> stream_cells(std::int64_t rank, const StreamKey& key) {
  std::vector<Cell> cells{rank, std::int64_t{key.device}};
  if (key.stream < 0)
    cells.emplace_back();
  else
    cells.emplace_back(std::int64_t{key.stream});
  return cells;
}

std::vector<Column> stream_columns(std::initializer_list<Column> more) {
  std::vector<Column> columns{{"rank", "Rank", ColumnKind::count},
                              {"device", "GPU", ColumnKind::count},
                              {"stream", "Stream", ColumnKind::count}};
  columns.insert(columns.end(), more);
  return columns;
}

Table delays_table() {
  return Table(stream_columns({{"work", "Work", ColumnKind::count, Readers::few},
                               {"launches", "Launches", ColumnKind::count},
                               {"delay_mean_ns", "Avg delay", ColumnKind::duration, Readers::most},
                               {"delay_p50_ns", "Med", ColumnKind::duration},
                               {"delay_p90_ns", "P90", ColumnKind::duration, Readers::few},
                               {"delay_p99_ns", "P99", ColumnKind::duration, Readers::some},
                               {"delay_max_ns", "Max", ColumnKind::duration, Readers::most},
                               {"late_share", "Late %", ColumnKind::share, Readers::most},
                               {"short_share", "Short %", ColumnKind::share, Readers::some}}));
}

void add_delays(Table& table, std::int64_t rank, const StreamLaunches& stream) {
  std::vector<Cell> cells = stream_cells(rank, stream.key);
  const CallSums& sums = stream.sums;
  const auto if_any = [&](const Cell& cell) { return sums.launches == 0 ? Cell{} : cell; };
  cells.emplace_back(static_cast<std::int64_t>(stream.work));
  cells.emplace_back(sums.launches);
  cells.push_back(if_any(stream.delays.mean_ns));
  for (const std::int64_t ns : stream.delays.percentiles_ns) cells.push_back(if_any(ns));
  cells.push_back(if_any(ratio(sums.late, sums.launches)));
  cells.push_back(if_any(ratio(sums.short_ones, sums.launches)));
  table.add_row(std::move(cells));
}

Table queues_table() {
  return Table(stream_columns({{"queue_mean", "Avg queue", ColumnKind::number},
                               {"queue_p50", "Med", ColumnKind::count},
                               {"queue_p90", "P90", ColumnKind::count},
                               {"queue_p99", "P99", ColumnKind::count},
                               {"queue_max", "Max", ColumnKind::count},
                               {"empty_share", "Empty %", ColumnKind::share},
                               {"full_ns", "Full", ColumnKind::duration}}));
}

void add_queue(Table& table, std::int64_t rank, const StreamLaunches& stream) {
  if (!stream.queue) return;
  std::vector<Cell> cells = stream_cells(rank, stream.key);
  cells.emplace_back(stream.queue->mean);
  for (const std::int64_t length : stream.queue->percentiles) cells.emplace_back(length);
  cells.push_back(stream.queue->empty_share ? Cell{*stream.queue->empty_share} : Cell{});
  cells.emplace_back(stream.queue->full_ns);
  table.add_row(std::move(cells));
}

// Sorts by the result of `key`, the largest first.
template <typename Named, typename Key>
std::vector<std::pair<std::string, typename Named::mapped_type>> sorted_by(const Named& sums,
                                                                           Key key) {
  std::vector<std::pair<std::string, typename Named::mapped_type>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto& a, const auto& b) { return key(a.second) > key(b.second); });
  return sorted;
}

Table calls_table(const NamedCalls& calls) {
  Table table({{"launches", "Launches", ColumnKind::count},
               {"work", "Work", ColumnKind::count, Readers::few},
               {"call_ns", "In call", ColumnKind::duration},
               {"call_p50_ns", "Med", ColumnKind::duration, Readers::most},
               {"call_p99_ns", "P99", ColumnKind::duration, Readers::some},
               {"slow_calls", "Slow", ColumnKind::count, Readers::some},
               {"device_ns", "On GPU", ColumnKind::duration, Readers::most},
               {"delay_ns", "Delay", ColumnKind::duration, Readers::most},
               {"delay_max_ns", "Max delay", ColumnKind::duration, Readers::few},
               {"late", "Late", ColumnKind::count, Readers::some},
               {"short", "Short", ColumnKind::count, Readers::few},
               {"call", "Call", ColumnKind::text}});
  for (const auto& [name, kind] :
       sorted_by(calls, [](const KindOfCall& of) { return of.sums.launches; })) {
    const CallSums& sums = kind.sums;
    table.add_row({sums.launches, sums.work, sums.call_ns, percentile(kind.lengths, 50),
                   percentile(kind.lengths, 99), sums.slow, sums.device_ns, sums.delay_ns,
                   sums.delay_max_ns, sums.late, sums.short_ones, name});
  }
  return table;
}

Table ops_table(const NamedSums& ops, std::size_t most) {
  Table table({{"short", "Short", ColumnKind::count},
               {"launches", "Launches", ColumnKind::count},
               {"short_share", "Short %", ColumnKind::share},
               {"call_ns", "In calls", ColumnKind::duration},
               {"device_ns", "On GPU", ColumnKind::duration},
               {"op", "Host op", ColumnKind::text}});
  for (const auto& [name, sums] : sorted_by(ops, [](const CallSums& of) { return of.short_ones; }))
    table.add_row({sums.short_ones, sums.launches, ratio(sums.short_ones, sums.launches),
                   sums.call_ns, sums.device_ns, name});
  table.cut_to(most);
  return table;
}

void add_notes(const Run& run, Report& report, std::uint64_t pieces, std::uint64_t unlinked) {
  if (pieces == 0)
    note_no_devices(run, report, "no launches to show");
  else if (unlinked == pieces)
    report.notes.emplace_back(
        "no device work names a call that launched it (correlation): no delays and no queues");
  else if (unlinked > 0)
    report.notes.push_back(
        fmt::format("the launch of {} of {} pieces of device work is not in these traces: they are "
                    "in no delay and in no queue",
                    unlinked, pieces));
}

}  // namespace

Report launch_report(const Run& run, const LaunchOptions& options) {
  const std::vector<RankLaunches> ranks = per_rank<RankLaunches>(
      run, [&](std::size_t rank) { return gather_launches(run, run.ranks[rank]); });
  Table delays = delays_table();
  Table queues = queues_table();
  NamedCalls calls;
  NamedSums ops;
  std::uint64_t pieces = 0;
  std::uint64_t unlinked = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const StreamLaunches& stream : ranks[i].streams) {
      add_delays(delays, run.ranks[i].rank, stream);
      add_queue(queues, run.ranks[i].rank, stream);
    }
    for (const auto& [name, kind] : ranks[i].calls) {
      calls[name].sums.add(kind.sums);
      std::vector<std::int64_t>& lengths = calls[name].lengths;
      lengths.insert(lengths.end(), kind.lengths.begin(), kind.lengths.end());
    }
    for (const auto& [name, sums] : ranks[i].ops) ops[name].add(sums);
    pieces += ranks[i].pieces;
    unlinked += ranks[i].unlinked;
  }
  Report report("launch", run);
  report.tables.push_back({"rows", "", std::move(delays)});
  report.tables.push_back({"queues", "Launched and not begun", std::move(queues)});
  report.tables.push_back({"calls", "By call", calls_table(calls)});
  report.tables.push_back({"ops", "Who launches short work", ops_table(ops, options.op_rows)});
  add_notes(run, report, pieces, unlinked);
  return report;
}

}  // namespace traceloom
