// StringTable: texts to small dense numbers and back.
//
//   StringTable names;
//   std::uint32_t id = names.intern("gemm");   // 0; the same text gives the same number
//   names[id];                                  // "gemm"
//
// Why our own: a look-up is one hash and, nearly always, one compare, and no text costs an
// allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace traceloom {

// Any bytes are a text. Holds up to 2^32 - 1 of them. Not thread-safe.
class StringTable {
 public:
  // The number of `text`: 0, 1, 2, ... in the order in which texts come first.
  std::uint32_t intern(std::string_view text);
  // Its number if it has one.
  std::optional<std::uint32_t> find(std::string_view text) const;

  // Valid until clear() or destruction.
  std::string_view operator[](std::uint32_t id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

  // Forgets all texts and keeps the memory of the usual number of them.
  void clear();

 private:
  struct Slot {
    std::uint32_t tag = 0;        // more bits of the hash: most compares end here
    std::uint32_t id_plus_1 = 0;  // 0: free
  };

  std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
  void grow();
  std::string_view keep(std::string_view text);

  std::vector<Slot> slots_;
  std::vector<std::string_view> texts_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_used_ = 0;  // of the last block
  std::size_t block_size_ = 0;
};

// A number as the text of eight bytes that intern() takes, for tables of pairs of numbers.
class NumberPair {
 public:
  NumberPair(std::uint32_t a, std::uint32_t b) : numbers_{a, b} {}
  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(numbers_), sizeof numbers_};
  }

 private:
  std::uint32_t numbers_[2];
};

}  // namespace traceloom
