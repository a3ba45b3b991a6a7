// write_at: writes all of some bytes at a place of an open file.
//
//   offset = write_at(descriptor, "merged.json", offset, bytes);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom {

// Returns the offset behind the bytes. Throws Error with `name` as the path.
std::uint64_t write_at(int descriptor, const std::string& name, std::uint64_t offset,
                       std::string_view bytes);

}  // namespace traceloom
