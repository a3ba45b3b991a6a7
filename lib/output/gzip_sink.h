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
#pragma once

#include "output/sink.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace traceloom {

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
