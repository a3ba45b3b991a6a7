// Spans that only their row tells what they are: they become spans of the host, calls, device work
// or steps once the file has been read to its end and its rows have names.
//
//   place_row_spans(collected.parts, collected.row_names, {labels, tracks, details, frames});
//
// Where rows of one device tell the same time (streams, ops and modules of XLA; groups and planes
// of Ascend's collectives), those nearest to the device count, and of spans that lie in others each
// instant counts for the innermost one.
#pragma once

#include "base/string_table.h"
#include "identity/evidence/row_names.h"
#include "run/event_columns.h"

#include <vector>

namespace traceloom {

struct RowTexts {
  Labels& labels;
  const Tracks& tracks;
  StringTable& details;
  bool frames = false;  // WantedColumns::frames
};

// All parts are of one file. None has `on_rows` then.
void place_row_spans(std::vector<EventColumns>& parts, const RowNames& names, RowTexts texts);

// Work that does not say its device is of the one whose name its row has: 17 of "MTIA 17".
void name_devices_by_rows(std::vector<EventColumns>& parts, const RowNames& names,
                          const Tracks& tracks);

}  // namespace traceloom
