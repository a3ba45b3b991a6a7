// Sink: where output bytes go. Only close() without an exception means that they are there.
#pragma once

#include <string_view>

namespace traceloom {

// Not thread-safe. A destructor without close() abandons the output: a FileSink leaves the old file
// as it was and no temporary one.
class Sink {
 public:
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Throws Error (ENOSPC, EPIPE, ...) that names the output.
  virtual void write(std::string_view bytes) = 0;
  // Flushes all, so that only the last step of close() can still fail. Nothing is written after it.
  virtual void complete() = 0;
  // Completes and makes the output appear under its name. Call once, last.
  virtual void close() = 0;

 protected:
  Sink() = default;
};

}  // namespace traceloom
