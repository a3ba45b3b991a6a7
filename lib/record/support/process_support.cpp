#include "record/support/process_support.h"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace traceloom::record {

void keep_forever(const void* object) noexcept {
  try {
    static auto& kept = *new std::vector<const void*>;  // never destroyed
    kept.push_back(object);
  } catch (...) {
    return;  // no memory: only a checker for leaks misses it
  }
}

void tell(const std::function<void(const std::string&)>& log, const std::string& line) noexcept {
  try {
    if (log) log(line);
  } catch (...) {
    return;
  }
}

void check_own_file(const std::string& path, const struct stat& info) {
  if (S_ISLNK(info.st_mode)) throw ForeignFile(path, "is a link, and links are not followed");
  if (!S_ISREG(info.st_mode)) throw ForeignFile(path, "is no regular file");
  if (info.st_uid != geteuid())
    throw ForeignFile(
        path, fmt::format("belongs to user {}, and this is user {}", info.st_uid, geteuid()));
  if (info.st_nlink > 1)
    throw ForeignFile(path, "has a second name (a hard link), so that it may be any file");
}

bool lock_for_process(int file, const std::string& path) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  if (fcntl(file, F_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  throw system_error(path, errno);
}

}  // namespace traceloom::record
