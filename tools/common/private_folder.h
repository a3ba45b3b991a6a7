// PrivateFolder: a folder of this process for files that end with it.
//
//   PrivateFolder folder;
//   merge_to(folder.path("merged.json"));
//
// Nobody else can read it. The destructor and remove_temporary_files() remove it with the files
// whose paths were asked for.
#pragma once

#include "output/temporary_files.h"

#include <list>
#include <string>

namespace traceloom {

class PrivateFolder {
 public:
  // Below $TMPDIR, or /tmp. Throws Error if it cannot be made.
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  std::string path(const std::string& name);

 private:
  std::string folder_;
  std::list<TemporaryFileEntry> entries_;
};

}  // namespace traceloom
