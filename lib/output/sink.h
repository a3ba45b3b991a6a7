// Sink: takes output bytes. They are safe only after close() has returned without an exception.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace traceloom {

// A part of a file that other processes write.
struct FileGap {
  std::string path;         // of the file while it is written
  std::uint64_t begin = 0;  // offset of the part, in bytes

  template <typename Wire>
  void wire(Wire& wire) {
    wire(path, begin);
  }
};

// Destruction without close() abandons the output: a FileSink leaves the old file
// unchanged and removes its temporary file.
class Sink {
 public:
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Throws Error (ENOSPC, EPIPE, ...) with the name of the output.
  virtual void write(std::string_view bytes) = 0;
  // Flushes everything, so that only the last step of close() can still fail. No write() may
  // follow.
  virtual void complete() = 0;
  // Completes the output and makes it appear under its name. Call it once, as the last function.
  virtual void close() = 0;
  // Leaves out `bytes`, which other processes write into the file by its path before complete().
  // Only files that open_file_sink() writes aside have gaps.
  virtual FileGap leave_gap(std::uint64_t bytes) {
    static_cast<void>(bytes);
    throw std::logic_error("this output is no file that others can write to");
  }

 protected:
  Sink() = default;
};

}  // namespace traceloom
