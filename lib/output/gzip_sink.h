// Gzip output: blocks compressed in parallel by anyone, joined in order into ONE member.
//
//   GzipSink sink(open_file_sink("merged.json.gz"), 1);
//   CompressedBlock block = compress_block(text, 1);   // in any thread
//   sink.write_block(block);                           // in order
//   sink.close();
//
// Why one member: viewers inflate the first member only (pako in catapult) or give wrong data on
// the second (fflate). A block ends in a full flush, so blocks are independent; 1 MB blocks cost
// less than 0.1 % in ratio with ISA-L, 0.6 % with zlib.
#pragma once

#include "output/sink.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace traceloom {

struct CompressedBlock {
  std::string
      deflated;  // raw deflate data, byte aligned, not final, looking back at nothing before it
  std::uint32_t crc32 = 0;  // of the text
  std::uint64_t text_size = 0;
};

inline constexpr int kMinGzipLevel = 1;
inline constexpr int kMaxGzipLevel = 9;
inline constexpr int kDefaultGzipLevel = 1;
inline constexpr std::size_t kGzipBlockBytes = std::size_t{1} << 20;

// Levels 1-3 are ISA-L's levels of the same number where it is installed, else zlib's; 4-9 are
// zlib's. ISA-L's level 1 does 1.8 GB/s a core and 13:1 on traces; its level 3 takes 3 times as
// long for a size that is sometimes no smaller; its level 0 is not offered. Thread-safe. Same text
// and level -> same bytes, whatever was compressed before, on one machine type.
//
// Each thread keeps its compressor and a buffer, a few MB; a block holds no more than its data.
CompressedBlock compress_block(std::string_view text, int level);

// True for names that ask for gzip: .gz and .tgz, in any case of letters.
bool is_gzip_name(std::string_view path);

enum class GzipFrame : std::uint8_t {
  whole,  // a gzip file
  none,   // the deflate data alone, to be joined to another sink's by write_block()
};

class GzipSink : public Sink {
 public:
  GzipSink(std::unique_ptr<Sink> target, int level, GzipFrame frame = GzipFrame::whole);

  // Gathers text into blocks of kGzipBlockBytes and compresses them here, in the calling thread.
  void write(std::string_view bytes) override;
  // Appends a block compressed elsewhere (after what write() has gathered).
  void write_block(const CompressedBlock& block);
  void complete() override;
  void close() override;

  // Of all text up to close().
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
