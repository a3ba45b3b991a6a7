// prepare_folder(), folder_of(): the folder that the trace files of a run go to, and what may be in
// it when the run begins.
//
//   TraceNames names;                              // "{run_name}/traces", "ep{epoch}-...json"
//   const RunIdentity run{default_run_name(), find_place({})};
//   prepare_folder(names, run);                    // creates it, refuses that of another run
//   options.folder = folder_of(names, run);
#pragma once

#include "record/names/name_template.h"

#include <string>

namespace traceloom::record {

enum class OverwriteTraces : std::uint8_t { no, yes };

struct TraceNames {
  std::string folder = std::string(kDefaultFolder);
  std::string file = std::string(kDefaultFileName);
  std::string merged = std::string(kDefaultMergedName);  // "": no merged file
};

// Creates the folder. Without OverwriteTraces::yes, it may hold only hidden files and files that
// another rank of this run can have written by now. So no rank has to wait for another, and all
// ranks together refuse whatever an earlier run left. With OverwriteTraces::yes, everything in it
// stays as it is.
//
// Throws std::invalid_argument if the names are the same for several ranks, which would then write
// one file, and std::runtime_error: "run/traces: is not empty (ep0-ba5-rank0.json): ...".
void prepare_folder(const TraceNames& names, const RunIdentity& run,
                    OverwriteTraces overwrite = OverwriteTraces::no);

std::string folder_of(const TraceNames& names, const RunIdentity& run);

}  // namespace traceloom::record
