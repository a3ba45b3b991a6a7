// Reads a tar archive, for tests: by the format's description, sharing nothing with what writes it.
//
//   for (const TarMember& member : read_tar(read_file("merged.tar"))) ...
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

struct TarMember {
  std::string name;
  std::string text;
  std::string header;
};

inline std::uint64_t tar_number(std::string_view field) {
  std::uint64_t number = 0;
  if ((field[0] & 0x80) != 0) {
    for (const char c : field.substr(1)) number = number << 8 | static_cast<unsigned char>(c);
    return number;
  }
  for (const char c : field) {
    if (c == '\0' || c == ' ') break;
    if (c < '0' || c > '7') throw std::runtime_error("no octal number");
    number = number * 8 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

// Throws when a header is wrong, when something is cut off, or when anything follows the end.
inline std::vector<TarMember> read_tar(std::string_view tar) {
  std::vector<TarMember> members;
  const std::string zeros(1024, '\0');
  while (tar.substr(0, 512).find_first_not_of('\0') != std::string_view::npos) {
    const std::string_view header = tar.substr(0, 512);
    if (header.size() != 512 || header.substr(257, 8) != std::string_view("ustar\00000", 8))
      throw std::runtime_error("no ustar header");
    std::uint64_t sum = 8 * ' ';
    for (std::size_t i = 0; i < header.size(); ++i)
      if (i < 148 || i >= 156) sum += static_cast<unsigned char>(header[i]);
    if (sum != tar_number(header.substr(148, 8))) throw std::runtime_error("wrong sum");
    const std::uint64_t size = tar_number(header.substr(124, 12));
    const std::uint64_t padded = (size + 511) / 512 * 512;
    if (tar.size() < 512 + padded) throw std::runtime_error("cut off");
    members.push_back({header.data(), std::string(tar.substr(512, size)), std::string(header)});
    tar.remove_prefix(512 + padded);
  }
  if (tar != zeros) throw std::runtime_error("does not end in two blocks of zeros");
  return members;
}

}  // namespace traceloom
