// SpoolFile: stores bytes on disk until their number is known, or because they do not fit into
// memory.
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

// The file has no name and disappears with the process, however the process ends. Not thread-safe.
// All functions throw Error with "temporary file for OUTPUT" as the path.
class SpoolFile {
 public:
  // Creates the file in the folder of `output`; for stdout ("-") and anything but a regular file,
  // in $TMPDIR or /tmp.
  explicit SpoolFile(const std::string& output);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  // Returns a sink that writes to the end of the file; its close() does nothing. The SpoolFile must
  // outlive the sink.
  std::unique_ptr<Sink> open_sink();
  std::uint64_t size() const { return size_; }
  // Appends `bytes` to the file.
  void write(std::string_view bytes);
  // Reads all of [offset, offset + size), which must have been written.
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
