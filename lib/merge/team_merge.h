// A merge that the processes of a team write together, and the end of the output, which each
// merge writes alike.
#pragma once

#include "merge/options/merge_options.h"
#include "merge/order/merge_output.h"
#include "merge/passes/merge_inputs.h"
#include "merge/write/write_visitor.h"

namespace traceloom {

// write_end(): writes what stands after the events of a merge, and replaces the output.
//
//   const MergeSummary summary = write_end(options, inputs, visitor, output);

// `visitor` has written all files, or has taken the parts of those that have.
MergeSummary write_end(const MergeOptions& options, const MergeInputs& inputs,
                       WriteVisitor& visitor, MergeOutput& output);

// merge_in_team(): a merge that the processes of a team write together.
//
//   options.team = &team;
//   refuse_in_team(options);
//   const MergeSummary summary = merge_in_team(options);           // on process 0

// Throws UsageError for what only a single process can do.
void refuse_in_team(const MergeOptions& options);

// Does what merge_traces() does, with the same bytes as a result. Each process surveys some of the
// inputs, and all learn what was found and make the same plan. Then each writes a piece of the
// files: process 0 to the output, the others to a file without a name in the output's folder, from
// which they copy the piece to its place once the sizes of the pieces before it are known. The
// output has to lie on a file system that all processes share. The summary of process 0 is that of
// the whole merge; the others return an empty one.
MergeSummary merge_in_team(const MergeOptions& options);

}  // namespace traceloom
