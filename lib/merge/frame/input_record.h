// write_tally_or_inputs(): what a merge notes of an input. If the merge and the input are ever read
// together, the note shows that they hold the same events (held_inputs.h).
//
//   write_tally_or_inputs(json, survey.evidence, rank, plan.clock);
#pragma once

#include "clock/alignment.h"
#include "identity/evidence/file_evidence.h"
#include "output/json_writer.h"

#include <cstdint>

namespace traceloom {

// Writes the key "tally": {"events", "first_ns", "last_ns", "sum_ns", "lengths_ns", "first_event"}
// of the whole file (event_tally.h), if it has events, and "stamps": [{"rank", "tid", "sync_us"}]
// of that rank if Composer has written the file (composer_stamps.h), with "has_several_ranks" if
// Composer's merger has. For an input that was merged by us it writes the key "inputs" instead:
// what that merge has noted of its own inputs of that rank, [{"path", "evidence", "method",
// "offset_ns", "events", "tally", "stamps", "has_several_ranks", "is_part"}].
void write_tally_or_inputs(JsonWriter& json, const FileEvidence& evidence, std::int64_t rank,
                           const FileClock& clock);

}  // namespace traceloom
