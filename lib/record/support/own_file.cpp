#include "record/support/own_file.h"

#include <fmt/format.h>

#include <unistd.h>

namespace traceloom::record {

void check_own_file(const std::string& path, const struct stat& info) {
  if (S_ISLNK(info.st_mode)) throw ForeignFile(path, "is a link, and links are not followed");
  if (!S_ISREG(info.st_mode)) throw ForeignFile(path, "is no regular file");
  if (info.st_uid != geteuid())
    throw ForeignFile(
        path, fmt::format("belongs to user {}, and this is user {}", info.st_uid, geteuid()));
  if (info.st_nlink > 1)
    throw ForeignFile(path, "has a second name (a hard link), so that it may be any file");
}

}  // namespace traceloom::record
