#include "output/packed_sink.h"

#include "base/ascii.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <new>
#include <stdexcept>
#include <vector>
#include <zstd.h>

namespace traceloom {
namespace {

class ZlibDeflater : public Deflater {
 public:
  ZlibDeflater() = default;
  ~ZlibDeflater() override {
    if (level_ != kNoLevel) deflateEnd(&stream_);
  }
  ZlibDeflater(const ZlibDeflater&) = delete;
  ZlibDeflater& operator=(const ZlibDeflater&) = delete;

  void append_block(std::string_view text, int level, std::string& out) override {
    restart(level);
    // deflateBound() covers the whole stream; the flush adds an empty block and its alignment.
    constexpr std::size_t kFlushBytes = 16;
    const auto text_size = static_cast<uInt>(text.size());
    const std::size_t bound = deflateBound(&stream_, text_size) + kFlushBytes;
    if (buffer_.size() < bound) buffer_.resize(bound);
    // zlib's interface lacks const; it does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = text_size;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      deflate(&stream_, Z_FULL_FLUSH);
      out.append(buffer_.data(), buffer_.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  std::uint32_t crc32(std::uint32_t crc, std::string_view text) const override {
    return static_cast<std::uint32_t>(
        crc32_z(crc, reinterpret_cast<const Bytef*>(text.data()), text.size()));
  }

 private:
  static constexpr int kNoLevel = 0;

  void restart(int level) {
    if (level == level_) {
      deflateReset(&stream_);
      return;
    }
    if (level_ != kNoLevel) deflateEnd(&stream_);
    level_ = kNoLevel;
    constexpr int kRawDeflate = -MAX_WBITS;
    constexpr int kDefaultMemory = 8;
    if (deflateInit2(&stream_, level, Z_DEFLATED, kRawDeflate, kDefaultMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
    level_ = level;
  }

  z_stream stream_ = {};
  int level_ = kNoLevel;
  std::vector<char> buffer_;
};

}  // namespace

std::unique_ptr<Deflater> make_zlib_deflater() {
  return std::make_unique<ZlibDeflater>();
}

namespace {

using namespace std::string_view_literals;

constexpr int kMaxIsalLevel = 3;
// What input/zstd_source.h unpacks at once.
constexpr std::size_t kMostFrameBytes = std::size_t{4} << 20;

class ZstdCompressor {
 public:
  ZstdCompressor() {
    if (context_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  // Returns the text as frames that a reader can unpack at once.
  std::string compress(std::string_view text, int level) {
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    buffer_.resize(ZSTD_compressBound(kMostFrameBytes));
    std::string frames;
    do {
      const std::string_view piece = text.substr(0, kMostFrameBytes);
      const std::size_t size = ZSTD_compress2(context_.get(), buffer_.data(), buffer_.size(),
                                              piece.data(), piece.size());
      if (ZSTD_isError(size) != 0)
        throw std::logic_error(fmt::format("zstd: {}", ZSTD_getErrorName(size)));
      frames.append(buffer_.data(), size);
      text.remove_prefix(piece.size());
    } while (!text.empty());
    return frames;
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_{ZSTD_createCCtx()};
  std::vector<char> buffer_;
};

// All need little memory until they are used.
struct Compressors {
  std::unique_ptr<Deflater> isal = make_isal_deflater();
  std::unique_ptr<Deflater> zlib = make_zlib_deflater();
  ZstdCompressor zstd;

  Deflater& for_level(int level) const {
    return isal != nullptr && level <= kMaxIsalLevel ? *isal : *zlib;
  }
};

}  // namespace

Packing packing_of_name(std::string_view path) {
  const std::string name = to_lower(path);
  if (name.ends_with(".gz") || name.ends_with(".tgz")) return Packing::gzip;
  return name.ends_with(".zst") ? Packing::zstd : Packing::none;
}

int level_or_default(int level, Packing packing) {
  return level > 0 ? level : packing == Packing::zstd ? 3 : 1;
}

CompressedBlock compress_block(std::string_view text, int level, Packing packing) {
  assert(level <= kMaxLevel);
  thread_local Compressors compressors;
  if (packing == Packing::zstd) return {compressors.zstd.compress(text, level), 0, text.size()};
  Deflater& deflater = compressors.for_level(level);
  CompressedBlock block{{}, deflater.crc32(0, text), text.size()};
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), kMaxDeflateBytes)))
    deflater.append_block(text.substr(0, kMaxDeflateBytes), level, block.packed);
  return block;
}

std::string_view packed_start(Packing packing) {
  // Deflate, no flags, no time, no hint, unknown system: the header is the same in every run.
  return packing == Packing::gzip ? "\x1f\x8b\x08\0\0\0\0\0\0\xff"sv : ""sv;
}

std::string packed_end(Packing packing, std::uint32_t crc32, std::uint64_t text_size) {
  // A file of zstd without text is one empty frame.
  if (packing != Packing::gzip) return text_size > 0 ? "" : compress_block("", 1, packing).packed;
  std::string end = "\x03";  // an empty last block, which ends the deflate data
  end += '\0';
  for (const std::uint64_t value : {std::uint64_t{crc32}, text_size})  // both modulo 2^32
    for (unsigned shift = 0; shift < 32; shift += 8) end += static_cast<char>(value >> shift);
  return end;
}

std::uint32_t joined_crc32(std::uint32_t crc32, const CompressedBlock& block) {
  return static_cast<std::uint32_t>(
      crc32_combine(crc32, block.crc32, static_cast<z_off_t>(block.text_size)));
}

PackedSink::PackedSink(std::unique_ptr<Sink> target, Packing packing, int level, Framing framing)
    : target_(std::move(target)),
      packing_(packing),
      level_(level_or_default(level, packing)),
      framing_(framing) {
  if (framing_ == Framing::whole) target_->write(packed_start(packing_));
}

void PackedSink::write(std::string_view bytes) {
  while (pending_.size() + bytes.size() >= kPackedBlockBytes) {
    const std::size_t missing = kPackedBlockBytes - pending_.size();
    pending_.append(bytes.substr(0, missing));
    bytes.remove_prefix(missing);
    flush_pending();
  }
  pending_.append(bytes);
}

void PackedSink::write_block(const CompressedBlock& block) {
  flush_pending();
  append(block);
}

void PackedSink::complete() {
  if (is_complete_) return;
  is_complete_ = true;
  flush_pending();
  if (framing_ == Framing::whole) target_->write(packed_end(packing_, crc32_, text_size_));
  target_->complete();
}

void PackedSink::close() {
  complete();
  target_->close();
}

void PackedSink::flush_pending() {
  if (pending_.empty()) return;
  append(compress(pending_));
  pending_.clear();
}

void PackedSink::append(const CompressedBlock& block) {
  target_->write(block.packed);
  count_elsewhere(block);
}

FileGap PackedSink::leave_gap(std::uint64_t bytes) {
  flush_pending();
  return target_->leave_gap(bytes);
}

void PackedSink::count_elsewhere(const CompressedBlock& counted) {
  crc32_ = joined_crc32(crc32_, counted);
  text_size_ += counted.text_size;
}

std::unique_ptr<Sink> pack_by_name(std::unique_ptr<Sink> sink, std::string_view path, int level,
                                   Framing framing) {
  const Packing packing = packing_of_name(path);
  if (packing == Packing::none) return sink;
  return std::make_unique<PackedSink>(std::move(sink), packing, level, framing);
}

}  // namespace traceloom
