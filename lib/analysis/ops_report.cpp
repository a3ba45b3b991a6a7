#include "analysis/ops_report.h"

#include "analysis/percentile.h"
#include "run/operators.h"

#include <map>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

struct OpGroup {
  std::vector<std::int64_t> times;
  std::int64_t host_total_ns = 0;
  std::int64_t host_self_ns = 0;
  std::int64_t device_total_ns = 0;
  std::int64_t device_self_ns = 0;
};

using Groups = std::map<std::pair<std::int64_t, std::string_view>, OpGroup>;

Groups group_operators(const Run& run, bool by_rank) {
  Groups groups;
  for (const RankEvents& rank : run.ranks) {
    const Operators operators(run, rank);
    for (const OperatorNode& node : operators.nodes()) {
      if (node.is_repeat) continue;
      OpGroup& group = groups[{by_rank ? rank.rank : 0, run.labels.name(node.label)}];
      group.times.push_back(node.end_ns - node.start_ns);
      group.host_total_ns += node.end_ns - node.start_ns;
      group.host_self_ns += node.host_self_ns;
      group.device_total_ns += node.device_total_ns;
      group.device_self_ns += node.device_self_ns;
    }
  }
  return groups;
}

std::vector<Column> columns_for(bool by_rank) {
  std::vector<Column> columns;
  if (by_rank) columns.push_back({"rank", "Rank", ColumnKind::count});
  const std::vector<Column> rest{{"count", "Count", ColumnKind::count},
                                 {"device_share", "Device %", ColumnKind::share},
                                 {"device_self_ns", "Device self", ColumnKind::duration},
                                 {"device_total_ns", "Device total", ColumnKind::duration},
                                 {"host_self_ns", "Host self", ColumnKind::duration},
                                 {"host_total_ns", "Host total", ColumnKind::duration},
                                 {"host_p50_ns", "Med", ColumnKind::duration},
                                 {"host_p99_ns", "P99", ColumnKind::duration},
                                 {"name", "Name", ColumnKind::text}};
  columns.insert(columns.end(), rest.begin(), rest.end());
  return columns;
}

}  // namespace

Report ops_report(const Run& run, const OpsOptions& options) {
  const Groups groups = group_operators(run, options.by_rank);
  std::int64_t device_ns = 0;
  for (const auto& [key, group] : groups) device_ns += group.device_self_ns;
  Table table(columns_for(options.by_rank));
  for (const auto& [key, group] : groups) {
    std::vector<Cell> cells;
    if (options.by_rank) cells.emplace_back(key.first);
    const Cell share =
        device_ns > 0
            ? Cell{static_cast<double>(group.device_self_ns) / static_cast<double>(device_ns)}
            : Cell{};
    cells.emplace_back(static_cast<std::int64_t>(group.times.size()));
    cells.push_back(share);
    cells.emplace_back(group.device_self_ns);
    cells.emplace_back(group.device_total_ns);
    cells.emplace_back(group.host_self_ns);
    cells.emplace_back(group.host_total_ns);
    cells.emplace_back(percentile(group.times, 50));
    cells.emplace_back(percentile(group.times, 99));
    cells.emplace_back(std::string(key.second));
    table.add_row(std::move(cells));
  }
  table.sort_by(device_ns > 0 ? "device_self_ns" : "host_self_ns");
  Report report("ops", run);
  if (groups.empty())
    report.notes.emplace_back("no operators in these traces (category cpu_op)");
  else if (device_ns == 0)
    report.notes.emplace_back("no device activity that an operator launched: host times only");
  report.tables.push_back({"rows", "", std::move(table)});
  return report;
}

}  // namespace traceloom
