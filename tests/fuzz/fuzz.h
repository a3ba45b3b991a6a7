// What the fuzzers share. libFuzzer calls LLVMFuzzerTestOneInput() with one input after another.
//
//   require(is_strict_json(text));                // a finding if it is not
//   MemoryFile file(text);  read(file.path());
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace traceloom {

// Ends the process like any other finding.
inline void require(bool holds) {
  if (!holds) std::abort();
}

// A file without a disk, for readers that want a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0 ||
        write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("no memory for a file");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace traceloom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
