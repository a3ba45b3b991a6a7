#include "output/deflater.h"

#include <zlib.h>

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

}  // namespace traceloom
