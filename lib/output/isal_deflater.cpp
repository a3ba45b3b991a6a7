#include "output/deflater.h"

#if TRACELOOM_HAVE_ISAL
#include "base/wide_registers.h"

#include <fmt/format.h>
#include <isa-l.h>

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>
#endif

namespace traceloom {

#if TRACELOOM_HAVE_ISAL
namespace {

constexpr std::array<std::uint32_t, 4> kLevelBufferBytes{ISAL_DEF_LVL0_LARGE, ISAL_DEF_LVL1_LARGE,
                                                         ISAL_DEF_LVL2_LARGE, ISAL_DEF_LVL3_LARGE};

// ISA-L (2.30 to 2.32) takes the hash of a text's third position from a wrong register at levels 1
// and 2: it hashes bits 16 to 47 of the address of isal_zstream. The position lands in a slot of
// the hash table that differs from run to run. That hides a match where the slot belongs to one of
// the first positions, and finds one by chance where it belongs to a position that is 2^15 bytes
// further on, or a multiple of that, because the table tells positions modulo 2^15.

// A shorter text is compressed by other code, which hashes all positions right.
constexpr std::size_t kLongestUnaffected = 16;
constexpr std::size_t kTablePeriod = std::size_t{1} << 15;

std::uint32_t hash_of(const void* four_bytes) {
  return crc32_iscsi(static_cast<unsigned char*>(const_cast<void*>(four_bytes)), 4, 0);
}

// Returns whether the stream's address may have decided about the bytes: `stream` has just
// compressed the text.
bool may_address_decide(const isal_zstream& stream, std::string_view text) {
  constexpr std::uint32_t kFirstOtherLevel = 3;
  if (stream.level >= kFirstOtherLevel || text.size() <= kLongestUnaffected) return false;
  const auto hashed = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&stream) >> 16);
  const std::uint32_t wrong = hash_of(&hashed);
  const auto is_slot_of = [&](std::size_t at) {
    return ((hash_of(text.data() + at) ^ wrong) & stream.internal_state.hash_mask) == 0;
  };
  if (is_slot_of(0) || is_slot_of(1) || is_slot_of(2)) return true;
  for (std::size_t at = kTablePeriod; at + 2 + sizeof hashed <= text.size(); at += kTablePeriod)
    if (is_slot_of(at) || is_slot_of(at + 2)) return true;
  return false;
}

class IsalDeflater : public Deflater {
 public:
  // Compresses again with a stream at another address where the first may have decided: 1 of 120
  // blocks of 1 MiB.
  void append_block(std::string_view text, int level, std::string& out) override {
    constexpr std::size_t kMostStreams = 64;  // of short texts, each decides for 1 in 10
    for (std::size_t i = 0; i < kMostStreams; ++i) {
      if (i == streams_.size()) streams_.push_back(std::make_unique<isal_zstream>());
      const std::string_view block = compress(*streams_[i], text, level);
      if (i + 1 < kMostStreams && may_address_decide(*streams_[i], text)) continue;
      out += block;
      return;
    }
  }

  std::uint32_t crc32(std::uint32_t crc, std::string_view text) const override {
    const std::uint32_t sum =
        crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    leave_wide_registers();
    return sum;
  }

 private:
  // The view is valid until the next call.
  std::string_view compress(isal_zstream& stream, std::string_view text, int level) {
    // Text that does not compress is stored, with 5 extra bytes for each 65535.
    const std::size_t bound = text.size() + text.size() / 1024 + 1024;
    if (buffer_.size() < bound) buffer_.resize(bound);
    // The size of the level buffer decides where blocks end, so it must not depend on earlier
    // calls.
    const std::uint32_t level_bytes = kLevelBufferBytes.at(static_cast<std::size_t>(level));
    if (level_buffer_.size() < level_bytes) level_buffer_.resize(level_bytes);
    isal_deflate_stateless_init(&stream);
    stream.level = static_cast<std::uint32_t>(level);
    stream.level_buf = level_buffer_.data();
    stream.level_buf_size = level_bytes;
    stream.flush = FULL_FLUSH;
    stream.end_of_stream = 0;
    // ISA-L's interface lacks const; it does not write to its input.
    stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<std::uint32_t>(text.size());
    stream.next_out = reinterpret_cast<std::uint8_t*>(buffer_.data());
    stream.avail_out = static_cast<std::uint32_t>(bound);
    const int result = isal_deflate_stateless(&stream);
    leave_wide_registers();
    if (result != COMP_OK || stream.avail_in != 0)
      throw std::logic_error(fmt::format("ISA-L: deflate failed with {}", result));
    return {buffer_.data(), bound - stream.avail_out};
  }

  std::vector<std::unique_ptr<isal_zstream>> streams_;  // one, and more only where it decided
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
