// What --recover does before a merge: what killed processes left in journals, made trace files.
//
//   RecoveredInputs recovered = recover_inputs({"/dev/shm", "traces"});
//   inputs = expand_inputs(recovered.arguments);      // "traces", now whole
#pragma once

#include <string>
#include <vector>

namespace traceloom {

// A journal that could not be used: its events are missing.
struct KeptJournal {
  std::string path;
  std::string problem;  // why
};

struct RecoveredInputs {
  // What to merge: the arguments without folders in which no trace is, and the traces that no
  // argument stands for. All arguments when that would be none.
  std::vector<std::string> arguments;
  // A line about each journal, or one that there is none; and one about each folder that is left
  // out and held no journal either.
  std::vector<std::string> told;
  std::vector<std::string> problems;  // about each that could not be used: a line
  std::vector<KeptJournal> kept;      // those
  bool has_nothing = false;           // to merge, and nothing is wrong about that
};

// Looks in the folders among `arguments` and below them, hidden ones left out (links to folders are
// not followed). Journals of processes that live are left alone; those that were used are deleted.
// The traces that they complete have to lie in one of these folders, too.
// Throws UsageError when no argument is a folder.
RecoveredInputs recover_inputs(const std::vector<std::string>& arguments);

}  // namespace traceloom
