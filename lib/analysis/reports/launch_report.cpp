#include "analysis/devices/device_work.h"
#include "analysis/numbers.h"
#include "analysis/reports/reports.h"
#include "base/arithmetic.h"
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

// The sums over some launches.
struct CallSums {
  std::int64_t launches = 0;
  std::int64_t work = 0;
  std::int64_t call_ns = 0;  // 0 if the calls have no length: those of Ascend are an instant
  std::int64_t device_ns = 0;
  std::int64_t delay_ns = 0;
  std::int64_t delay_max_ns = 0;
  std::int64_t slow = 0;
  std::int64_t late = 0;
  std::int64_t short_ones = 0;

  auto sums() {
    return std::tie(launches, work, call_ns, device_ns, delay_ns, slow, late, short_ones);
  }
  Cell if_timed(std::int64_t value) const { return cell_if(call_ns > 0, value); }
  Cell short_share() const { return call_ns > 0 ? share_cell(short_ones, launches) : Cell{}; }
  void add(CallSums other) {
    add_sums(sums(), other.sums());
    delay_max_ns = std::max(delay_max_ns, other.delay_max_ns);
  }
};
using NamedSums = std::map<std::string, CallSums, std::less<>>;

CallSums sums_of(const Launch& launch) {
  return {.launches = 1,
          .work = launch.pieces,
          .call_ns = launch.call_ns(),
          .device_ns = launch.device_ns,
          .delay_ns = launch.delay_ns(),
          .delay_max_ns = launch.delay_ns(),
          .slow = launch.call_ns() > kSlowCallNs ? 1 : 0,
          .late = launch.delay_ns() > kLateWorkNs ? 1 : 0,
          .short_ones = launch.is_short() ? 1 : 0};
}

// The launches of one kind of call, with the lengths of the calls.
struct KindOfCall {
  CallSums sums;
  std::vector<std::int64_t> lengths;
};
using NamedCalls = std::map<std::string, KindOfCall, std::less<>>;

constexpr std::array<std::size_t, 4> kPercents{50, 90, 99, 100};

// How many launches wait at a time. Each process makes these numbers, and those of delays, of its
// own ranks, since there are millions of launches.
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
  TimeStats delays;                   // how long launches wait
  std::optional<QueueNumbers> queue;  // absent without launches
};

struct RankLaunches {
  std::vector<StreamLaunches> streams;
  NamedCalls calls;
  NamedSums ops;
  std::uint64_t pieces = 0;
  std::uint64_t unlinked = 0;
};

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
  StreamLaunches stream{key, work, {}, {}, find_queue_numbers(launches)};
  std::vector<std::int64_t> delays;
  delays.reserve(launches.size());
  for (const Launch& launch : launches) {
    stream.sums.add(sums_of(launch));
    delays.push_back(launch.delay_ns());
  }
  stream.delays = time_stats(delays);
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
    kind.sums.add(sums_of(launch));
    kind.lengths.push_back(launch.call_ns());
    const std::string_view op = host.op_around(*launch.call);
    found.ops[std::string(op.empty() ? kNothingRecorded : op)].add(sums_of(launch));
  }
  return found;
}

// A stream of a rank; the first columns of two tables.
struct StreamRow {
  std::int64_t rank = 0;
  const StreamLaunches& of;

  // Returns an empty cell without launches.
  Cell if_any(std::int64_t ns) const { return cell_if(of.sums.launches > 0, ns); }
};

ColumnsOf<StreamRow> stream_columns(std::initializer_list<ColumnOf<StreamRow>> more) {
  using enum ColumnKind;
  using Row = StreamRow;
  ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"device", "GPU", count, [](auto& row) { return row.of.key.device; }},
      {"stream", "Stream", count,
       [](auto& row) { return cell_if(row.of.key.stream >= 0, row.of.key.stream); }},
  };
  columns.insert(columns.end(), more);
  return columns;
}

ColumnsOf<StreamRow> delay_columns() {
  using enum ColumnKind;
  using enum Readers;
  return stream_columns({
      {"work", "Work", count, few, [](auto& row) { return row.of.work; }},
      {"launches", "Launches", count, [](auto& row) { return row.of.sums.launches; }},
      {"delay_mean_ns", "Avg delay", duration, most,
       [](auto& row) { return row.if_any(row.of.delays.mean_ns); }},
      {"delay_p50_ns", "Med", duration, [](auto& row) { return row.if_any(row.of.delays.p50_ns); }},
      {"delay_p90_ns", "P90", duration, few,
       [](auto& row) { return row.if_any(row.of.delays.p90_ns); }},
      {"delay_p99_ns", "P99", duration, some,
       [](auto& row) { return row.if_any(row.of.delays.p99_ns); }},
      {"delay_max_ns", "Max", duration, most,
       [](auto& row) { return row.if_any(row.of.delays.max_ns); }},
      {"late_share", "Late %", share, most,
       [](auto& row) { return share_cell(row.of.sums.late, row.of.sums.launches); }},
      {"short_share", "Short %", share, some, [](auto& row) { return row.of.sums.short_share(); }},
  });
}

