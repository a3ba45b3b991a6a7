// StringTable: maps texts to small dense numbers and back.
//
//   StringTable names;
//   std::uint32_t id = names.intern("gemm");   // 0; the same text gives the same number
//   names[id];                                  // "gemm"
//
// It is our own because a look-up is one hash and, nearly always, one comparison, and because no
// text costs an allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// A text may hold any bytes. The table holds up to 2^32 - 1 texts. Not thread-safe.
class StringTable {
 public:
  // Returns the number of `text`: 0, 1, 2, ... in the order in which the texts first appear.
  std::uint32_t intern(std::string_view text);
  // Returns the number of `text` if it has one.
  std::optional<std::uint32_t> find(std::string_view text) const;

  // The view is valid until clear() or destruction.
  std::string_view operator[](std::uint32_t id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

  // Forgets all texts and keeps the memory of the usual number of them.
  void clear();

  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    std::size_t count = size();
    wire(count);
    if constexpr (Wire::kReads) clear();
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (!Wire::kReads) text = texts_[i];
      wire(text);
      if constexpr (Wire::kReads) intern(text);
    }
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;        // more bits of the hash: most comparisons end here
    std::uint32_t id_plus_1 = 0;  // 0: free
  };

  std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
  void grow();
  std::string_view keep(std::string_view text);

  std::vector<Slot> slots_;
  std::vector<std::string_view> texts_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_used_ = 0;  // bytes used of the last block
  std::size_t block_size_ = 0;
};

// A pair of numbers as a text of eight bytes, which intern() takes, for tables of pairs.
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
