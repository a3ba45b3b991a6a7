// SeekableFile: reads any part of a regular file.
//
//   if (std::optional<SeekableFile> file = SeekableFile::open("rank3.json"))
//     std::string last = file->read(file->size() - 4096, 4096);
#pragma once

#include "input/file_watch.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace traceloom {

class SeekableFile {
 public:
  // Returns nullopt if the file cannot be opened or is not a regular file. Throws Error if `watch`
  // has seen another file there.
  static std::optional<SeekableFile> open(const std::string& path, FileWatch* watch = nullptr);
  ~SeekableFile();
  SeekableFile(SeekableFile&& other) noexcept;
  SeekableFile& operator=(SeekableFile&&) = delete;

  std::uint64_t size() const { return size_; }
  // Returns a shorter text at the end of the file, or if the file cannot be read.
  std::string read(std::uint64_t offset, std::size_t size) const;

 private:
  SeekableFile(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}

  int descriptor_;  // -1 after a move
  std::uint64_t size_;
};

}  // namespace traceloom
