#include "input/inflater.h"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace traceloom {
namespace {

class ZlibInflater : public Inflater {
 public:
  ZlibInflater() {
    constexpr int kRawDeflate = -MAX_WBITS;
    if (inflateInit2(&stream_, kRawDeflate) != Z_OK) throw std::bad_alloc();
  }
  ~ZlibInflater() override { inflateEnd(&stream_); }
  ZlibInflater(const ZlibInflater&) = delete;
  ZlibInflater& operator=(const ZlibInflater&) = delete;

  void start() override {
    inflateReset(&stream_);
    crc_ = 0;
  }

  Step inflate(std::span<const char> input, std::span<char> output) override {
    const uInt input_size = static_cast<uInt>(std::min(input.size(), kMaxSpanBytes));
    const uInt output_size = static_cast<uInt>(std::min(output.size(), kMaxSpanBytes));
    // zlib's interface lacks const; it does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = input_size;
    Bytef* const text = reinterpret_cast<Bytef*>(output.data());
    stream_.next_out = text;
    stream_.avail_out = output_size;

    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    const uInt produced = output_size - stream_.avail_out;
    crc_ = static_cast<std::uint32_t>(::crc32(crc_, text, produced));
    // Z_BUF_ERROR only means that this call could do nothing.
    const Status status = result == Z_STREAM_END                    ? Status::finished
                          : result == Z_OK || result == Z_BUF_ERROR ? Status::going_on
                                                                    : Status::damaged;
    return {static_cast<std::ptrdiff_t>(input_size - stream_.avail_in), produced, status};
  }

  std::uint32_t crc32() const override { return crc_; }

 private:
  z_stream stream_ = {};
  std::uint32_t crc_ = 0;
};

}  // namespace

std::unique_ptr<Inflater> make_zlib_inflater() {
  return std::make_unique<ZlibInflater>();
}

std::unique_ptr<Inflater> make_inflater() {
  std::unique_ptr<Inflater> isal = make_isal_inflater();
  return isal != nullptr ? std::move(isal) : make_zlib_inflater();
}

}  // namespace traceloom
