#include "analysis/reports/comm_report.h"

#include "analysis/collectives/collectives.h"
#include "analysis/numbers.h"
#include "base/arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace traceloom {
namespace {

// 1e9 bytes a second in GiB/s.
constexpr double kGibPerGb = 1e9 / (1024.0 * 1024.0 * 1024.0);

// Clocks with the same epoch may still differ by more than collectives take.
struct ClockCheck {
  static constexpr double kMostApart = 0.05;  // a few are matched wrongly or end late on a rank

  bool common = false;
  std::size_t all = 0;
  std::size_t apart = 0;  // number of collectives without an instant that all ranks share

  bool agree() const {
    return common && static_cast<double>(apart) <= kMostApart * static_cast<double>(all);
  }
};

// The kind of pieces in a row.
enum class RowKind : std::uint8_t { alone, matched, message };

using RowKey = std::tuple<std::string, std::string, std::int64_t, ProcessGroup, RowKind>;

struct CommRow {
  std::size_t ranks = 0;
  std::vector<std::int64_t> latencies;
  std::vector<std::int64_t> waits;  // waits of each part
  std::vector<std::int64_t> skews_in;
  std::vector<std::int64_t> skews_out;
  bool moves_known = false;          // bytes and their time are known
  std::optional<double> bus_factor;  // set if the factor of the bus is known
};

using Rows = std::map<RowKey, CommRow>;

void add(Rows& rows, const Collective& what, RowKind kind) {
  CommRow& row = rows[{what.name, what.dtype, what.bytes, what.group, kind}];
  row.ranks = std::max(row.ranks, what.parts.size());
  row.latencies.push_back(what.latency_ns());
  row.moves_known |= what.algo_gbps() > 0;
  if (what.bus_gbps() > 0) row.bus_factor = what.bus_gbps() / what.algo_gbps();
  if (kind == RowKind::alone) return;
  for (const CollectivePart& part : what.parts) row.waits.push_back(what.wait_ns(part));
  if (kind != RowKind::matched) return;
  row.skews_in.push_back(what.skew_in_ns());
  row.skews_out.push_back(what.skew_out_ns());
}

// True if groups share a name and differ only in their ranks.
bool share_names(const Rows& rows) {
  std::map<std::string_view, ProcessGroup> groups;
  return std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
    const ProcessGroup& group = std::get<ProcessGroup>(row.first);
    return groups.try_emplace(group.name, group).first->second != group;
  });
}

std::vector<Column> row_columns(bool groups_share_names) {
  const Readers of_ranks = groups_share_names ? Readers::all : Readers::few;
  return {{"collective", "Collective", ColumnKind::text},
          {"dtype", "Type", ColumnKind::text, Readers::some},
          {"bytes", "Bytes", ColumnKind::count},
          {"group", "Group", ColumnKind::text, Readers::most},
          {"group_description", "Group is", ColumnKind::text, Readers::few},
          {"group_ranks", "Of ranks", ColumnKind::text, of_ranks},
          {"ranks", "Ranks", ColumnKind::count, Readers::some},
          {"count", "Count", ColumnKind::count},
          {"latency_ns", "Latency", ColumnKind::duration},
          {"latency_p50_ns", "Med", ColumnKind::duration, Readers::few},
          {"latency_p99_ns", "P99", ColumnKind::duration, Readers::some},
          {"wait_ns", "Wait", ColumnKind::duration, Readers::most},
          {"skew_in_ns", "Skew in", ColumnKind::duration, Readers::some},
          {"skew_out_ns", "Skew out", ColumnKind::duration, Readers::few},
          {"algo_gbps", "Algo GB/s", ColumnKind::number, Readers::few},
          {"bus_gbps", "Bus GB/s", ColumnKind::number, Readers::most},
          {"algo_gibps", "Algo GiB/s", ColumnKind::number, Readers::few},
          {"bus_gibps", "Bus GiB/s", ColumnKind::number, Readers::few}};
}

Cell word_or_nothing(std::string_view text) {
  return text.empty() ? Cell{} : Cell{std::string(text)};
}

