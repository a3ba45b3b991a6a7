// ByteSource: the uncompressed text of one input, piece by piece.
//
//   std::unique_ptr<ByteSource> source = open_input("rank3.json.gz");
//   std::vector<char> buffer(1 << 20);
//   while (std::size_t n = source->read(buffer)) use(buffer.data(), n);
//
// To read another compression: subclass it (gzip_source.h shows how), and let open.cpp know its
// magic.
#pragma once

#include "base/problems.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace traceloom {

// Not thread-safe; may be used from one thread after another (a pipeline's serial stage).
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills `buffer` from the front and returns how many bytes it holds now; fewer than asked only at
  // the end of the input, 0 when nothing is left. Throws Error when the input cannot be read (EIO,
  // a directory, ...). Damage that leaves something to read (a cut or corrupt gzip) ends the data
  // instead and is counted in problems().
  virtual std::size_t read(std::span<char> buffer) = 0;

  // Throws Error when the file is no longer what it was when it was opened: what has been read may
  // be of both. For who opens inputs with a FileWatch, when all that is wanted has been read.
  virtual void check_unchanged() const {}

  // What was wrong with the bytes read so far; offsets count in the uncompressed text.
  virtual const ProblemCounts& problems() const = 0;

  // Bytes consumed of, and size of, the file as it lies on disk; for progress. Size is unknown for
  // pipes.
  virtual std::uint64_t stored_bytes_read() const = 0;
  virtual std::optional<std::uint64_t> stored_size() const = 0;

 protected:
  ByteSource() = default;
};

}  // namespace traceloom
