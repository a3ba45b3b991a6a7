#include "analysis/collectives/collectives.h"
#include "analysis/numbers.h"
#include "analysis/reports/reports.h"
#include "base/arithmetic.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>

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

struct RowKey {
  std::string name;
  std::string dtype;
  std::int64_t bytes;
  ProcessGroup group;
  RowKind kind;

  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

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
    const ProcessGroup& group = row.first.group;
    return groups.try_emplace(group.name, group).first->second != group;
  });
}

// A row, and what the numbers of its columns come from.
struct ShownRow : RowKey {
  const CommRow& row;
  TimeStats latency;
  bool skews = false;  // the clocks allow skews

  std::optional<double> gbps() const {
    if (bytes <= 0 || latency.mean_ns <= 0 || !row.moves_known) return std::nullopt;
    return static_cast<double>(bytes) / static_cast<double>(latency.mean_ns);
  }
  std::optional<double> bus_gbps() const {
    if (!gbps() || !row.bus_factor) return std::nullopt;
    return *gbps() * *row.bus_factor;
  }
};

std::optional<double> in_gib(const std::optional<double>& gbps) {
  return gbps ? std::optional(*gbps * kGibPerGb) : std::nullopt;
}

Table rows_table(const Rows& rows, bool common_clock) {
  using enum ColumnKind;
  using enum Readers;
  using Row = ShownRow;
  const ColumnsOf<Row> columns{
      {"collective", "Collective", text, &Row::name},
      {"dtype", "Type", text, some, text_of(&Row::dtype)},
      {"bytes", "Bytes", count, [](auto& of) { return cell_if(of.bytes > 0, of.bytes); }},
      {"group", "Group", text, most, [](auto& of) { return text_or_nothing(of.group.name); }},
      {"group_description", "Group is", text, few,
       [](auto& of) { return text_or_nothing(of.group.description); }},
      {"group_ranks", "Of ranks", text, share_names(rows) ? all : few,
       [](auto& of) { return text_or_nothing(of.group.ranks); }},
      {"ranks", "Ranks", count, some, [](auto& of) { return of.row.ranks; }},
      {"count", "Count", count, path(&Row::latency, &TimeStats::count)},
      {"latency_ns", "Latency", duration, path(&Row::latency, &TimeStats::mean_ns)},
      {"latency_p50_ns", "Med", duration, few, path(&Row::latency, &TimeStats::p50_ns)},
      {"latency_p99_ns", "P99", duration, some, path(&Row::latency, &TimeStats::p99_ns)},
      {"wait_ns", "Wait", duration, most,
       [](auto& of) { return cell_if(of.kind != RowKind::alone, mean(of.row.waits)); }},
      {"skew_in_ns", "Skew in", duration, some,
       [](auto& of) { return cell_if(of.skews, mean(of.row.skews_in)); }},
      {"skew_out_ns", "Skew out", duration, few,
       [](auto& of) { return cell_if(of.skews, mean(of.row.skews_out)); }},
      {"algo_gbps", "Algo GB/s", number, few, &Row::gbps},
      {"bus_gbps", "Bus GB/s", number, most, &Row::bus_gbps},
      {"algo_gibps", "Algo GiB/s", number, few, [](auto& of) { return in_gib(of.gbps()); }},
      {"bus_gibps", "Bus GiB/s", number, few, [](auto& of) { return in_gib(of.bus_gbps()); }},
  };
  Table table = empty_table(columns);
  for (const auto& [key, row] : rows)
    add_row(table, columns,
            {key, row, time_stats(row.latencies), common_clock && key.kind == RowKind::matched});
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
  std::int64_t rank = 0;
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
  std::map<std::size_t, RankSum> sums;
  for (const Collective& what : matched) {
    for (const CollectivePart& part : what.parts) {
      RankSum& sum = sums[part.rank];
      sum.rank = run.ranks[part.rank].rank;
      ++sum.count;
      add_to(sum.total_ns, part.end_ns - part.start_ns);
      add_to(sum.wait_ns, wait_of(what, part, common_clock));
    }
    ++sums[what.last(common_clock).rank].times_last;
    ++sums[what.first(common_clock).rank].times_first;
  }
  using enum ColumnKind;
  using Row = RankSum;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"collectives", "Count", count, &Row::count},
      {"total_ns", "Total", duration, &Row::total_ns},
      {"total_wait_ns", "Wait", duration, &Row::wait_ns},
      {"mean_wait_ns", "Avg wait", duration, [](auto& of) { return of.wait_ns / of.count; }},
      {"times_last", "Last", count, &Row::times_last},
      {"times_first", "First", count, &Row::times_first},
      {"last_share", "Last %", share, share_of(&Row::times_last, &Row::count)},
  };
  std::vector<Row> rows;
  rows.reserve(sums.size());
  for (const auto& [rank, sum] : sums) rows.push_back(sum);
  return make_table(rows, columns);
}

