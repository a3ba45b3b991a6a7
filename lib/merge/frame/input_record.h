// What a merge notes of an input, so that the two are known to hold the same events where they come
// together again (held_inputs.h).
//
//   write_tally_or_inputs(json, survey.evidence, rank, plan.clock);
#pragma once

#include "clock/alignment.h"
#include "identity/evidence/file_evidence.h"
#include "output/json_writer.h"

#include <cstdint>

namespace traceloom {

// The key "tally": {"events", "first_ns", "last_ns", "sum_ns", "lengths_ns", "first_event"} of the
// whole file (event_tally.h), if it has any, and "stamps": [{"rank", "tid", "sync_us"}] of that
// rank where Composer has written it (composer_stamps.h), with "has_several_ranks" where its merger
// has. Of an input that was merged by us the key "inputs": what it has noted of its own inputs of
// that rank, [{"path", "evidence", "method", "offset_ns", "events", "tally", "stamps",
// "has_several_ranks", "is_part"}].
void write_tally_or_inputs(JsonWriter& json, const FileEvidence& evidence, std::int64_t rank,
                           const FileClock& clock);

}  // namespace traceloom
