// Texts in large numbers: one that grows at its end, and a table that gives each distinct one a
// number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// TextBuffer: a text that grows at its end, for output written in small pieces.
//
//   TextBuffer text;
//   char* const end = write_microseconds(text.room(24), 1500);
//   text.end_at(end);
//   text += ",\n";
//
// A std::string fills its room with zeros before something is written there; that took 3 % of a
// merge's time.

class TextBuffer {
 public:
  TextBuffer() = default;
  // Leaves the other buffer empty.
  TextBuffer(TextBuffer&& other) noexcept { swap(other); }
  TextBuffer& operator=(TextBuffer&& other) noexcept {
    TextBuffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;
  ~TextBuffer() = default;

  // The view is valid until the text grows or ends.
  std::string_view view() const { return {bytes_.get(), size_}; }
  operator std::string_view() const { return view(); }  // NOLINT(google-explicit-constructor)
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }

  // Keeps the memory.
  void clear() { size_ = 0; }
  TextBuffer& operator+=(std::string_view more) {
    if (more.empty()) return *this;
    std::memcpy(room(more.size()), more.data(), more.size());
    size_ += more.size();
    return *this;
  }
  // Returns the place after the text where `bytes` more can be written; end_at() sets the new end.
  char* room(std::size_t bytes) {
    if (bytes > capacity_ - size_) grow(bytes);
    return bytes_.get() + size_;
  }
  void end_at(const char* end) { size_ = static_cast<std::size_t>(end - bytes_.get()); }

 private:
  void grow(std::size_t bytes) {
    constexpr std::size_t kLeast = 256;
    const std::size_t capacity = std::max({2 * capacity_, size_ + bytes, kLeast});
    std::unique_ptr<char[]> larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }
  void swap(TextBuffer& other) {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// StringTable: maps texts to small dense numbers and back.
//
//   StringTable names;
//   std::uint32_t id = names.intern("gemm");   // 0; the same text gives the same number
//   names[id];                                  // "gemm"
//
// It is our own because a look-up is one hash and, nearly always, one comparison, and because no
// text costs an allocation.

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
