#include "common/private_folder.h"

#include "base/error.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace traceloom {

PrivateFolder::PrivateFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  folder_ = ((error ? "/tmp" : parent) / "traceloom-XXXXXX").string();
  if (mkdtemp(folder_.data()) == nullptr) throw system_error(folder_, errno);
  entries_.emplace_back(folder_);
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string PrivateFolder::path(const std::string& name) {
  std::string path = folder_ + '/' + name;
  entries_.emplace_back(path);
  return path;
}

}  // namespace traceloom
