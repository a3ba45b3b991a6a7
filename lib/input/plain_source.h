// PlainSource: reads a file, a pipe or stdin without any conversion.
//
//   PlainSource source("rank3.json");   // "-" is stdin
//
// A plain read() is as fast as a mapping here, because the text is read once and is in the cache
// then (two threads of a merge: 0.256 s, mapped 0.269). And if a file shrinks meanwhile, read()
// ends the data, while a mapping would end the process.
#pragma once

#include "input/byte_source.h"
#include "input/file_watch.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace traceloom {

// Returns the name of an input for messages: "stdin" for "-", otherwise the path itself.
std::string input_name(const std::string& path);

// Allows opening "-" more than once. A stdin that is no file is copied to a temporary file in
// $TMPDIR or /tmp, which has no name and disappears with the process. Throws Error if there is no
// room for it.
void make_stdin_rereadable();

class PlainSource : public ByteSource {
 public:
  // Throws Error if the path cannot be opened or is a directory, or if `watch` has seen another
  // file there.
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
