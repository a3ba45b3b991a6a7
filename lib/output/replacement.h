// Replacement: a hidden file beside a target, which takes the target's place or goes away.
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

// Called `.NAME.traceloom-PID.tmp`, and locked (flock) as long as its process writes it: so whoever
// writes the same target next knows, and removes, what a killed process has left of it. Only a
// regular file of that name, of the same owner, that nobody has locked goes away, and none where
// the file system knows no locks.
class Replacement {
 public:
  // Creates the file with `mode`, or 0666 less the umask: at no time may others do more with it
  // than with the file in the end. Throws Error with `path`, by which the user calls the target.
  Replacement(std::string path, std::filesystem::path target, std::optional<mode_t> mode);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  // Until complete().
  int descriptor() const { return descriptor_; }
  // Closes the descriptor, which is when some file systems say that there was no room, and keeps
  // the lock.
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

// The folder of `target`, "." for a name alone.
std::filesystem::path folder_of(const std::filesystem::path& target);

}  // namespace traceloom
