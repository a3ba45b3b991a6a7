// The places where output bytes go: a sink, a place of an open file, the disk until their number is
// known, a tar archive.
#pragma once

#include "base/file_system.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace traceloom {

// Sink: takes output bytes. They are safe only after close() has returned without an exception.

// A part of a file that other processes write.
struct FileGap {
  std::string path;         // of the file while it is written
  std::uint64_t begin = 0;  // offset of the part, in bytes
};

class PackedSink;

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
  // Returns this sink if it packs what it takes, so that other threads can make its blocks.
  virtual PackedSink* packed() { return nullptr; }

 protected:
  Sink() = default;
};

// write_at: writes all of some bytes at a place of an open file.
//
//   offset = write_at(descriptor, "merged.json", offset, bytes);

// Returns the offset behind the bytes. Throws Error with `name` as the path.
std::uint64_t write_at(int descriptor, const std::string& name, std::uint64_t offset,
                       std::string_view bytes);

// SpoolFile: stores bytes on disk until their number is known, or because they do not fit into
// memory.
//
//   SpoolFile spool("merged.tar");              // in the folder of merged.tar
//   spool.open_sink()->write(text);
//   sink.write(tar_header("a", spool.size()));
//   spool.for_each_piece([&](std::string_view piece) { sink.write(piece); });

// The file has no name and disappears with the process, however the process ends. Not thread-safe.
// All functions throw Error with "temporary file for OUTPUT" as the path.
class SpoolFile {
 public:
  // Creates the file in the folder of `output`; for stdout ("-") and anything but a regular file,
  // in $TMPDIR or /tmp.
  explicit SpoolFile(const std::string& output);

  // Returns a sink that writes to the end of the file; its close() does nothing. The SpoolFile must
  // outlive the sink.
  std::unique_ptr<Sink> open_sink();
  std::uint64_t size() const { return size_; }
  // Appends `bytes` to the file.
  void write(std::string_view bytes);
  // Reads all of [offset, offset + size), which must have been written.
  void read(std::uint64_t offset, char* to, std::size_t size) const;
  void for_each_piece(const std::function<void(std::string_view)>& use) const;

 private:
  class Writer;

  std::string name_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

// Writes tar archives (POSIX ustar) in pieces: a header, the bytes of the file, padding; tar_end()
// last.
//
//   sink.write(tar_header("rank0.json", text.size()));
//   sink.write(text);
//   sink.write(tar_padding(text.size()));
//
// The archive is the same in every run: it holds no times and no owners. A size of 8 GiB or more is
// written in base 256, as GNU tar, BSD tar and Perfetto read it.

// Returns the header of a regular file that everybody may read. `name` has at most 100 bytes.
std::string tar_header(std::string_view name, std::uint64_t size);

// Returns the zeros between a file of that size and the next header.
std::string_view tar_padding(std::uint64_t size);

std::string_view tar_end();

}  // namespace traceloom
