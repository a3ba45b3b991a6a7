#include "output/sink.h"

#if TRACELOOM_HAVE_ISAL
#include "base/wide_registers.h"

#include <fmt/format.h>
#include <isa-l.h>

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <vector>
#endif

namespace traceloom {

#if TRACELOOM_HAVE_ISAL
namespace {

constexpr std::array<std::uint32_t, 4> kLevelBufferBytes{ISAL_DEF_LVL0_LARGE, ISAL_DEF_LVL1_LARGE,
                                                         ISAL_DEF_LVL2_LARGE, ISAL_DEF_LVL3_LARGE};

// ISA-L (2.30 to 2.32) takes, at levels 1 and 2, the slot of one position of a text from a wrong
// register: it hashes bits 16 to 47 of the address of isal_zstream, with the CRC-32C that it uses
// for text (igzip_icf_body_h1_gr_bt.asm, write_first_byte). With a stream that lies anywhere, one
// in 230 runs of a small merge missed a match that the others found. So a stream is put where that
// slot is the first. There is one such place between two multiples of 2 GiB; a window of 4 GiB,
// which is reserved for a moment, holds two multiples that follow each other.
constexpr std::uint32_t kSlotMask = 0x7fff;  // of the largest hash table of these levels
constexpr std::size_t kPlaceBytes = std::size_t{1} << 16;
constexpr std::size_t kWindowBytes = 2 * (std::size_t{kSlotMask} + 1) * kPlaceBytes;
constexpr std::size_t kStreamBytes = 2 * kPlaceBytes;
static_assert(sizeof(isal_zstream) <= kStreamBytes);

std::uint32_t hash_of_address(const char* stream) {
  auto hashed = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream) >> 16);
  return crc32_iscsi(reinterpret_cast<unsigned char*>(&hashed), sizeof hashed, 0);
}

char* map_zeros(std::size_t bytes, int protection) {
  void* const area =
      mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return area == MAP_FAILED ? nullptr : static_cast<char*>(area);
}

// Returns the place of a stream, or null if the address space is limited to less (ulimit -v).
char* find_place() {
  char* const area = map_zeros(kWindowBytes + kStreamBytes, PROT_NONE);
  if (area == nullptr) return nullptr;
  const std::size_t after_place = reinterpret_cast<std::uintptr_t>(area) % kPlaceBytes;
  char* place = area + (after_place == 0 ? 0 : kPlaceBytes - after_place);
  while (place < area + kWindowBytes && (hash_of_address(place) & kSlotMask) != 0)
    place += kPlaceBytes;
  char* const end = area + kWindowBytes + kStreamBytes;
  const bool usable =
      place < area + kWindowBytes && mprotect(place, kStreamBytes, PROT_READ | PROT_WRITE) == 0;
  if (!usable) place = end;
  if (place > area) munmap(area, static_cast<std::size_t>(place - area));
  if (usable && place + kStreamBytes < end)
    munmap(place + kStreamBytes, static_cast<std::size_t>(end - place) - kStreamBytes);
  return usable ? place : nullptr;
}

struct Unmap {
  void operator()(isal_zstream* stream) const { munmap(stream, kStreamBytes); }
};

std::unique_ptr<isal_zstream, Unmap> make_stream() {
  char* place = find_place();
  // Bytes that may differ from run to run are better than none.
  if (place == nullptr) place = map_zeros(kStreamBytes, PROT_READ | PROT_WRITE);
  if (place == nullptr) throw std::bad_alloc();
  return std::unique_ptr<isal_zstream, Unmap>(new (place) isal_zstream{});
}

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
    isal_zstream& stream = *stream_;
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
    out.append(buffer_.data(), bound - stream.avail_out);
  }

  std::uint32_t crc32(std::uint32_t crc, std::string_view text) const override {
    const std::uint32_t sum =
        crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    leave_wide_registers();
    return sum;
  }

 private:
  std::unique_ptr<isal_zstream, Unmap> stream_ = make_stream();
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
