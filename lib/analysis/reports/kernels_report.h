// `trace-stats kernels`: shows the kernels that take the time of the devices.
#pragma once

#include "analysis/report.h"

namespace traceloom {

// The properties that separate the rows of a table of kernels. All except name, type and rank need
// a run that was read with details, shape and arguments one that was read with arguments.
struct KernelsOptions {
  bool by_name = true;
  bool by_type = false;       // the kind of work: gemm, attention, ...; see work_names.h
  bool by_operator = false;   // the operator that launched it
  bool by_shape = false;      // the shapes of that operator's arguments
  bool by_arguments = false;  // their types, strides and values as well
  bool by_launch = false;     // grid, block, registers, shared memory
  bool by_stream = false;     // device and stream
  bool by_rank = false;
};

// The rows are sorted by total. Columns of properties that do not separate rows are left out.
// tensor_core_share, also that in "totals", covers only kernels whose names show whether they use
// tensor cores, and is null if none does; unknown_share is the share of the others. A short kernel
// takes less than 10 us. Blocks per SM and occupancy are means by duration. Shares refer to the
// time of all kernels, gpu_share to the time from the first to the last work of all devices, for
// each recording.
Report kernels_report(const Run& run, const KernelsOptions& options);

}  // namespace traceloom
