// DurationColumn: the durations of one group of spans, four bytes each.
//
//   ColumnArena arena;
//   DurationColumn column;
//   column.add(1234, arena);
//   column.copy_to(values);
//
// Why not a std::vector<std::int64_t> a group: nearly all spans are shorter than the 4.3 s that 32
// bits hold, most groups are small, and a growing vector holds its old and its new memory at a
// time. Here a column is a chain of extents that double in size up to 16 KiB and never move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace traceloom {

// Where the extents of many columns live; they are freed with it. Not thread-safe.
class ColumnArena {
 public:
  // Room for `words` 32-bit words, aligned for a pointer.
  std::uint32_t* allocate(std::size_t words);

 private:
  std::vector<std::unique_ptr<std::uint64_t[]>> blocks_;
  std::size_t left_ = 0;  // words of the last block
  std::uint32_t* next_ = nullptr;
};

// All durations of a group, in no order that means anything.
struct DurationValues {
  std::vector<std::uint32_t> small;
  std::vector<std::int64_t> large;  // those of 2^32 ns and more

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
  // Stands in the two words (or one, where pointers are small) before the values of an extent.
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
      nullptr;  // of the last extent; its Link to the one before stands in front
  std::uint32_t used_ = 0;
  std::uint32_t capacity_ = 0;
  std::unique_ptr<std::vector<std::int64_t>> large_;
};

}  // namespace traceloom
