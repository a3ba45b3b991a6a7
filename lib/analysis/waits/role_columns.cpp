#include "analysis/waits/role_columns.h"

#include <array>
#include <string_view>

namespace traceloom {

std::string role_title(Role role) {
  static constexpr std::array<std::string_view, kRoleCount> kTitles{
      "Kernel", "Memcpy", "Memset", "Comm", "Runtime", "Loader", "CPU", "Host code", "Other"};
  return std::string(kTitles[static_cast<std::size_t>(role)]);
}

Readers role_readers(Role role) {
  static constexpr std::array<Readers, kRoleCount> kReaders{
      Readers::most, Readers::few,  Readers::few, Readers::most, Readers::some,
      Readers::most, Readers::most, Readers::few, Readers::some};
  return kReaders[static_cast<std::size_t>(role)];
}

}  // namespace traceloom
