// `trace-stats ops`: shows the operators that take the time of the host and of devices.
#pragma once

#include "analysis/report.h"

namespace traceloom {

// The properties that separate the rows of a table of operators. The run must have been read with
// details; shape and arguments need one that was read with arguments.
struct OpsOptions {
  bool by_name = true;
  bool by_type = false;       // the kind of work: gemm, attention, ...; see work_names.h
  bool by_shape = false;      // the shapes of its arguments
  bool by_arguments = false;  // their types, strides and values as well
  bool by_thread = false;
  bool by_rank = false;
};

// The rows are sorted by device_self_ns, without devices by host_self_ns.
//
// Columns of properties that do not separate rows are left out. Launchers are operators that gave
// work to a device themselves; device_mean_ns and so on are statistics of that work. device_share
// and host_share refer to the own times of all operators. An operator inside one with its own name,
// which contains no other operator, is the same operator once more.
Report ops_report(const Run& run, const OpsOptions& options);

}  // namespace traceloom
