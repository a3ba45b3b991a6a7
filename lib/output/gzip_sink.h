// Gzip output: the library that compresses blocks, and the sink that joins them into one
// member.
#pragma once

#include "output/sink.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace traceloom {

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

// GzipSink: gzip output whose blocks any thread compresses and one thread joins, in order, into ONE
// member.
//
//   GzipSink sink(open_file_sink("merged.json.gz"), 1);
//   CompressedBlock block = compress_block(text, 1);   // in any thread
//   sink.write_block(block);                           // in order
//   sink.close();
//
// There is only one member because viewers inflate only the first one (pako in catapult) or give
// wrong data for the second (fflate). A block ends in a full flush, so blocks are independent;
// blocks of 1 MB cost less than 0.1 % in ratio with ISA-L and 0.6 % with zlib.

struct CompressedBlock {
  std::string
      deflated;  // raw deflate data, byte aligned, not final, without references to earlier data
  std::uint32_t crc32 = 0;  // CRC-32 of the text
  std::uint64_t text_size = 0;
};

inline constexpr int kMinGzipLevel = 1;
inline constexpr int kMaxGzipLevel = 9;
inline constexpr int kDefaultGzipLevel = 1;
inline constexpr std::size_t kGzipBlockBytes = std::size_t{1} << 20;

// Compresses `text`; thread-safe. Levels 1-3 are ISA-L's levels of the same number if the build has
// ISA-L, otherwise zlib's; levels 4-9 are zlib's. ISA-L's level 1 does 1.8 GB/s a core and 13:1 on
// traces. Its level 3 takes 3 times as long for a size that is sometimes no smaller; its level 0 is
// not offered. On one type of machine, the same text and level give the same bytes, whatever was
// compressed before.
//
// Each thread keeps its compressor and a buffer, a few MB; a block holds only its data.
CompressedBlock compress_block(std::string_view text, int level);

// True for names that ask for gzip: .gz and .tgz, in letters of any case.
bool is_gzip_name(std::string_view path);

enum class GzipFrame : std::uint8_t {
  whole,  // a gzip file
  none,   // only the deflate data, which write_block() of another sink joins
};

class GzipSink : public Sink {
 public:
  GzipSink(std::unique_ptr<Sink> target, int level, GzipFrame frame = GzipFrame::whole);

  // Gathers text into blocks of kGzipBlockBytes and compresses them in the calling thread.
  void write(std::string_view bytes) override;
  // Appends a block that was compressed elsewhere, after the text that write() has gathered.
  void write_block(const CompressedBlock& block);
  void complete() override;
  void close() override;
  FileGap leave_gap(std::uint64_t bytes) override;
  // Counts text whose deflate data others write into a gap.
  void count_elsewhere(std::uint32_t crc32, std::uint64_t text_size);

  // CRC-32 and size of all text up to close().
  std::uint32_t crc32() const { return crc32_; }
  std::uint64_t text_size() const { return text_size_; }

 private:
  void flush_pending();
  void append(const CompressedBlock& block);

  std::unique_ptr<Sink> target_;
  int level_;
  GzipFrame frame_;
  std::string pending_;
  std::uint32_t crc32_ = 0;
  std::uint64_t text_size_ = 0;
  bool is_complete_ = false;
};

}  // namespace traceloom
