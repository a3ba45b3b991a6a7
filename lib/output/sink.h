// Sink: takes output bytes. They are safe only after close() has returned without an exception.
#pragma once

#include <string_view>

namespace traceloom {

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

 protected:
  Sink() = default;
};

}  // namespace traceloom