Table rows_table(const Rows& rows, bool common_clock) {
  Table table(row_columns(share_names(rows)));
  for (const auto& [key, row] : rows) {
    const auto& [name, dtype, bytes, group, kind] = key;
    const std::int64_t latency_ns = mean(row.latencies);
    const bool known = bytes > 0 && latency_ns > 0 && row.moves_known;
    const bool bus_known = known && row.bus_factor;
    const double bus_factor = row.bus_factor.value_or(0);
    const double gbps = known ? static_cast<double>(bytes) / static_cast<double>(latency_ns) : 0;
    const auto if_true = [](bool truth, const Cell& cell) { return truth ? cell : Cell{}; };
    const bool skews = kind == RowKind::matched && common_clock;
    table.add_row(
        {name, word_or_nothing(dtype), if_true(bytes > 0, bytes), word_or_nothing(group.name),
         word_or_nothing(group.description), word_or_nothing(group.ranks),
         static_cast<std::int64_t>(row.ranks), static_cast<std::int64_t>(row.latencies.size()),
         latency_ns, percentile(row.latencies, 50), percentile(row.latencies, 99),
         if_true(kind != RowKind::alone, mean(row.waits)), if_true(skews, mean(row.skews_in)),
         if_true(skews, mean(row.skews_out)), if_true(known, gbps),
         if_true(bus_known, gbps * bus_factor), if_true(known, gbps * kGibPerGb),
         if_true(bus_known, gbps * bus_factor * kGibPerGb)});
  }
  return table;
}

ClockCheck check_clocks(const Run& run, const std::vector<Collective>& matched) {
  ClockCheck check{run.common_clock && !run.clock_of_collectives};
  for (const Collective& what : matched) {
    if (!what.all_wait_for_all()) continue;
    ++check.all;
    if (what.first_end_ns() < what.last(true).start_ns) ++check.apart;
  }
  return check;
}

struct RankSum {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t times_last = 0;
  std::int64_t times_first = 0;
};

// Returns how long a part waited: for the last to start on a common clock, otherwise the time
// beyond the shortest part.
std::int64_t wait_of(const Collective& what, const CollectivePart& part, bool common_clock) {
  return common_clock ? what.last(true).start_ns - part.start_ns : what.wait_ns(part);
}

Table ranks_table(const Run& run, const std::vector<Collective>& matched, bool common_clock) {
  Table table({{"rank", "Rank", ColumnKind::count},
               {"collectives", "Count", ColumnKind::count},
               {"total_ns", "Total", ColumnKind::duration},
               {"total_wait_ns", "Wait", ColumnKind::duration},
               {"mean_wait_ns", "Avg wait", ColumnKind::duration},
               {"times_last", "Last", ColumnKind::count},
               {"times_first", "First", ColumnKind::count},
               {"last_share", "Last %", ColumnKind::share}});
  std::map<std::size_t, RankSum> sums;
  for (const Collective& what : matched) {
    for (const CollectivePart& part : what.parts) {
      RankSum& sum = sums[part.rank];
      ++sum.count;
      add_to(sum.total_ns, part.end_ns - part.start_ns);
      add_to(sum.wait_ns, wait_of(what, part, common_clock));
    }
    ++sums[what.last(common_clock).rank].times_last;
    ++sums[what.first(common_clock).rank].times_first;
  }
  for (const auto& [rank, sum] : sums)
    table.add_row({run.ranks[rank].rank, sum.count, sum.total_ns, sum.wait_ns,
                   sum.wait_ns / sum.count, sum.times_last, sum.times_first,
                   static_cast<double>(sum.times_last) / static_cast<double>(sum.count)});
  return table;
}

// Has a row for all collectives of each rank, and one for each collective.
Table times_table(const Run& run, const std::vector<Collective>& matched) {
  Table table({{"rank", "Rank", ColumnKind::count},
               {"count", "Count", ColumnKind::count},
               {"bytes", "Bytes", ColumnKind::bytes},
               {"busy_ns", "Busy", ColumnKind::duration},
               {"transfer_ns", "Transfer", ColumnKind::duration},
               {"waiting_ns", "Waiting", ColumnKind::duration},
               {"collective", "Collective", ColumnKind::text}});
  for (const CommTimes& times : find_comm_times(matched)) {
    std::vector<Cell> cells;
    cells.emplace_back(run.ranks[times.rank].rank);
    cells.emplace_back(times.count);
    cells.emplace_back();
    if (times.bytes > 0) cells.back() = times.bytes;
    cells.emplace_back(times.busy_ns);
    cells.push_back(times.transfer_known ? Cell{times.transfer_ns} : Cell{});
    cells.push_back(times.transfer_known ? Cell{times.busy_ns - times.transfer_ns} : Cell{});
    cells.emplace_back(times.name.empty() ? std::string("(all)") : times.name);
    table.add_row(std::move(cells));
  }
  return table;
}

