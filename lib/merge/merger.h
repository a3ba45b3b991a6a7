// merge_traces(): merges many traces into one, on one clock.
//
//   MergeOptions options;
//   options.inputs = expand_inputs({"traces/"});
//   options.output = "merged.json";
//   MergeSummary summary = merge_traces(options);
#pragma once

#include "merge/options/merge_options.h"

namespace traceloom {

// Time: one pass over the inputs, if samples of them say what has to be known before the first
// event is written (survey_visitor.h; packed inputs are unpacked twice for that). Two passes are
// needed
//
// - if the output cannot be written anew (stdout, a pipe),
// - if an input was merged before, or the samples have misled,
// - for a perfetto_tar, which reads files that were merged before once more a rank.
//
// A filter that asks for more than whole ranks takes three passes: which events belong together has
// to be known before any of them is written.
//
// Memory: about 10 MiB a thread whatever the size of the inputs, plus their tracks, odd ids and
// begin events that stay open, plus the largest single event, and with a filter some 24 bytes a
// flow event.
//
// The same bytes come out for any number of threads, and of processes that merge together
// (MergeOptions::team), which have to share the output's file system. After an exception the old
// output is untouched.
//
// Throws UsageError, before anything is opened for writing, if the output is one of the inputs or
// an input is a pipe other than stdin (inputs are read twice; stdin is copied). Throws Error for an
// input that is no trace (unless keep_going), that cannot be read or changes meanwhile, and for the
// output.
MergeSummary merge_traces(const MergeOptions& options);

}  // namespace traceloom
