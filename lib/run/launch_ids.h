// Ids for calls and device work that have no `correlation`, so that all who ask for launches get
// one answer (run/launches.h).
//
//   link_launches(parts);                                // of one file, once it has been read
#pragma once

#include "run/event_columns.h"

#include <vector>

namespace traceloom {

// Gives calls and device work without a correlation the id that links them:
//
// 1. their External id, if a call and a piece of work share one: torch for ROCm writes there what
//    is the correlation for CUDA. It is then removed as an External id, because it is not that of
//    an operator. Where events have correlations, their External ids are those of operators.
// 2. otherwise the id of the arrow (ac2g) that starts at the begin of the call, and ends at the
//    begin of the work.
//
// The new ids differ from all correlations of the file. Afterwards no part has `arrows`. All parts
// belong to one file.
void link_launches(std::vector<EventColumns>& parts);

}  // namespace traceloom
