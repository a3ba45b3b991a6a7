#include "page/delta_sections.h"

#include "page/delta_figures.h"
#include "page/delta_rows.h"
#include "page/delta_table.h"
#include "page/html/html_table.h"

#include <fmt/format.h>

#include <array>

namespace traceloom {
namespace {

// A table that both sides have, and what of it is compared.
struct JoinedTable {
  std::string_view section;
  std::string_view source;  // "comm.rows"
  std::string_view caption;
  DeltaColumns columns;
};

const std::array<JoinedTable, 8>& joined_tables() {
  static const std::array<JoinedTable, 8> tables{{
      {"time",
       "steps.summary",
       "Steps of each rank",
       {{"rank", "kind", "statistic"}, {"total_ns"}}},
      {"comm",
       "comm.rows",
       "Collectives by kind",
       {{"collective", "dtype", "bytes", "group_description"},
        {"latency_ns", "wait_ns", "bus_gbps", "count"}}},
      {"comm",
       "stragglers.rows",
       "Who comes late, by rank",
       {{"rank"}, {"delay_ns_per_step", "wait_ns_per_step"}}},
      {"devices",
       "gpu.rows",
       "What each device does",
       {{"rank", "device"}, {"compute_share", "idle_share", "overlap_share", "utilization"}}},
      {"devices", "gpu.types", "Device time by type of work", {{"type"}, {"share"}}},
      {"memory",
       "memory.rows",
       "Memory by device",
       {{"rank", "device"}, {"peak_bytes", "reserved_peak_bytes"}}},
      {"memory",
       "memory.host",
       "Counters of memory",
       {{"rank", "counter", "process", "unit"}, {"most", "end"}}},
      {"memory",
       "host.rows",
       "Counters of the machine",
       {{"counter", "process", "unit", "kind"}, {"mean", "most"}}},
  }};
  return tables;
}

// Writes the tables of the section that both sides have.
void write_joined(HtmlWriter& html, const ComparisonPage& page, std::string_view section) {
  for (const JoinedTable& joined : joined_tables()) {
    if (joined.section != section) continue;
    const auto base = page.base.tables.find(std::string(joined.source));
    const auto changed = page.changed.tables.find(std::string(joined.source));
    if (base == page.base.tables.end() || changed == page.changed.tables.end()) continue;
    Table table = delta_table(base->second, changed->second, joined.columns);
    put_largest_first(table, kMostTableRows);
    const std::string command(joined.source.substr(0, joined.source.find('.')));
    write_table(html, table,
                {.caption = std::string(joined.caption) + ": base, new and delta",
                 .command = source_of(page.base).command(command) + "; " +
                            source_of(page.changed).command(command),
                 .source = std::string(joined.source),
                 .most_rows = kMostTableRows});
  }
}

}  // namespace

void write_deltas(HtmlWriter& html, const ComparisonPage& page, std::string_view section) {
  if (section == "overview") {
    write_delta_map(html, page);
  } else if (section == "time") {
    write_rank_bars(html, page);
    write_rank_roles(html, page);
    write_compared(html, page, "ranks", "How much the mean step changed, by rank");
    if (page.found.shown)
      write_compared(
          html, page, "roles",
          fmt::format("Rank {}'s mean step by role", page.found.ranks[*page.found.shown].rank));
  } else if (section == "comm") {
    write_rows_of(html, page, RowsOf::communication);
  } else if (section == "work") {
    write_compared(html, page, "rows", "");
    write_compared(html, page, "structure", "");
    write_rows_of(html, page, RowsOf::devices);
    write_operators(html, page);
  }
  write_joined(html, page, section);
}

}  // namespace traceloom
