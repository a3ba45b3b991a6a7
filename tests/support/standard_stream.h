// Puts a descriptor in the place of stdin or stdout for the length of a test.
//
//   ReplacedStream replaced(STDIN_FILENO, descriptor);   // takes the descriptor over
#pragma once

#include <unistd.h>

namespace traceloom {

class ReplacedStream {
 public:
  ReplacedStream(int stream, int replacement) : stream_(stream), saved_(dup(stream)) {
    dup2(replacement, stream);
    close(replacement);
  }
  ~ReplacedStream() {
    dup2(saved_, stream_);
    close(saved_);
  }
  ReplacedStream(const ReplacedStream&) = delete;
  ReplacedStream& operator=(const ReplacedStream&) = delete;

 private:
  int stream_;
  int saved_;
};

}  // namespace traceloom