Table each_table(const Run& run, const std::vector<Collective>& matched, bool common_clock) {
  Table table({{"index", "Index", ColumnKind::count},
               {"collective", "Collective", ColumnKind::text},
               {"group", "Group", ColumnKind::text, Readers::some},
               {"bytes", "Bytes", ColumnKind::count, Readers::most},
               {"ranks", "Ranks", ColumnKind::count, Readers::few},
               {"latency_ns", "Latency", ColumnKind::duration},
               {"mean_wait_ns", "Avg wait", ColumnKind::duration},
               {"skew_in_ns", "Skew in", ColumnKind::duration, Readers::some},
               {"skew_out_ns", "Skew out", ColumnKind::duration, Readers::few},
               {"last_rank", "Last", ColumnKind::count, Readers::most},
               {"first_rank", "First", ColumnKind::count, Readers::few},
               {"algo_gibps", "Algo GiB/s", ColumnKind::number, Readers::few},
               {"bus_gibps", "Bus GiB/s", ColumnKind::number, Readers::some},
               {"group_description", "Group is", ColumnKind::text, Readers::few},
               {"group_ranks", "Of ranks", ColumnKind::text, Readers::few}});
  for (const Collective& what : matched) {
    std::vector<std::int64_t> waits;
    for (const CollectivePart& part : what.parts)
      waits.push_back(wait_of(what, part, common_clock));
    const bool known = what.algo_gbps() > 0;
    table.add_row({static_cast<std::int64_t>(table.rows().size()), what.name,
                   word_or_nothing(what.group.name), what.bytes > 0 ? Cell{what.bytes} : Cell{},
                   static_cast<std::int64_t>(what.parts.size()), what.latency_ns(), mean(waits),
                   common_clock ? Cell{what.skew_in_ns()} : Cell{},
                   common_clock ? Cell{what.skew_out_ns()} : Cell{},
                   run.ranks[what.last(common_clock).rank].rank,
                   run.ranks[what.first(common_clock).rank].rank,
                   known ? Cell{what.algo_gbps() * kGibPerGb} : Cell{},
                   known ? Cell{what.bus_gbps() * kGibPerGb} : Cell{},
                   word_or_nothing(what.group.description), word_or_nothing(what.group.ranks)});
  }
  return table;
}

void add_notes_of_bytes(Report& report, const MatchedCollectives& found) {
  if (found.by_operator > 0)
    report.notes.push_back(fmt::format(
        "{} kernels do not say what they move: their bytes are those of the tensors that the "
        "operators which launched them were called with",
        found.by_operator));
  if (found.unclear_counts > 0)
    report.notes.push_back(
        fmt::format("of {} collectives of Ascend it is not certain what their count is of: they "
                    "have no bytes",
                    found.unclear_counts));
  if (found.launch_only > 0)
    report.notes.push_back(
        fmt::format("{} collectives were recorded on the host alone, which only starts them: "
                    "their times are those of the calls, and they have no bandwidth",
                    found.launch_only));
  if (found.sharing > 0)
    report.notes.push_back(fmt::format(
        "{} kernels share the operator that launched them with others: how its bytes are "
        "shared out is not known, so they have none",
        found.sharing));
  if (found.lone_messages > 0)
    report.notes.push_back(
        fmt::format("of {} sends and receives the other end is not known: their latency is all of "
                    "their time, waiting too, and they have no bandwidth",
                    found.lone_messages));
}

}  // namespace

Report comm_report(const Run& run, const CommOptions& options) {
  const MatchedCollectives found = match_collectives(run);
  const ClockCheck clocks = check_clocks(run, found.matched);
  Rows rows;
  for (const Collective& what : found.matched) add(rows, what, RowKind::matched);
  for (const Collective& what : found.single)
    add(rows, what, what.transfer_ns ? RowKind::message : RowKind::alone);
  Report report("comm", run);
  report.tables.push_back({"rows", "", rows_table(rows, clocks.agree())});
  report.tables.push_back({"ranks", "By rank", ranks_table(run, found.matched, clocks.agree())});
  report.tables.push_back(
      {"times", "Transfers and waiting by rank and collective", times_table(run, found.matched)});
  if (options.each)
    report.tables.push_back(
        {"collectives", "One by one", each_table(run, found.matched, clocks.agree())});
  if (rows.empty()) report.notes.emplace_back("no collectives in these traces");
  if (found.left_over > 0)
    report.notes.push_back(
        fmt::format("{} collectives were not recorded by all ranks of their group: compared with "
                    "those that were",
                    found.left_over));
  add_notes_of_bytes(report, found);
  if (!clocks.agree() && !rows.empty())
    report.notes.push_back(fmt::format(
        "the clocks of the ranks {}: no skews, and waits by durations alone",
        run.clock_of_collectives ? "are made of these collectives"
        : run.common_clock
            ? fmt::format("do not agree (by them, in {} of {} collectives a rank had left before "
                          "another came)",
                          clocks.apart, clocks.all)
            : "are not known to agree"));
  return report;
}

}  // namespace traceloom
