// A disk of a few pages, which is full soon: a real one, where the process may mount.
//
//   run_child([&] {
//     if (!mount_small_disk(folder.path(), 96 << 10)) _exit(kNoSmallDisk);
//     ...
//   });
#pragma once

#include <sched.h>
#include <string>
#include <sys/mount.h>

namespace traceloom {

inline constexpr int kNoSmallDisk = 89;

// Mounts the disk for this process alone; it disappears with the process.
inline bool mount_small_disk(const std::string& folder, unsigned bytes) {
  if (unshare(CLONE_NEWNS) != 0) return false;
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  const std::string size = "size=" + std::to_string(bytes);
  return mount("tmpfs", folder.c_str(), "tmpfs", 0, size.c_str()) == 0;
}

}  // namespace traceloom
