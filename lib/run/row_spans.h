// place_row_spans: resolves spans whose meaning depends on their row. They become spans of the
// host, calls, device work or steps once the file has been read to its end and its rows have names.
//
//   place_row_spans(collected.parts, collected.row_names, {labels, tracks, details, frames});
//
// If several rows of one device show the same time (streams, ops and modules of XLA; groups and
// planes of Ascend's collectives), only the rows nearest to the device count. If spans lie in
// others, each instant counts for the innermost one.
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

// All parts belong to one file. Afterwards no part has `on_rows`.
void place_row_spans(std::vector<EventColumns>& parts, const RowNames& names, RowTexts texts);

// Gives work without a device the device in the name of its row: 17 for "MTIA 17".
void name_devices_by_rows(std::vector<EventColumns>& parts, const RowNames& names,
                          const Tracks& tracks);

}  // namespace traceloom
