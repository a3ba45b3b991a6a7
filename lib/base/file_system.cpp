#include "base/file_system.h"

#include <cstdlib>
#include <fcntl.h>

namespace traceloom {

std::string temporary_folder() {
  const char* const folder = std::getenv("TMPDIR");
  return folder == nullptr || *folder == '\0' ? "/tmp" : folder;
}

Descriptor open_unnamed_file(const std::string& folder) {
  Descriptor unnamed(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (unnamed >= 0) return unnamed;
  // Some file systems do not support O_TMPFILE.
  std::string path = folder + "/.traceloom.XXXXXX";
  Descriptor named(mkostemp(path.data(), O_CLOEXEC));
  if (named >= 0) unlink(path.c_str());
  return named;
}

}  // namespace traceloom
