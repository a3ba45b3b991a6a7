// Writes tar archives (POSIX ustar) in pieces: a header, the bytes of the file, padding; tar_end()
// last.
//
//   sink.write(tar_header("rank0.json", text.size()));
//   sink.write(text);
//   sink.write(tar_padding(text.size()));
//
// The archive is the same in every run: it holds no times and no owners. A size of 8 GiB or more is
// written in base 256, as GNU tar, BSD tar and Perfetto read it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom {

// Returns the header of a regular file that everybody may read. `name` has at most 100 bytes.
std::string tar_header(std::string_view name, std::uint64_t size);

// Returns the zeros between a file of that size and the next header.
std::string_view tar_padding(std::uint64_t size);

std::string_view tar_end();

}  // namespace traceloom
