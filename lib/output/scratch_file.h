// ScratchFile: a file without a name, for what does not fit into memory.
//
//   ScratchFile file(".");
//   file.write(text);
//   file.read(0, 5) == text.substr(0, 5);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom {

// Its room is given back when it goes, however the process ends. Not thread-safe.
class ScratchFile {
 public:
  // In `folder`. This and write() throw Error with the reason: mostly that the disk is full.
  explicit ScratchFile(const std::string& folder);
  ~ScratchFile();
  ScratchFile(ScratchFile&& other) noexcept;
  ScratchFile& operator=(ScratchFile&& other) noexcept;

  std::uint64_t size() const { return size_; }
  // At the end.
  void write(std::string_view bytes);
  // All of [offset, offset + size), which has been written. Throws Error when the disk does not
  // give it back.
  void read(std::uint64_t offset, char* to, std::size_t size) const;

 private:
  std::string folder_;
  int descriptor_;  // -1: moved from
  std::uint64_t size_ = 0;
};

}  // namespace traceloom
