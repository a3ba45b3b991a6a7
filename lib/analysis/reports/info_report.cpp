#include "analysis/devices/device_work.h"
#include "analysis/reports/reports.h"
#include "base/arithmetic.h"
#include "per_rank/per_rank.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace traceloom {
namespace {

// Returns "X 8812, B 4, E 4" for the phases that occur.
std::string phase_list(const PhaseCounts& phases) {
  std::string text;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (phases[i] == 0) continue;
    if (!text.empty()) text += ", ";
    text += i < 0x21 ? fmt::format("(none) {}", phases[i])
                     : fmt::format("{} {}", static_cast<char>(i), phases[i]);
  }
  return text;
}

Table files_table(const Run& run) {
  using enum ColumnKind;
  using enum Readers;
  using Row = RunFile;
  const ColumnsOf<Row> columns{
      {"path", "File", text, &Row::path},
      {"rank", "Rank", count, &Row::rank},
      {"rank_source", "Known from", text, some, &Row::rank_source},
      {"producer", "Producer", text, most, &Row::producer},
      {"events", "Events", count, &Row::events},
      {"text_bytes", "Bytes", count, most, &Row::text_bytes},
      {"span_ns", "Span", duration, most, &Row::span_ns},
      {"clock", "Clock", text, most, [](auto& of) { return to_string(of.clock); }},
      {"offset_ns", "Offset", duration, some, &Row::offset_ns},
      {"phases", "Phases", text, few, [](auto& of) { return phase_list(of.phases); }},
  };
  Table table = empty_table(columns);
  for (const RunFile& file : run.files)
    if (file.error.empty() && !file.is_repeat) add_row(table, columns, file);
  return table;
}

// The numbers of spans of a rank.
struct SpanCounts {
  std::int64_t hosts = 0;
  std::int64_t calls = 0;
  std::int64_t spans = 0;
  std::size_t devices = 0;
};

SpanCounts count_spans(const RankEvents& rank) {
  SpanCounts counts;
  std::set<std::int32_t> devices;
  rank.for_each_host([&](const HostSpan&) { ++counts.hosts; });
  rank.for_each_annotation([&](const HostSpan&) { ++counts.hosts; });
  rank.for_each_call([&](const CallSpan&) { ++counts.calls; });
  rank.for_each_device([&](const DeviceSpan& span) {
    ++counts.spans;
    devices.insert(span.device);
  });
  counts.devices = devices.size();
  return counts;
}

Table ranks_table(const Run& run) {
  using enum ColumnKind;
  using Row = std::pair<const RankEvents&, SpanCounts>;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, [](auto& of) { return of.first.rank; }},
      {"step_kind", "Steps by", text, [](auto& of) { return to_string(of.first.steps.kind); }},
      {"steps", "Steps", count,
       [](auto& of) {
         return of.first.steps.kind == StepKind::none ? 0 : of.first.steps.list.size();
       }},
      {"host_spans", "Host spans", count, [](auto& of) { return of.second.hosts; }},
      {"runtime_calls", "Calls", count, [](auto& of) { return of.second.calls; }},
      {"device_spans", "Device spans", count, [](auto& of) { return of.second.spans; }},
      {"devices", "Devices", count, [](auto& of) { return of.second.devices; }},
  };
  Table table = empty_table(columns);
  for_each_rank<SpanCounts>(
      run, all_ranks(run), [&](std::size_t rank) { return count_spans(run.ranks[rank]); },
      [&](std::size_t rank, const SpanCounts& counts) {
        add_row(table, columns, {run.ranks[rank], counts});
      });
  return table;
}

struct CategorySum {
  std::int64_t spans = 0;
  std::int64_t total_ns = 0;
};
using CategorySums = std::map<std::string, CategorySum>;

