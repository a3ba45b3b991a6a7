#include "analysis/memory/counter_series.h"
#include "analysis/reports/reports.h"
#include "per_rank/per_rank.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

// The values of a counter, of one rank or of all ranks.
struct CounterSums {
  QuantityUnit unit = QuantityUnit::none;
  bool is_rate = false;
  std::int64_t ranks = 0;
  std::vector<double> values;
  double weighted_sum = 0;  // sum of rates weighted by time
  double seconds = 0;
  double during_sum = 0;
  double during_ns = 0;
  double elsewhere_sum = 0;
  double elsewhere_ns = 0;
  double mean = 0;

  // Call it after the last value.
  void finish() {
    double sum = 0;
    for (const double value : values) sum += value;
    mean =
        is_rate && seconds > 0 ? weighted_sum / seconds : sum / static_cast<double>(values.size());
    std::sort(values.begin(), values.end());
  }
  // Returns the nearest rank; call it after finish().
  double at(std::size_t percent) const { return values[percentile_place(values.size(), percent)]; }
};

// The rank (0 unless rows are by rank), counter and process.
using CounterRowKey = std::tuple<std::int64_t, std::string, std::string>;

// The times of the selected activity of a rank, and the rest of its steps.
struct Moments {
  Intervals during;
  Intervals elsewhere;
};

// RankCounters holds what a rank measured.
struct RankCounters {
  std::vector<CounterSeries> series;
  Moments moments;
  bool has_blocks = false;
};

Intervals spans_named(const Run& run, const RankEvents& rank, const NamePattern& pattern) {
  std::vector<bool> wanted;
  for (std::uint32_t label = 0; label < run.labels.size(); ++label)
    wanted.push_back(pattern.found_in(run.labels.name(label)));
  Intervals found;
  const auto take = [&](const HostSpan& span) {
    if (wanted[span.label]) found.push_back(span.interval());
  };
  rank.for_each_host(take);
  rank.for_each_mark(take);
  return unite(std::move(found));
}

Intervals loader_waits(const RankEvents& rank) {
  Intervals found;
  for (const HostSpan& span : find_loader_spans(rank)) found.push_back(span.interval());
  return unite(std::move(found));
}

Moments moments_of(const Run& run, const RankEvents& rank, const HostOptions& options) {
  Moments moments;
  moments.during = options.during ? spans_named(run, rank, *options.during) : loader_waits(rank);
  moments.elsewhere = subtract(unite(rank.steps.times()), moments.during);
  return moments;
}

// Adds up values by the part of their times in the moments, and the length of those parts.
void weigh(const CounterSeries& series, const Intervals& moments, double& sum, double& ns) {
  Intervals times;
  times.reserve(series.values.size());
  for (const CounterValue& value : series.values) times.push_back(value.time);
  const std::vector<std::int64_t> parts = totals_in(moments, times);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sum += series.values[i].value * static_cast<double>(parts[i]);
    ns += static_cast<double>(parts[i]);
  }
}

void add(const CounterSeries& series, const Moments& moments, CounterSums& row) {
  row.unit = series.unit;
  row.is_rate = series.is_rate;
  ++row.ranks;
  for (const CounterValue& value : series.values) {
    row.values.push_back(value.value);
    const auto seconds = static_cast<double>(value.time.to_ns - value.time.from_ns) * 1e-9;
    row.weighted_sum += value.value * seconds;
    row.seconds += seconds;
  }
  weigh(series, moments.during, row.during_sum, row.during_ns);
  weigh(series, moments.elsewhere, row.elsewhere_sum, row.elsewhere_ns);
}

using HostRow = std::pair<const CounterRowKey, CounterSums>;

