// write_end(): writes what stands after the events of a merge, and replaces the output.
//
//   const MergeSummary summary = write_end(options, inputs, visitor, output);
#pragma once

#include "merge/options/merge_options.h"
#include "merge/options/merge_summary.h"
#include "merge/order/merge_output.h"
#include "merge/passes/merge_inputs.h"
#include "merge/write/write_visitor.h"

namespace traceloom {

// `visitor` has written all files, or has taken the parts of those that have.
MergeSummary write_end(const MergeOptions& options, const MergeInputs& inputs,
                       WriteVisitor& visitor, MergeOutput& output);

}  // namespace traceloom
