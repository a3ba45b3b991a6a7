// The heat maps of the page: all steps of all ranks, and who waits for whom.
#pragma once

#include "analysis/waits/rank_waits.h"
#include "analysis/waits/step_roles.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

class HtmlWriter;
struct PageRun;
struct PageSource;

// StepGrid: all steps of all ranks as rows and columns that fit a page.
//
//   const StepGrid grid = make_step_grid(roles, waits, kMostGridCells);
//   write_step_grid(html, source, grid, verdict.named_rank);     // the heat map
//
// Ranks of a synchronous job end their steps together, so the length of a step hides who is late:
// a cell has the rank's own time, too, which is the step without waiting for other ranks. Only
// steps that count are in it. If there are more than a page has room for, a cell is one of several
// ranks, the one whose own time is furthest from the median of the step, and a column one of
// several steps, in which that is most. Where less than three ranks are known to wait for each
// other, it is the longest.

struct GridCell {
  std::int64_t total_ns = -1;  // -1: no such step
  std::int64_t own_ns = 0;
  std::size_t place = 0;  // of the rank that is shown, among those of its row
  RoleTimes roles = {};
};

struct StepGrid {
  std::vector<std::int64_t> ranks;
  std::vector<std::string> rows;      // "3", or "0-7" if ranks share a row
  std::vector<std::string> columns;   // "12", or "12-15"
  std::vector<std::string> steps;     // the one of each column that is shown: "13"
  std::vector<StepKey> keys;          // of these
  std::vector<std::int64_t> medians;  // of all ranks' own times in these; empty if there is none
  bool is_estimated = false;          // waiting is not measured by collectives
  std::size_t ranks_a_row = 1;
  std::size_t steps_a_column = 1;
  std::vector<GridCell> cells;  // row by row
};

StepGrid make_step_grid(const std::vector<RankRoles>& roles, const RankWaits& waits,
                        std::size_t most_cells);

// Makes the grids of two sides, with the same rows and columns: the ranks that both have, and of
// the steps that both have those of `shown`. A column is the step that changed most.
std::pair<StepGrid, StepGrid> make_common_grids(const std::vector<RankRoles>& base,
                                                const std::vector<RankRoles>& changed,
                                                const std::vector<StepKey>& shown,
                                                std::size_t most_cells);

// Writes the picture and its data: two bytes a cell for the length and for the own time, of the
// longest in 1/65534, one for the place of the rank, and one a role for its share of the step.
// Roles without time are left out, and the smallest if there is no room. The label of the rank
// `named` is marked.
void write_step_grid(HtmlWriter& html, const PageSource& source, const StepGrid& grid,
                     std::optional<std::int64_t> named);

// Writes the picture of how much longer each step of the new side is, and its data: two bytes a
// cell for the difference, in 1/32767 of the greatest. The grids are common ones.
void write_delta_grid(HtmlWriter& html, const StepGrid& base, const StepGrid& changed);

// write_wait_matrix: who waits for whom, rank by rank.
//
// A rank's wait in a step counts for the rank that came last in it (RankWaits::critical). If there
// are more ranks than have room, those that wait longest and those that are waited for longest are
// shown.

void write_wait_matrix(HtmlWriter& html, const PageRun& page);

}  // namespace traceloom
