// PlainSource: a file, a pipe or stdin as it is.
//
//   PlainSource source("rank3.json");   // "-" is stdin
//
// Plain read() is as fast as a mapping here: the text is looked at once, and is in the cache then
// (two threads of a merge: 0.256 s, mapped 0.269). And a file that shrinks meanwhile ends the data
// instead of the process.
#pragma once

#include "input/byte_source.h"
#include "input/file_watch.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace traceloom {

// "stdin" for "-", else the path itself: how an input is called in messages.
std::string input_name(const std::string& path);

// Lets "-" be opened more than once: a stdin that is no file is copied to a temporary one in
// $TMPDIR or /tmp, which has no name and goes with the process. Throws Error when there is no room
// for it.
void make_stdin_rereadable();

class PlainSource : public ByteSource {
 public:
  // Throws Error when the path cannot be opened or is a directory, or `watch` has seen another file
  // there.
  explicit PlainSource(const std::string& path, FileWatch* watch = nullptr);
  ~PlainSource() override;

  std::size_t read(std::span<char> buffer) override;
  void check_unchanged() const override;
  const ProblemCounts& problems() const override { return problems_; }
  std::uint64_t stored_bytes_read() const override { return bytes_read_; }
  std::optional<std::uint64_t> stored_size() const override { return size_; }

 private:
  std::string path_;
  FileWatch* watch_;
  int descriptor_;
  std::uint64_t bytes_read_ = 0;
  std::optional<std::uint64_t> size_;
  ProblemCounts problems_;
};

}  // namespace traceloom
