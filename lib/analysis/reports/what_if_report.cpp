#include "analysis/reports/reports.h"

#include "per_rank/per_rank.h"
#include "table/columns.h"

#include <optional>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

struct Row {
  std::int64_t rank = 0;
  HostSpan span = {};
};

// WRITE: what is made of the events of a rank. This example takes its longest span.
std::optional<HostSpan> find_longest(const RankEvents& rank) {
  std::optional<HostSpan> longest;
  const auto add = [&](const HostSpan& span) {
    if (!longest || span.end_ns - span.start_ns > longest->end_ns - longest->start_ns)
      longest = span;
  };
  rank.for_each_host(add);
  rank.for_each_device(add);
  return longest;
}

}  // namespace

Report what_if_report(const Run& run) {
  // The process that has the events of a rank makes its value; the others get it.
  using Longest = std::optional<HostSpan>;
  std::vector<Row> rows;
  const auto find = [&](std::size_t rank) { return find_longest(run.ranks[rank]); };
  for_each_rank<Longest>(run, all_ranks(run), find, [&](std::size_t rank, const Longest& longest) {
    if (longest) rows.push_back({run.ranks[rank].rank, *longest});
  });
  using enum ColumnKind;
  Table table = make_table(
      rows, ColumnsOf<Row>{
                {"rank", "Rank", count, &Row::rank},
                {"longest_ns", "Longest", duration,
                 [](const Row& row) { return row.span.end_ns - row.span.start_ns; }},
                {"name", "Name", text,
                 [&run](const Row& row) { return run.labels.name(row.span.label); }}});
  Report report("what-if", run);
  report.tables.push_back({"rows", "", std::move(table)});
  return report;
}

}  // namespace traceloom
