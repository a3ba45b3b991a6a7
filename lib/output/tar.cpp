#include "output/tar.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cstddef>

namespace traceloom {
namespace {

constexpr std::size_t kBlockBytes = 512;
constexpr std::array<char, 2 * kBlockBytes> kZeros{};

struct Field {
  std::size_t begin;
  std::size_t size;
};
constexpr Field kName{0, 100};
constexpr Field kMode{100, 8};
constexpr Field kUser{108, 8};
constexpr Field kGroup{116, 8};
constexpr Field kSize{124, 12};
constexpr Field kTime{136, 12};
constexpr Field kChecksum{148, 8};
constexpr Field kType{156, 1};
constexpr Field kMagic{257, 8};

void put(std::string& header, const Field& field, std::string_view text) {
  assert(text.size() <= field.size);
  header.replace(field.begin, text.size(), text);
}

// Writes octal digits up to a NUL. A number that does not fit is written as bytes after a set bit.
void put_number(std::string& header, const Field& field, std::uint64_t number) {
  const std::size_t digits = field.size - 1;
  if (number >> (3 * digits) == 0)
    return put(header, field, fmt::format("{:0{}o}", number, digits));
  for (std::size_t i = field.size; i-- > 0; number >>= 8)
    header[field.begin + i] = static_cast<char>(number);
  header[field.begin] = static_cast<char>(0x80);
}

}  // namespace

std::string tar_header(std::string_view name, std::uint64_t size) {
  std::string header(kBlockBytes, '\0');
  put(header, kName, name);
  put_number(header, kMode, 0644);
  put_number(header, kUser, 0);
  put_number(header, kGroup, 0);
  put_number(header, kSize, size);
  put_number(header, kTime, 0);
  put(header, kType, "0");
  put(header, kMagic, {"ustar\00000", kMagic.size});
  // The checksum is computed over the header with spaces in its own place.
  put(header, kChecksum, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(header, kChecksum, {fmt::format("{:06o}", sum) + '\0'});
  return header;
}

std::string_view tar_padding(std::uint64_t size) {
  return {kZeros.data(), (kBlockBytes - size % kBlockBytes) % kBlockBytes};
}

std::string_view tar_end() {
  return {kZeros.data(), kZeros.size()};
}

}  // namespace traceloom