// The streams in it have a queue.
ColumnsOf<StreamRow> queue_columns() {
  using enum ColumnKind;
  return stream_columns({
      {"queue_mean", "Avg queue", number, [](auto& row) { return row.of.queue->mean; }},
      {"queue_p50", "Med", count, [](auto& row) { return row.of.queue->percentiles[0]; }},
      {"queue_p90", "P90", count, [](auto& row) { return row.of.queue->percentiles[1]; }},
      {"queue_p99", "P99", count, [](auto& row) { return row.of.queue->percentiles[2]; }},
      {"queue_max", "Max", count, [](auto& row) { return row.of.queue->percentiles[3]; }},
      {"empty_share", "Empty %", share, [](auto& row) { return row.of.queue->empty_share; }},
      {"full_ns", "Full", duration, [](auto& row) { return row.of.queue->full_ns; }},
  });
}

// The launches by calls of one name, or by one operator.
struct CallRow : CallSums {
  std::string name;
  std::vector<std::int64_t> lengths = {};
};

Table calls_table(const NamedCalls& calls) {
  std::vector<CallRow> rows;
  for (const auto& [name, kind] : calls) rows.push_back({kind.sums, name, kind.lengths});
  std::ranges::stable_sort(rows, std::greater(), &CallSums::launches);
  using enum ColumnKind;
  using enum Readers;
  using Row = CallRow;
  const ColumnsOf<Row> columns{
      {"launches", "Launches", count, &Row::launches},
      {"work", "Work", count, few, &Row::work},
      {"call_ns", "In call", duration, [](auto& of) { return of.if_timed(of.call_ns); }},
      {"call_p50_ns", "Med", duration, most,
       [](auto& of) { return of.if_timed(percentile(of.lengths, 50)); }},
      {"call_p99_ns", "P99", duration, some,
       [](auto& of) { return of.if_timed(percentile(of.lengths, 99)); }},
      {"slow_calls", "Slow", count, some, [](auto& of) { return of.if_timed(of.slow); }},
      {"device_ns", "On GPU", duration, most, &Row::device_ns},
      {"delay_ns", "Delay", duration, most, &Row::delay_ns},
      {"delay_max_ns", "Max delay", duration, few, &Row::delay_max_ns},
      {"late", "Late", count, some, &Row::late},
      {"short", "Short", count, few, [](auto& of) { return of.if_timed(of.short_ones); }},
      {"call", "Call", text, &Row::name},
  };
  return make_table(rows, columns);
}

Table ops_table(const NamedSums& ops, std::size_t most) {
  std::vector<CallRow> rows;
  for (const auto& [name, sums] : ops) rows.push_back({sums, name});
  std::ranges::stable_sort(rows, std::greater(), &CallSums::short_ones);
  using enum ColumnKind;
  using Row = CallRow;
  const ColumnsOf<Row> columns{
      {"short", "Short", count, [](auto& of) { return of.if_timed(of.short_ones); }},
      {"launches", "Launches", count, &Row::launches},
      {"short_share", "Short %", share, [](auto& of) { return of.short_share(); }},
      {"call_ns", "In calls", duration, [](auto& of) { return of.if_timed(of.call_ns); }},
      {"device_ns", "On GPU", duration, &Row::device_ns},
      {"op", "Host op", text, &Row::name},
  };
  Table table = make_table(rows, columns);
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
    report.notes.push_back(unlinked_text(unlinked, pieces) +
                           ": they are in no delay and in no queue");
}

}  // namespace

Report launch_report(const Run& run, const LaunchOptions& options) {
  const std::vector<RankLaunches> ranks = per_rank<RankLaunches>(
      run, [&](std::size_t rank) { return gather_launches(run, run.ranks[rank]); });
  const ColumnsOf<StreamRow> of_delays = delay_columns();
  const ColumnsOf<StreamRow> of_queues = queue_columns();
  Table delays = empty_table(of_delays);
  Table queues = empty_table(of_queues);
  NamedCalls calls;
  NamedSums ops;
  std::uint64_t pieces = 0;
  std::uint64_t unlinked = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const StreamLaunches& stream : ranks[i].streams) {
      add_row(delays, of_delays, {run.ranks[i].rank, stream});
      if (stream.queue) add_row(queues, of_queues, {run.ranks[i].rank, stream});
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
