// OpsOptions: what tells the rows of a table of operators apart.
#pragma once

namespace traceloom {

// What tells rows apart. Needs a run that was read with details; shape and arguments one that was
// read with arguments.
struct OpsOptions {
  bool by_name = true;
  bool by_type = false;       // the kind of work: gemm, attention, ...; see work_type.h
  bool by_shape = false;      // the shapes of what it was called with
  bool by_arguments = false;  // the types, strides and values as well
  bool by_thread = false;
  bool by_rank = false;
};

}  // namespace traceloom
