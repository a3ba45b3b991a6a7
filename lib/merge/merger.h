// merge_traces: many traces into one, on one clock.
//
//   MergeOptions options;
//   options.inputs = expand_inputs({"traces/"});
//   options.output = "merged.json";
//   MergeSummary summary = merge_traces(options);
#pragma once

#include "merge/options/merge_options.h"
#include "merge/options/merge_summary.h"

namespace traceloom {

// Time: one pass over the inputs where samples of them tell what has to be known before the first
// event is written (survey_guess.h; packed inputs are unpacked twice for that); two for an output
// that cannot be written anew (stdout, a pipe), for inputs that were merged before, where the
// samples have misled, and for a perfetto_tar (there of files that were merged before one more a
// rank). A filter that asks for more than whole ranks takes three: what belongs together has to be
// known before any of it is written.
//
// Memory: about 10 MiB a thread whatever the size of the inputs, plus their tracks, odd ids and
// begin events that stay open, with a filter some 24 bytes a flow event, plus the largest single
// event. The same bytes come out for any number of threads. After an exception the old output is
// untouched. Throws UsageError, before anything is opened for writing, when the output is one of
// the inputs or an input is a pipe other than stdin (inputs are read twice; stdin is copied); Error
// for an input that is no trace (unless keep_going), that cannot be read or changes meanwhile, and
// for the output.
MergeSummary merge_traces(const MergeOptions& options);

}  // namespace traceloom