// Has a row for all collectives of each rank, and one for each collective.
Table times_table(const Run& run, const std::vector<Collective>& matched) {
  using enum ColumnKind;
  using Row = CommTimes;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, [&](auto& of) { return run.ranks[of.rank].rank; }},
      {"count", "Count", count, &Row::count},
      {"bytes", "Bytes", bytes, [](auto& of) { return cell_if(of.bytes > 0, of.bytes); }},
      {"busy_ns", "Busy", duration, &Row::busy_ns},
      {"transfer_ns", "Transfer", duration,
       [](auto& of) { return cell_if(of.transfer_known, of.transfer_ns); }},
      {"waiting_ns", "Waiting", duration,
       [](auto& of) { return cell_if(of.transfer_known, of.busy_ns - of.transfer_ns); }},
      {"collective", "Collective", text,
       [](auto& of) { return of.name.empty() ? "(all)" : of.name; }},
  };
  return make_table(find_comm_times(matched), columns);
}

std::int64_t mean_wait(const Collective& what, bool common_clock) {
  std::vector<std::int64_t> waits;
  for (const CollectivePart& part : what.parts) waits.push_back(wait_of(what, part, common_clock));
  return mean(waits);
}

Table each_table(const Run& run, const std::vector<Collective>& matched, bool common_clock) {
  using enum ColumnKind;
  using enum Readers;
  using Row = Collective;
  const auto known = [](const Row& of, double gbps) {
    return cell_if(of.algo_gbps() > 0, gbps * kGibPerGb);
  };
  const ColumnsOf<Row> columns{
      {"index", "Index", count, [&](auto& of) { return &of - matched.data(); }},
      {"collective", "Collective", text, &Row::name},
      {"group", "Group", text, some, [](auto& of) { return text_or_nothing(of.group.name); }},
      {"bytes", "Bytes", count, most, [](auto& of) { return cell_if(of.bytes > 0, of.bytes); }},
      {"ranks", "Ranks", count, few, [](auto& of) { return of.parts.size(); }},
      {"latency_ns", "Latency", duration, &Row::latency_ns},
      {"mean_wait_ns", "Avg wait", duration, [=](auto& of) { return mean_wait(of, common_clock); }},
      {"skew_in_ns", "Skew in", duration, some,
       [=](auto& of) { return cell_if(common_clock, of.skew_in_ns()); }},
      {"skew_out_ns", "Skew out", duration, few,
       [=](auto& of) { return cell_if(common_clock, of.skew_out_ns()); }},
      {"last_rank", "Last", count, most,
       [&](auto& of) { return run.ranks[of.last(common_clock).rank].rank; }},
      {"first_rank", "First", count, few,
       [&](auto& of) { return run.ranks[of.first(common_clock).rank].rank; }},
      {"algo_gibps", "Algo GiB/s", number, few,
       [=](auto& of) { return known(of, of.algo_gbps()); }},
      {"bus_gibps", "Bus GiB/s", number, some, [=](auto& of) { return known(of, of.bus_gbps()); }},
      {"group_description", "Group is", text, few,
       [](auto& of) { return text_or_nothing(of.group.description); }},
      {"group_ranks", "Of ranks", text, few,
       [](auto& of) { return text_or_nothing(of.group.ranks); }},
  };
  return make_table(matched, columns);
}

void note_counts(const MatchedCollectives& found, Report& report) {
  const std::pair<std::uint64_t, const char*> notes[] = {
      {found.left_over,
       "{} collectives were not recorded by all ranks of their group: compared with those that "
       "were"},
      {found.by_operator,
       "{} kernels do not say what they move: their bytes are those of the tensors that the "
       "operators which launched them were called with"},
      {found.unclear_counts,
       "of {} collectives of Ascend it is not certain what their count is of: they have no bytes"},
      {found.launch_only,
       "{} collectives were recorded on the host alone, which only starts them: their times are "
       "those of the calls, and they have no bandwidth"},
      {found.eager,
       "{} sends and receives go through a buffer (senders leave before receivers come): their "
       "latency is that of a copy, and they have no bandwidth"},
      {found.sharing,
       "{} kernels share the operator that launched them with others: how its bytes are shared out "
       "is not known, so they have none"},
      {found.lone_messages,
       "of {} sends and receives the other end is not known: their latency is all of their time, "
       "waiting too, and they have no bandwidth"},
  };
  for (const auto& [count, note] : notes)
    if (count > 0) report.notes.push_back(fmt::format(fmt::runtime(note), count));
}

}  // namespace

Report comm_report(const Run& run, const CommOptions& options) {
  const MatchedCollectives& found = match_collectives(run);
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
  note_counts(found, report);
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
