#include "output/gzip_sink.h"

#include "base/ascii.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <new>
#include <vector>

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

// Deflate, no flags, no time, no hint, unknown system: the header is the same in every run.
constexpr std::string_view kHeader = "\x1f\x8b\x08\0\0\0\0\0\0\xff"sv;
// An empty last block, which ends the deflate data after blocks that do not.
constexpr std::string_view kLastBlock = "\x03\0"sv;

// Both deflaters need little memory until they are used.
struct Deflaters {
  std::unique_ptr<Deflater> isal = make_isal_deflater();
  std::unique_ptr<Deflater> zlib = make_zlib_deflater();

  Deflater& for_level(int level) const {
    return isal != nullptr && level <= kMaxIsalLevel ? *isal : *zlib;
  }
};

std::array<char, 4> little_endian(std::uint32_t value) {
  return {static_cast<char>(value), static_cast<char>(value >> 8), static_cast<char>(value >> 16),
          static_cast<char>(value >> 24)};
}

std::string_view view(const std::array<char, 4>& bytes) {
  return {bytes.data(), bytes.size()};
}

}  // namespace

CompressedBlock compress_block(std::string_view text, int level) {
  assert(level >= kMinGzipLevel && level <= kMaxGzipLevel);
  thread_local const Deflaters deflaters;
  Deflater& deflater = deflaters.for_level(level);
  CompressedBlock block{{}, deflater.crc32(0, text), text.size()};
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), kMaxDeflateBytes)))
    deflater.append_block(text.substr(0, kMaxDeflateBytes), level, block.deflated);
  return block;
}

bool is_gzip_name(std::string_view path) {
  const std::string name = to_lower(path);
  return name.ends_with(".gz") || name.ends_with(".tgz");
}

GzipSink::GzipSink(std::unique_ptr<Sink> target, int level, GzipFrame frame)
    : target_(std::move(target)), level_(level), frame_(frame) {
  if (frame_ == GzipFrame::whole) target_->write(kHeader);
}

void GzipSink::write(std::string_view bytes) {
  while (pending_.size() + bytes.size() >= kGzipBlockBytes) {
    const std::size_t missing = kGzipBlockBytes - pending_.size();
    pending_.append(bytes.substr(0, missing));
    bytes.remove_prefix(missing);
    flush_pending();
  }
  pending_.append(bytes);
}

void GzipSink::write_block(const CompressedBlock& block) {
  flush_pending();
  append(block);
}

void GzipSink::complete() {
  if (is_complete_) return;
  is_complete_ = true;
  flush_pending();
  if (frame_ == GzipFrame::whole) {
    target_->write(kLastBlock);
    target_->write(view(little_endian(crc32_)));
    target_->write(view(little_endian(static_cast<std::uint32_t>(text_size_))));  // modulo 2^32
  }
  target_->complete();
}

void GzipSink::close() {
  complete();
  target_->close();
}

void GzipSink::flush_pending() {
  if (pending_.empty()) return;
  append(compress_block(pending_, level_));
  pending_.clear();
}

void GzipSink::append(const CompressedBlock& block) {
  target_->write(block.deflated);
  count_elsewhere(block.crc32, block.text_size);
}

FileGap GzipSink::leave_gap(std::uint64_t bytes) {
  flush_pending();
  return target_->leave_gap(bytes);
}

void GzipSink::count_elsewhere(std::uint32_t crc32, std::uint64_t text_size) {
  crc32_ =
      static_cast<std::uint32_t>(crc32_combine(crc32_, crc32, static_cast<z_off_t>(text_size)));
  text_size_ += text_size;
}

}  // namespace traceloom
