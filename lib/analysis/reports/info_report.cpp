#include "analysis/reports/info_report.h"

#include "analysis/devices/device_facts.h"
#include "base/arithmetic.h"
#include "per_rank/per_rank.h"

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
  Table table({{"path", "File", ColumnKind::text},
               {"rank", "Rank", ColumnKind::count},
               {"rank_source", "Known from", ColumnKind::text, Readers::some},
               {"producer", "Producer", ColumnKind::text, Readers::most},
               {"events", "Events", ColumnKind::count},
               {"text_bytes", "Bytes", ColumnKind::count, Readers::most},
               {"span_ns", "Span", ColumnKind::duration, Readers::most},
               {"clock", "Clock", ColumnKind::text, Readers::most},
               {"offset_ns", "Offset", ColumnKind::duration, Readers::some},
               {"phases", "Phases", ColumnKind::text, Readers::few}});
  for (const RunFile& file : run.files) {
    if (!file.error.empty() || file.is_repeat) continue;
    table.add_row({file.path, file.rank ? Cell{*file.rank} : Cell{}, file.rank_source,
                   file.producer, static_cast<std::int64_t>(file.events),
                   static_cast<std::int64_t>(file.text_bytes), file.span_ns,
                   std::string(to_string(file.clock)), file.offset_ns, phase_list(file.phases)});
  }
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
  rank.for_each_call([&](const CallSpan&) { ++counts.calls; });
  rank.for_each_device([&](const DeviceSpan& span) {
    ++counts.spans;
    devices.insert(span.device);
  });
  counts.devices = devices.size();
  return counts;
}

Table ranks_table(const Run& run) {
  Table table({{"rank", "Rank", ColumnKind::count},
               {"step_kind", "Steps by", ColumnKind::text},
               {"steps", "Steps", ColumnKind::count},
               {"host_spans", "Host spans", ColumnKind::count},
               {"runtime_calls", "Calls", ColumnKind::count},
               {"device_spans", "Device spans", ColumnKind::count},
               {"devices", "Devices", ColumnKind::count}});
  const auto count = [&](std::size_t rank) { return count_spans(run.ranks[rank]); };
  for_each_rank<SpanCounts>(
      run, all_ranks(run), count, [&](std::size_t i, const SpanCounts& counts) {
        const RankEvents& rank = run.ranks[i];
        const bool marked = rank.steps.kind != StepKind::none;
        table.add_row({rank.rank, std::string(to_string(rank.steps.kind)),
                       static_cast<std::int64_t>(marked ? rank.steps.list.size() : 0), counts.hosts,
                       counts.calls, counts.spans, static_cast<std::int64_t>(counts.devices)});
      });
  return table;
}

// The number of spans and their time, by category.
using CategorySums = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;

CategorySums sum_categories(const Run& run, const RankEvents& rank) {
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> sums;
  const auto add = [&](const HostSpan& span) {
    auto& [count, total_ns] = sums[run.labels.category(span.label)];
    ++count;
    add_to(total_ns, span.end_ns - span.start_ns);
  };
  rank.for_each_host(add);
  rank.for_each_call(add);
  rank.for_each_device(add);
  return {sums.begin(), sums.end()};
}

Table categories_table(const Run& run) {
  Table table({{"rank", "Rank", ColumnKind::count},
               {"category", "Category", ColumnKind::text},
               {"spans", "Spans", ColumnKind::count},
               {"total_ns", "Total", ColumnKind::duration}});
  const auto sum = [&](std::size_t rank) { return sum_categories(run, run.ranks[rank]); };
  for_each_rank<CategorySums>(
      run, all_ranks(run), sum, [&](std::size_t rank, const CategorySums& categories) {
        for (const auto& [category, spans] : categories)
          table.add_row({run.ranks[rank].rank, category.empty() ? Cell{} : Cell{category},
                         spans.first, spans.second});
      });
  return table;
}

Table unknown_table(const Run& run) {
  Table table({{"rank", "Rank", ColumnKind::count},
               {"spans", "Spans", ColumnKind::count},
               {"total_ns", "Total", ColumnKind::duration},
               {"category", "Category", ColumnKind::text},
               {"process", "Process", ColumnKind::text},
               {"thread", "Thread", ColumnKind::text}});
  const auto text_cell = [](std::string_view text) {
    return text.empty() ? Cell{} : Cell{std::string(text)};
  };
  for (const UnknownRow& row : find_unknown_rows(run))
    table.add_row({row.rank, static_cast<std::int64_t>(row.count), row.total_ns,
                   text_cell(row.category), text_cell(row.process), text_cell(row.thread)});
  return table;
}

}  // namespace

void add_clocks(const Run& run, Report& report) {
  if (std::ranges::none_of(run.files,
                           [](const RunFile& file) { return file.collectives.has_value(); }))
    return;
  Table table({{"rank", "Rank", ColumnKind::count},
               {"clock", "Clock by", ColumnKind::text},
               {"shift_ns", "Collectives say", ColumnKind::duration},
               {"residual_p50_ns", "Ends apart", ColumnKind::duration, Readers::most},
               {"residual_p95_ns", "P95", ColumnKind::duration, Readers::some},
               {"bound_ns", "Bound", ColumnKind::duration},
               {"is_used", "Used", ColumnKind::text},
               {"path", "File", ColumnKind::text, Readers::some}});
  for (const RunFile& file : run.files) {
    if (!file.collectives) continue;
    const CollectiveEstimate& found = *file.collectives;
    table.add_row({file.rank ? Cell{*file.rank} : Cell{}, std::string(to_string(file.clock)),
                   found.shift_ns, found.residual_p50_ns, found.residual_p95_ns, found.bound_ns,
                   std::string(found.is_used ? "yes" : "no"), file.path});
  }
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
    report.notes.push_back(doubts.not_understood + ": nothing is said about that device");
  if (!run.common_clock)
    report.notes.emplace_back(
        "some files say nothing of their clock: times of different ranks cannot be compared");
  return report;
}

}  // namespace traceloom
