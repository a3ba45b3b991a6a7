// TextHash: the checksum (XXH3) of a text that comes in pieces.
//
//   TextHash hash;
//   hash.add("{\"traceEvents\":");
//   hash.value();
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace traceloom::digest {

class TextHash {
 public:
  TextHash();
  ~TextHash();
  TextHash(const TextHash&) = delete;
  TextHash& operator=(const TextHash&) = delete;

  void add(std::string_view text);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace traceloom::digest
