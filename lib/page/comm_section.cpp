// Communication: transfers and waiting by rank, who waits for whom, collectives by kind.
#include "analysis/reports/comm_report.h"
#include "analysis/reports/stragglers_report.h"
#include "analysis/waits/rank_waits.h"
#include "analysis/waits/step_phases.h"
#include "base/units.h"
#include "page/html/figures.h"
#include "page/sections.h"
#include "page/wait_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <variant>

namespace traceloom {
namespace {

std::int64_t number_in(const std::vector<Cell>& row, std::size_t column) {
  const auto* const number = std::get_if<std::int64_t>(&row[column]);
  return number == nullptr ? 0 : *number;
}

// The rows "(all)" of the table of times: of each rank, what moves data and what waits.
void write_transfers(HtmlWriter& html, const PageSource& source, const Report& report) {
  const auto found = std::find_if(report.tables.begin(), report.tables.end(),
                                  [](const ReportTable& part) { return part.key == "times"; });
  if (found == report.tables.end()) return;
  const Table& table = found->table;
  const auto rank = table.find_column("rank");
  const auto busy = table.find_column("busy_ns");
  const auto transfer = table.find_column("transfer_ns");
  const auto waiting = table.find_column("waiting_ns");
  const auto collective = table.find_column("collective");
  if (!rank || !busy || !transfer || !waiting || !collective) return;
  std::vector<const std::vector<Cell>*> rows;
  std::int64_t room_ns = 1;
  for (const std::vector<Cell>& row : table.rows()) {
    const auto* const name = std::get_if<std::string>(&row[*collective]);
    if (name == nullptr || *name != "(all)") continue;
    rows.push_back(&row);
    room_ns = std::max(room_ns, number_in(row, *busy));
  }
  if (rows.empty()) return;
  const std::size_t most = source.room(kMostBars);
  std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) {
    return rows.size() > most && number_in(*a, *busy) > number_in(*b, *busy);
  });
  rows.resize(std::min(rows.size(), most));
  std::vector<Bar> bars;
  bars.reserve(rows.size());
  for (const auto* const row : rows)
    bars.push_back({fmt::format("rank {}", number_in(*row, *rank)),
                    format_duration(number_in(*row, *busy)),
                    {time_part("transfer", "transfer", number_in(*row, *transfer), room_ns),
                     time_part("waiting", "waiting", number_in(*row, *waiting), room_ns)}});
  html.element("h3", "Moving data and waiting, by rank");
  write_command(html, source, "comm --table times");
  write_legend(html, {"transfer", "waiting"});
  write_stacked_bars(html, "Time in collectives of each rank", bars);
}

}  // namespace

void write_comm_section(HtmlWriter& html, const PageSource& source) {
  const Report stragglers = stragglers_report(source.run);
  for (const std::string& line : stragglers.headline) html.element("p", line);
  const Report comm = comm_report(source.run, {});
  write_transfers(html, source, comm);
  const std::vector<RankRoles> roles = find_main_roles(source.run);
  write_wait_matrix(html, source, find_waits(source.run, roles));
  write_tables(html, source, stragglers,
               {.command = "stragglers", .caption = "Who comes late, by rank"});
  write_tables(html, source, comm, {.command = "comm", .caption = "Collectives by kind"});
}

}  // namespace traceloom
