// --recover: before a merge, makes trace files of the journals that killed processes left.
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
  // The inputs of the merge: the arguments without the folders that hold no trace, and the
  // recovered traces that no argument stands for. If that leaves none, all arguments.
  std::vector<std::string> arguments;
  // Lines to print: one for each journal, or one that says that there is none, and one for each
  // folder that is left out and held no journal either.
  std::vector<std::string> notes;
  std::vector<std::string> problems;  // lines to print as warnings, one for each of `kept`
  std::vector<KeptJournal> kept;
  bool has_nothing = false;  // nothing is to be merged, and no problem is the reason
};

// Looks for journals in the folders among `arguments` and in the folders below them. It skips
// hidden folders, follows no links to folders, and leaves the journals of living processes alone.
// It deletes the journals that it has used. The traces that they complete have to be in one of
// these folders, too. Throws UsageError if no argument is a folder.
RecoveredInputs recover_inputs(const std::vector<std::string>& arguments);

}  // namespace traceloom
