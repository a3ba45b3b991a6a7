// OpsOptions: what tells the rows of a table of operators apart.
#pragma once

namespace traceloom {

// The properties that separate rows. The run must have been read with details; shape and arguments
// need one that was read with arguments.
struct OpsOptions {
  bool by_name = true;
  bool by_type = false;       // the kind of work: gemm, attention, ...; see work_type.h
  bool by_shape = false;      // the shapes of its arguments
  bool by_arguments = false;  // their types, strides and values as well
  bool by_thread = false;
  bool by_rank = false;
};

}  // namespace traceloom
