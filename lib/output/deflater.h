// Deflater: compresses text into independent blocks of raw deflate data, with the library that the
// build has.
//
//   std::unique_ptr<Deflater> deflater = make_zlib_deflater();
//   deflater->append_block(text, 6, deflated);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace traceloom {

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

}  // namespace traceloom
