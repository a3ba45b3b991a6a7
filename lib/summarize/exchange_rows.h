// exchange_rows: computes the rows of a summary whose spans the processes of a team have read.
//
//   RowCollector rows(by);                          // with the groups of this process
//   std::vector<SummaryRow> all = exchange_rows(team, by, rows, most, threads);   // on process 0
#pragma once

#include "summarize/summarize.h"
#include "summarize/summary_rows.h"
#include "team/team.h"

#include <cstddef>
#include <vector>

namespace traceloom {

// Returns all rows on process 0, and none on the others, in no particular order and without their
// shares. Each row is computed by the process to which the hash of its key belongs: the others send
// it the durations, so that percentiles are exact. This is done for a slice of the keys at a time,
// so the durations that are under way take a small part of the memory of those that were read.
// Throws on all processes what RowCollector throws on one of them, and UsageError for more rows
// than `most`.
std::vector<SummaryRow> exchange_rows(Team& team, SummaryGrouping by, const RowCollector& own,
                                      std::size_t most, std::size_t threads);

}  // namespace traceloom
