#include "output/write_at.h"

#include "base/error.h"

#include <cerrno>
#include <unistd.h>

namespace traceloom {

std::uint64_t write_at(int descriptor, const std::string& name, std::uint64_t offset,
                       std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw system_error(name, errno);
    offset += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return offset;
}

}  // namespace traceloom
