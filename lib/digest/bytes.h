// put_number, ByteReader: whole numbers and texts in a row of bytes.
//
//   std::string bytes;
//   put_number(bytes, 300);
//   ByteReader reader(bytes);
//   reader.number();   // 300
//
// A reader believes nothing: after the end, or at a number of more than 64 bits, it gives zeros and
// empty texts, and failed() says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom::digest {

// Appends 7 bits a byte, the lowest first; the highest bit of a byte says that more follow.
inline void put_number(std::string& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
}

// Appends the length and the text.
inline void put_text(std::string& bytes, std::string_view text) {
  put_number(bytes, text.size());
  bytes += text;
}

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t result = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      result |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return result;
    }
    failed_ = true;
    return 0;
  }

  std::string_view bytes(std::uint64_t size) {
    if (size > rest_.size()) {
      failed_ = true;
      return {};
    }
    const std::string_view result = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return result;
  }

  std::string_view text() { return bytes(number()); }

  std::string_view rest() const { return rest_; }
  bool failed() const { return failed_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace traceloom::digest
