// TextBuffer: a text that grows at its end, for output written in small pieces.
//
//   TextBuffer text;
//   char* const end = write_microseconds(text.room(24), 1500);
//   text.end_at(end);
//   text += ",\n";
//
// A std::string fills its room with zeros before something is written there; that took 3 % of a
// merge's time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace traceloom {

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

}  // namespace traceloom
