// SpoolFile: bytes that wait on disk: until it is known how many they are, or because they do not
// fit into memory.
//
//   SpoolFile spool("merged.tar");              // in the folder of merged.tar
//   spool.open_sink()->write(text);
//   sink.write(tar_header("a", spool.size()));
//   spool.for_each_piece([&](std::string_view piece) { sink.write(piece); });
#pragma once

#include "output/sink.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace traceloom {

// A file without a name, that is gone with the process however that ends. Not thread-safe. Errors
// are thrown as Error, with "temporary file for OUTPUT" as the path.
class SpoolFile {
 public:
  // Beside `output`; for stdout ("-") and what is no regular file, in $TMPDIR or /tmp.
  explicit SpoolFile(const std::string& output);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  // Writes to the end; close() does nothing. The file must outlive it.
  std::unique_ptr<Sink> open_sink();
  std::uint64_t size() const { return size_; }
  // At the end.
  void write(std::string_view bytes);
  // All of [offset, offset + size), which has been written.
  void read(std::uint64_t offset, char* to, std::size_t size) const;
  void for_each_piece(const std::function<void(std::string_view)>& use) const;
  void clear();

 private:
  class Writer;

  std::string name_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace traceloom
