// Texts of any size for round trips; the same seed gives the same text everywhere.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace traceloom {

// Trace-like: compresses about 5:1.
inline std::string random_trace_text(std::size_t size, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::string text;
  while (text.size() < size)
    text += "{\"name\":\"op" + std::to_string(random() % 500) +
            "\",\"ph\":\"X\",\"ts\":" + std::to_string(random() % 100'000'000) + "},\n";
  text.resize(size);
  return text;
}

// Compresses not at all.
inline std::string random_bytes(std::size_t size, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() & 0xff);
  return bytes;
}

}  // namespace traceloom
