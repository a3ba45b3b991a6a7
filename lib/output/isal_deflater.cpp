#include "output/deflater.h"

#if TRACELOOM_HAVE_ISAL
#include "base/wide_registers.h"

#include <fmt/format.h>
#include <isa-l.h>

#include <array>
#include <stdexcept>
#include <vector>
#endif

namespace traceloom {

#if TRACELOOM_HAVE_ISAL
namespace {

constexpr std::array<std::uint32_t, 4> kLevelBufferBytes{ISAL_DEF_LVL0_LARGE, ISAL_DEF_LVL1_LARGE,
                                                         ISAL_DEF_LVL2_LARGE, ISAL_DEF_LVL3_LARGE};

class IsalDeflater : public Deflater {
 public:
  void append_block(std::string_view text, int level, std::string& out) override {
    // Text that does not compress is stored, with 5 extra bytes for each 65535.
    const std::size_t bound = text.size() + text.size() / 1024 + 1024;
    if (buffer_.size() < bound) buffer_.resize(bound);
    // The size of the level buffer decides where blocks end, so it must not depend on earlier
    // calls.
    const std::uint32_t level_bytes = kLevelBufferBytes.at(static_cast<std::size_t>(level));
    if (level_buffer_.size() < level_bytes) level_buffer_.resize(level_bytes);
    isal_deflate_stateless_init(&stream_);
    stream_.level = static_cast<std::uint32_t>(level);
    stream_.level_buf = level_buffer_.data();
    stream_.level_buf_size = level_bytes;
    stream_.flush = FULL_FLUSH;
    stream_.end_of_stream = 0;
    // ISA-L's interface lacks const; it does not write to its input.
    stream_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<std::uint32_t>(text.size());
    stream_.next_out = reinterpret_cast<std::uint8_t*>(buffer_.data());
    stream_.avail_out = static_cast<std::uint32_t>(bound);
    const int result = isal_deflate_stateless(&stream_);
    leave_wide_registers();
    if (result != COMP_OK || stream_.avail_in != 0)
      throw std::logic_error(fmt::format("ISA-L: deflate failed with {}", result));
    out.append(buffer_.data(), bound - stream_.avail_out);
  }

  std::uint32_t crc32(std::uint32_t crc, std::string_view text) const override {
    const std::uint32_t sum =
        crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    leave_wide_registers();
    return sum;
  }

 private:
  isal_zstream stream_ = {};
  std::vector<std::uint8_t> level_buffer_;
  std::vector<char> buffer_;
};

}  // namespace

std::unique_ptr<Deflater> make_isal_deflater() {
  return std::make_unique<IsalDeflater>();
}

#else

std::unique_ptr<Deflater> make_isal_deflater() {
  return nullptr;
}

#endif

}  // namespace traceloom
