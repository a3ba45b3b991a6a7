// Replacement: a hidden file next to a target, which replaces the target or is removed.
//
//   Replacement replacement("merged.json", target, std::nullopt);
//   write(replacement.descriptor(), ...);
//   replacement.complete();
//   replacement.replace_target();
#pragma once

#include "output/temporary_files.h"

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>

namespace traceloom {

// The file is called `.NAME.traceloom-PID.tmp` and stays locked (flock) while its process writes
// it. By the lock, the next process that writes the same target recognises, and removes, the file
// of a killed process. It removes only regular files with such a name, of the same owner, that are
// not locked, and none on a file system without locks.
class Replacement {
 public:
  // Creates the file with `mode`, or 0666 less the umask: other users never have more permissions
  // than on the final file. Throws Error with `path`, the user's name for the target.
  Replacement(std::string path, std::filesystem::path target, std::optional<mode_t> mode);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  // Valid until complete().
  int descriptor() const { return descriptor_; }
  // The path of the hidden file.
  const std::string& temporary() const { return temporary_; }
  // Closes the descriptor and keeps the lock. Some file systems report only now that there was no
  // room.
  void complete();
  void replace_target();

 private:
  void create(std::optional<mode_t> mode);

  std::string path_;
  std::filesystem::path target_;
  std::string temporary_;
  int descriptor_ = -1;
  int lock_ = -1;
  std::optional<TemporaryFileEntry> entry_;
  bool done_ = false;
};

// Returns the folder of `target`, "." for a name alone.
std::filesystem::path folder_of(const std::filesystem::path& target);

}  // namespace traceloom
