#include "record/support/process_support.h"

#include <fmt/format.h>

#include <new>
#include <unistd.h>

namespace traceloom::record {
namespace {

struct Kept {
  const void* object;
  const Kept* next;
};

const Kept* last_kept = nullptr;

}  // namespace

void keep_forever(const void* object) noexcept {
  const Kept* const kept = new (std::nothrow) Kept{object, last_kept};
  if (kept != nullptr) last_kept = kept;
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

}  // namespace traceloom::record