CategorySums sum_categories(const Run& run, const RankEvents& rank) {
  std::map<std::string_view, CategorySum> sums;
  const auto add = [&](const HostSpan& span) {
    CategorySum& sum = sums[run.labels.category(span.label)];
    ++sum.spans;
    add_to(sum.total_ns, span.end_ns - span.start_ns);
  };
  rank.for_each_host(add);
  rank.for_each_annotation(add);
  rank.for_each_call(add);
  rank.for_each_device(add);
  return {sums.begin(), sums.end()};
}

Table categories_table(const Run& run) {
  using enum ColumnKind;
  struct Row {
    std::int64_t rank;
    std::string_view category;
    CategorySum sum;
  };
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"category", "Category", text, text_of(&Row::category)},
      {"spans", "Spans", count, [](auto& of) { return of.sum.spans; }},
      {"total_ns", "Total", duration, [](auto& of) { return of.sum.total_ns; }},
  };
  Table table = empty_table(columns);
  for_each_rank<CategorySums>(
      run, all_ranks(run), [&](std::size_t rank) { return sum_categories(run, run.ranks[rank]); },
      [&](std::size_t rank, const CategorySums& sums) {
        for (const auto& [category, sum] : sums)
          add_row(table, columns, {run.ranks[rank].rank, category, sum});
      });
  return table;
}

Table unknown_table(const Run& run) {
  using enum ColumnKind;
  using Row = UnknownRow;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"spans", "Spans", count, &Row::count},
      {"total_ns", "Total", duration, &Row::total_ns},
      {"category", "Category", text, text_of(&Row::category)},
      {"process", "Process", text, text_of(&Row::process)},
      {"thread", "Thread", text, text_of(&Row::thread)},
  };
  return make_table(find_unknown_rows(run), columns);
}

}  // namespace

void add_clocks(const Run& run, Report& report) {
  if (std::ranges::none_of(run.files,
                           [](const RunFile& file) { return file.collectives.has_value(); }))
    return;
  using enum ColumnKind;
  using enum Readers;
  using Row = RunFile;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"clock", "Clock by", text, [](auto& of) { return to_string(of.clock); }},
      {"shift_ns", "Collectives say", duration, [](auto& of) { return of.collectives->shift_ns; }},
      {"residual_p50_ns", "Ends apart", duration, most,
       [](auto& of) { return of.collectives->residual_p50_ns; }},
      {"residual_p95_ns", "P95", duration, some,
       [](auto& of) { return of.collectives->residual_p95_ns; }},
      {"bound_ns", "Bound", duration, [](auto& of) { return of.collectives->bound_ns; }},
      {"is_used", "Used", text, [](auto& of) { return of.collectives->is_used ? "yes" : "no"; }},
      {"path", "File", text, some, &Row::path},
  };
  Table table = empty_table(columns);
  for (const RunFile& file : run.files)
    if (file.collectives) add_row(table, columns, file);
  report.tables.push_back({"clocks", "Clocks, by collectives", std::move(table)});
}

Report info_report(const Run& run) {
  Report report("info", run);
  report.tables.push_back({"rows", "", files_table(run)});
  report.tables.push_back({"ranks", "Ranks", ranks_table(run)});
  report.tables.push_back({"categories", "Spans by category", categories_table(run)});
  add_clocks(run, report);
  for (const RunFile& file : run.files)
    for (const Problem problem :
         {Problem::shifted_clock, Problem::clock_conflict, Problem::no_common_collective,
          Problem::vague_collectives, Problem::ranks_apart})
      for (const ProblemCounts* const problems : {&file.problems, &file.clock_problems})
        if (const std::string_view words = problems->explanation(problem); !words.empty())
          report.notes.emplace_back(words);
  if (Table unknown = unknown_table(run); !unknown.rows().empty())
    report.tables.push_back({"not_understood",
                             "Rows that look like a device and are not understood",
                             std::move(unknown)});
  if (const DeviceDoubts doubts(run); !doubts.not_understood.empty())
    report.notes.push_back(doubts.not_understood + ": nothing is said about them");
  if (!run.common_clock)
    report.notes.emplace_back(
        "some files say nothing of their clock: times of different ranks cannot be compared");
  return report;
}

}  // namespace traceloom
