// NotedGroup: a process group as the header of a file has it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

// An element of distributedInfo.pg_config.
struct NotedGroup {
  std::string name;
  std::string description;
  std::vector<std::int64_t> ranks;  // ascending; empty: all ranks of the job

  friend auto operator<=>(const NotedGroup&, const NotedGroup&) = default;
};

}  // namespace traceloom
