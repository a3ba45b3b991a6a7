// ByteSource: the uncompressed text of one input, piece by piece.
//
//   std::unique_ptr<ByteSource> source = open_input("rank3.json.gz");
//   std::vector<char> buffer(1 << 20);
//   while (std::size_t n = source->read(buffer)) use(buffer.data(), n);
//
// To support another compression, write a subclass (gzip_source.h is an example) and add its magic
// bytes to open.cpp.
#pragma once

#include "base/problems.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace traceloom {

// Several threads may use it one after another (a serial stage of a pipeline), but not at once.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills `buffer` from the front and returns the number of bytes read. The number is smaller than
  // the buffer only at the end of the input, and 0 if nothing is left. Throws Error if the input
  // cannot be read (EIO, a directory, ...). Damage that leaves something to read (a cut or corrupt
  // gzip) does not throw: it ends the data and is counted in problems().
  virtual std::size_t read(std::span<char> buffer) = 0;

  // Throws Error if the file changed since it was opened, because the bytes read may then mix two
  // versions. Callers that open inputs with a FileWatch call it after they have read all they want.
  virtual void check_unchanged() const {}

  // The problems of the bytes read so far; offsets count in the uncompressed text.
  virtual const ProblemCounts& problems() const = 0;

  // Bytes consumed of the file on disk, and its size, for progress. The size of a pipe is not
  // known.
  virtual std::uint64_t stored_bytes_read() const = 0;
  virtual std::optional<std::uint64_t> stored_size() const = 0;

 protected:
  ByteSource() = default;
};

}  // namespace traceloom
