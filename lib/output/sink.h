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

// Compressed output: the libraries that compress blocks, and the sink that joins them into one
// file.

// Deflater: compresses text into independent blocks of raw deflate data, with the library that the
// build has.
//
//   std::unique_ptr<Deflater> deflater = make_zlib_deflater();
//   deflater->append_block(text, 6, deflated);

// The most text that a Deflater takes at once: the libraries count in 32 bits, and it holds memory
// of that size.
inline constexpr std::size_t kMaxDeflateBytes = std::size_t{16} << 20;

// Compresses one block after another. Not thread-safe: use one a thread.
class Deflater {
 public:
  virtual ~Deflater() = default;
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  // Appends to `out` a byte-aligned piece of a deflate stream. The piece is not the end of the
  // stream and refers to no earlier data. `text` has at most kMaxDeflateBytes. The bytes depend
  // only on text and level.
  virtual void append_block(std::string_view text, int level, std::string& out) = 0;
  // Returns the CRC-32 of the bytes whose CRC is `crc`, followed by `text`; 0 is the CRC of no
  // bytes.
  virtual std::uint32_t crc32(std::uint32_t crc, std::string_view text) const = 0;

 protected:
  Deflater() = default;
};

// Supports levels 1-3. Returns null in a build without ISA-L. Reserves 4 GiB of address space for a
// moment; where it is limited to less (ulimit -v), addresses may decide about bytes of levels 1-2.
std::unique_ptr<Deflater> make_isal_deflater();
// Supports levels 1-9.
std::unique_ptr<Deflater> make_zlib_deflater();

// PackedSink: gzip or zstd output whose blocks any thread compresses and one thread joins, in
// order.
//
//   PackedSink sink(open_file_sink("merged.json.gz"), Packing::gzip, 1);
//   CompressedBlock block = sink.compress(text);       // in any thread
//   sink.write_block(block);                           // in order
//   sink.close();
//
// A gzip file is ONE member because viewers inflate only the first one (pako in catapult) or give
// wrong data for the second (fflate). A block ends in a full flush, so blocks are independent;
// blocks of 1 MB cost less than 0.1 % in ratio with ISA-L and 0.6 % with zlib. A block of zstd is
// frames of its own, with their size and checksum, so that readers unpack several at once.

enum class Packing : std::uint8_t { none, gzip, zstd };

// Returns what a name asks for: gzip for .gz and .tgz, zstd for .zst, in letters of any case.
Packing packing_of_name(std::string_view path);

struct CompressedBlock {
  // Whole frames of zstd; of gzip, raw deflate data: byte aligned, not final, without references to
  // earlier data.
  std::string packed;
  std::uint32_t crc32 = 0;  // CRC-32 of the text; of gzip only
  std::uint64_t text_size = 0;
};

// The levels of both.
inline constexpr int kMinLevel = 1;
inline constexpr int kMaxLevel = 9;
inline constexpr std::size_t kPackedBlockBytes = std::size_t{1} << 20;

// Returns `level`, or for 0 the one that is worth its time: 1 of gzip, 3 of zstd.
int level_or_default(int level, Packing packing);

// Compresses `text`; thread-safe. Of gzip, levels 1-3 are ISA-L's levels of the same number if the
// build has ISA-L, otherwise zlib's; levels 4-9 are zlib's. ISA-L's level 1 does 1.8 GB/s a core
// and 13:1 on traces. Its level 3 takes 3 times as long for a size that is sometimes no smaller;
// its level 0 is for recorders only. On one type of machine, the same text and level give the same
// bytes, whatever was compressed before.
//
// Each thread keeps its compressor and a buffer, a few MB; a block holds only its data.
CompressedBlock compress_block(std::string_view text, int level, Packing packing = Packing::gzip);

// What stands before the blocks of a file and after them. `text_size` and `crc32` are those of all
// its text.
std::string_view packed_start(Packing packing);
std::string packed_end(Packing packing, std::uint32_t crc32, std::uint64_t text_size);

// Returns the CRC-32 of a text followed by that of a block.
std::uint32_t joined_crc32(std::uint32_t crc32, const CompressedBlock& block);

enum class Framing : std::uint8_t {
  whole,  // a file
  none,   // only the blocks, which write_block() of another sink joins
};

class PackedSink : public Sink {
 public:
  // `packing` is not `none`; `level` 0 is the default.
  PackedSink(std::unique_ptr<Sink> target, Packing packing, int level,
             Framing framing = Framing::whole);

  // Gathers text into blocks of kPackedBlockBytes and compresses them in the calling thread.
  void write(std::string_view bytes) override;
  // Makes a block of the text as write() does. Thread-safe.
  CompressedBlock compress(std::string_view text) const {
    return compress_block(text, level_, packing_);
  }
  // Appends a block that was compressed elsewhere, after the text that write() has gathered.
  void write_block(const CompressedBlock& block);
  void complete() override;
  void close() override;
  FileGap leave_gap(std::uint64_t bytes) override;
  // Counts text whose blocks others write into a gap; `counted.packed` is not used.
  void count_elsewhere(const CompressedBlock& counted);
  PackedSink* packed() override { return this; }

  // CRC-32 (gzip) and size of all text up to close().
  std::uint32_t crc32() const { return crc32_; }
  std::uint64_t text_size() const { return text_size_; }

 private:
  void flush_pending();
  void append(const CompressedBlock& block);

  std::unique_ptr<Sink> target_;
  Packing packing_;
  int level_;
  Framing framing_;
  std::string pending_;
  std::uint32_t crc32_ = 0;
  std::uint64_t text_size_ = 0;
  bool is_complete_ = false;
};

// Returns `sink`, or a PackedSink on it if the name asks for one; `level` 0 is the default.
std::unique_ptr<Sink> pack_by_name(std::unique_ptr<Sink> sink, std::string_view path, int level = 0,
                                   Framing framing = Framing::whole);

}  // namespace traceloom
