#include "base/error.h"

#include <fmt/format.h>

#include <system_error>

namespace traceloom {

Error::Error(const std::string& path, const std::string& problem)
    : std::runtime_error(fmt::format("{}: {}", path, problem)), path_(path), problem_(problem) {}

Error::Error(const std::string& path, std::uint64_t offset_bytes, const std::string& problem)
    : std::runtime_error(fmt::format("{}: byte {}: {}", path, offset_bytes, problem)),
      path_(path),
      offset_bytes_(offset_bytes),
      problem_(problem) {}

Error system_error(const std::string& path, int error_number) {
  return {path, std::generic_category().message(error_number)};
}

}  // namespace traceloom
