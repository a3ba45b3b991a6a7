// Deflater: text to independent blocks of raw deflate data, by whichever library is there.
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

// What a Deflater takes at once: the libraries count in 32 bits, and it holds that much memory.
inline constexpr std::size_t kMaxDeflateBytes = std::size_t{16} << 20;

// Not thread-safe; one a thread.
class Deflater {
 public:
  virtual ~Deflater() = default;
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  // Appends to `out`: a byte-aligned piece of a deflate stream, not its end, that looks back at
  // nothing in front of it. At most kMaxDeflateBytes of text. The bytes depend on text and level
  // only.
  virtual void append_block(std::string_view text, int level, std::string& out) = 0;
  // The CRC-32 of what `crc` is of, followed by `text`; 0 is the CRC of nothing.
  virtual std::uint32_t crc32(std::uint32_t crc, std::string_view text) const = 0;

 protected:
  Deflater() = default;
};

// Levels 1-3. Null in a build without ISA-L.
std::unique_ptr<Deflater> make_isal_deflater();
// Levels 1-9.
std::unique_ptr<Deflater> make_zlib_deflater();

}  // namespace traceloom