ColumnsOf<HostRow> columns_for(const HostOptions& options, bool processes) {
  using enum ColumnKind;
  using enum Readers;
  return {
      {"rank", "Rank", count, options.by_rank, [](auto& of) { return std::get<0>(of.first); }},
      {"counter", "Counter", text, [](auto& of) { return std::get<1>(of.first); }},
      {"process", "Process", text, most, processes,
       [](auto& of) { return text_or_nothing(std::get<2>(of.first)); }},
      {"unit", "Unit", text, few, [](auto& of) { return unit_cell(of.second.unit); }},
      {"kind", "Kind", text, some, [](auto& of) { return of.second.is_rate ? "rate" : "level"; }},
      {"ranks", "Ranks", count, few, [](auto& of) { return of.second.ranks; }},
      {"samples", "Samples", count, some, [](auto& of) { return of.second.values.size(); }},
      {"mean", "Mean", quantity, [](auto& of) { return of.second.mean; }},
      {"least", "Least", quantity, some, [](auto& of) { return of.second.values.front(); }},
      {"p50", "Med", quantity, most, [](auto& of) { return of.second.at(50); }},
      {"p90", "P90", quantity, few, [](auto& of) { return of.second.at(90); }},
      {"p99", "P99", quantity, some, [](auto& of) { return of.second.at(99); }},
      {"most", "Most", quantity, [](auto& of) { return of.second.at(100); }},
      {"during", options.during ? "During" : "In waits", quantity, Readers::most,
       [](auto& of) {
         return cell_if(of.second.during_ns > 0, of.second.during_sum / of.second.during_ns);
       }},
      {"elsewhere", "Elsewhere", quantity, Readers::most,
       [](auto& of) {
         return cell_if(of.second.elsewhere_ns > 0,
                        of.second.elsewhere_sum / of.second.elsewhere_ns);
       }},
  };
}

// The oddities of the counters themselves.
struct Oddities {
  std::uint64_t restarts = 0;
  std::uint64_t single_totals = 0;
  bool any_counter = false;
  bool any_moment = false;
  bool blocks = false;
  std::size_t zeros = 0;  // rows left out
};

void add_notes(const HostOptions& options, const Oddities& odd, Report& report) {
  if (!odd.any_counter) {
    report.notes.emplace_back(
        "no counters in these traces: Composer's SystemProfiler and our recorder's sampler write "
        "them");
    return;
  }
  if (odd.blocks)
    report.notes.emplace_back(
        "Composer's units: its \"_gb\" are taken as blocks of 512 bytes, its \"kb_\" as blocks of "
        "8");
  if (!odd.any_moment)
    report.notes.emplace_back(options.during
                                  ? "no span of the host has such a name"
                                  : "no spans of a data loader: nothing is known of its waits");
  if (odd.zeros > 0)
    report.notes.push_back(fmt::format(
        "{} counters are 0 all the time and are not shown (--all shows them)", odd.zeros));
  if (odd.single_totals > 0)
    report.notes.push_back(fmt::format(
        "{} counters of totals have one sample only: that makes no rate", odd.single_totals));
  if (odd.restarts > 0)
    report.notes.push_back(
        fmt::format("{} times a total was less than before: no rate there", odd.restarts));
}

}  // namespace

Report host_report(const Run& run, const HostOptions& options) {
  const auto find = [&](std::size_t i) {
    const RankEvents& rank = run.ranks[i];
    return RankCounters{find_counters(run, rank), moments_of(run, rank, options),
                        uses_blocks(run, rank)};
  };
  std::map<CounterRowKey, CounterSums> rows;
  Oddities odd;
  bool processes = false;
  const auto add_rank = [&](std::size_t i, const RankCounters& rank) {
    odd.any_moment |= !rank.moments.during.empty();
    odd.any_counter |= !rank.series.empty();
    odd.blocks |= rank.has_blocks;
    for (const CounterSeries& one : rank.series) {
      odd.restarts += one.restarts;
      odd.single_totals += one.values.empty() ? 1 : 0;
      if (one.values.empty()) continue;
      processes |= !one.process.empty();
      add(one, rank.moments,
          rows[{options.by_rank ? run.ranks[i].rank : 0, one.name, one.process}]);
    }
  };
  for_each_rank<RankCounters>(run, all_ranks(run), find, add_rank);
  const ColumnsOf<HostRow> columns = columns_for(options, processes);
  Table table = empty_table(columns);
  for (HostRow& row : rows) {
    row.second.finish();
    const bool is_zero = row.second.values.front() == 0 && row.second.values.back() == 0;
    odd.zeros += is_zero && !options.all ? 1 : 0;
    if (!is_zero || options.all) add_row(table, columns, row);
  }
  Report report("host", run);
  report.tables.push_back({"rows", "", std::move(table)});
  add_notes(options, odd, report);
  return report;
}

}  // namespace traceloom
