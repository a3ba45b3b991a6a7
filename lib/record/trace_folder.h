// TraceFolder: the folder of a rank's trace files, what may be in it, and which of them are kept.
//
//   TraceFolder folder({.run = {"run", find_place({})}, .traces_to_keep = 3});
//   folder.prepare();                                  // creates it, refuses that of another run
//   std::string path = folder.path_at(position);       // "run/traces/ep0-ba5-rank0.json"
//   ...                                                // the file is written
//   folder.saved(position, {path});                    // deletes the oldest of more than 3
#pragma once

#include "record/name_template.h"

#include <cstdint>
#include <deque>
#include <string>
#include <sys/types.h>
#include <vector>

namespace traceloom::record {

enum class OverwriteTraces : std::uint8_t { no, yes };

inline constexpr std::int64_t kKeepAllTraces = -1;

struct TraceFolderOptions {
  RunIdentity run;
  std::string folder = std::string(kDefaultFolder);
  std::string file_name = std::string(kDefaultFileName);
  std::string merged_name = std::string(kDefaultMergedName);  // "": no merged file
  OverwriteTraces overwrite = OverwriteTraces::no;
  std::int64_t traces_to_keep = kKeepAllTraces;  // 0: each is deleted when it has been saved
};

// One save: what this process wrote in one cycle (its trace, and a merged one where it made one).
struct SavedTrace {
  TrainingPosition position;
  std::vector<std::string> paths;
};

// Not thread-safe.
class TraceFolder {
 public:
  // Throws std::invalid_argument when names do not tell the ranks of the run apart, so that they
  // would write one file, and for traces_to_keep below -1.
  explicit TraceFolder(TraceFolderOptions options);

  // Creates the folder. Without OverwriteTraces::yes it may hold nothing but hidden files and those
  // that another rank of this run can have written by now; so no rank has to wait for another. All
  // ranks together refuse whatever an earlier run left. With it files of the same names are
  // replaced, and others stay.
  //
  // Throws Error: "run/traces: is not empty (ep0-ba5-rank0.json): ...".
  void prepare() const;

  const std::string& path() const { return folder_; }
  std::string path_at(const TrainingPosition& position) const;
  std::string merged_path() const;  // "" without one

  // Notes a save whose files are complete, and deletes the files of the oldest while there are more
  // than traces_to_keep. A file that is no longer the one that was saved (replaced, by whomever) is
  // not deleted, nor is one that a later save has written again. What cannot be deleted is told by
  // `failures()` and forgotten.
  void saved(const TrainingPosition& position, const std::vector<std::string>& paths);

  // What is there now, oldest first.
  std::vector<SavedTrace> saved_traces() const;
  // Since the last call: "run/traces/ep0-ba5-rank0.json: Permission denied".
  std::vector<std::string> take_failures();

 private:
  struct File {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;
  };
  struct Saved {
    TrainingPosition position;
    std::vector<File> files;
  };

  bool may_be_there(const std::string& name) const;
  bool is_written_again(const std::string& path) const;
  void remove_file(const File& file);

  TraceFolderOptions options_;
  NameTemplate file_name_;
  std::string folder_;
  std::string merged_name_;
  std::deque<Saved> saved_;
  std::vector<std::string> failures_;
};

}  // namespace traceloom::record
