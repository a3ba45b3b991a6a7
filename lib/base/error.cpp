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

Error with_advice(const Error& error, const std::string& advice) {
  const std::string problem = error.problem() + "; " + advice;
  return error.offset_bytes() ? Error(error.path(), *error.offset_bytes(), problem)
                              : Error(error.path(), problem);
}

Error system_error(const std::string& path, int error_number) {
  return {path, std::generic_category().message(error_number)};
}

}  // namespace traceloom
