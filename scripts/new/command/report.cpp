#include "analysis/reports/@NAME@_report.h"

#include "per_rank/per_rank.h"

#include <optional>
#include <utility>

namespace traceloom {
namespace {

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

Report @NAME@_report(const Run& run) {
  Table table({{"rank", "Rank", ColumnKind::count},
               {"longest_ns", "Longest", ColumnKind::duration},
               {"name", "Name", ColumnKind::text}});
  // The process that has the events of a rank makes its value; the others get it.
  using Longest = std::optional<HostSpan>;
  const auto find = [&](std::size_t rank) { return find_longest(run.ranks[rank]); };
  for_each_rank<Longest>(run, all_ranks(run), find, [&](std::size_t rank, const Longest& longest) {
    if (longest)
      table.add_row({run.ranks[rank].rank, longest->end_ns - longest->start_ns,
                     std::string(run.labels.name(longest->label))});
  });
  Report report("@COMMAND@", run);
  report.tables.push_back({"rows", "", std::move(table)});
  return report;
}

}  // namespace traceloom
