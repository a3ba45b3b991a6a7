// DurationColumn: the durations of one group of spans, four bytes each.
//
//   ColumnArena arena;
//   DurationColumn column;
//   column.add(1234, arena);
//   column.copy_to(values);
//
// It replaces a std::vector<std::int64_t> a group, because nearly all spans are shorter than the
// 4.3 s that 32 bits hold, most groups are small, and a growing vector holds its old and its new
// memory at the same time. A column is a chain of extents that double in size up to 16 KiB and
// never move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace traceloom {

// Owns the memory of many columns' extents and frees all of it at once. Not thread-safe.
class ColumnArena {
 public:
  // Returns room for `words` 32-bit words, aligned for a pointer.
  std::uint32_t* allocate(std::size_t words);

 private:
  std::vector<std::unique_ptr<std::uint64_t[]>> blocks_;
  std::size_t left_ = 0;  // words left in the last block
  std::uint32_t* next_ = nullptr;
};

// All durations of a group; their order has no meaning.
struct DurationValues {
  std::vector<std::uint32_t> small;
  std::vector<std::int64_t> large;  // durations of 2^32 ns and more

  std::size_t size() const { return small.size() + large.size(); }
  void clear();
};

class DurationColumn {
 public:
  // `ns` is not negative.
  void add(std::int64_t ns, ColumnArena& arena) {
    if (ns >> 32 != 0) return add_large(ns);
    if (used_ == capacity_) grow(arena);
    values_[used_++] = static_cast<std::uint32_t>(ns);
  }

  bool empty() const { return used_ == 0 && !large_; }
  // Appends the durations to `values`.
  void copy_to(DurationValues& values) const;

 private:
  // Stands in the two words before the values of an extent (one word where pointers are small).
  struct Link {
    std::uint32_t* values;
    std::uint32_t capacity;
  };
  static constexpr std::uint32_t kFirst = 4;
  static constexpr std::uint32_t kLargest = 4096;
  static constexpr std::size_t kLinkWords = sizeof(Link) / sizeof(std::uint32_t);

  void add_large(std::int64_t ns);
  void grow(ColumnArena& arena);

  std::uint32_t* values_ =
      nullptr;  // values of the last extent; the Link to the previous extent stands before them
  std::uint32_t used_ = 0;
  std::uint32_t capacity_ = 0;
  std::unique_ptr<std::vector<std::int64_t>> large_;
};

}  // namespace traceloom
