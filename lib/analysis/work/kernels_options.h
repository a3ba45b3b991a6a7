// KernelsOptions: what tells the rows of a table of kernels apart.
#pragma once

namespace traceloom {

// The properties that separate rows. All except name, type and rank need a run that was read with
// details, shape and arguments one that was read with arguments.
struct KernelsOptions {
  bool by_name = true;
  bool by_type = false;       // the kind of work: gemm, attention, ...; see work_type.h
  bool by_operator = false;   // the operator that launched it
  bool by_shape = false;      // the shapes of that operator's arguments
  bool by_arguments = false;  // their types, strides and values as well
  bool by_launch = false;     // grid, block, registers, shared memory
  bool by_stream = false;     // device and stream
  bool by_rank = false;
};

}  // namespace traceloom
