// PackedRows: stores rows of numbers that resemble their predecessors in few bytes each.
//
//   PackedRows<HostSpan> spans;
//   spans.push_back(span);
//   for (const HostSpan& each : spans) busy.add(each.interval());
//
// The rows are stored exactly; nothing is rounded. A row is written as its differences to the
// previous row, in numbers of as many bytes as they need; times that are whole microseconds are
// written as such. A span takes 4 to 8 bytes instead of 24. RowCodec<Row>, which stands next to the
// row, defines the format.
//
// Rows are appended, and read from the first one on. Reading a row costs some nanoseconds.
#pragma once

#include "base/arithmetic.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace traceloom {

// Specialise it for a Row with:
//   static constexpr std::size_t kMostBytes;
//   static void write(PackedWriter& to, const Row& before, const Row& row);
//   static void read(PackedReader& from, Row& row);   // `row` is the one before when called
// The previous row of the first one is Row{}, until rows are shifted.
template <typename Row>
struct RowCodec;

// Returns the unit for `times`: a microsecond if all are whole microseconds, otherwise a
// nanosecond.
template <typename... Times>
std::int64_t unit_of(Times... times) {
  constexpr std::int64_t kMicrosecond = 1000;
  return ((times % kMicrosecond == 0) && ...) ? kMicrosecond : 1;
}

inline constexpr std::size_t kMostNumberBytes = 10;

class PackedWriter {
 public:
  explicit PackedWriter(std::uint8_t* to) : at_(to) {}

  void number(std::uint64_t value) {
    constexpr std::uint64_t kMore = 0x80;
    for (; value >= kMore; value >>= 7) *at_++ = static_cast<std::uint8_t>(value | kMore);
    *at_++ = static_cast<std::uint8_t>(value);
  }
  // Numbers near 0, of either sign, take few bytes.
  void signed_number(std::int64_t value) {
    number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  void byte(std::uint8_t value) { *at_++ = value; }
  const std::uint8_t* at() const { return at_; }

 private:
  std::uint8_t* at_;
};

class PackedReader {
 public:
  explicit PackedReader(const std::uint8_t* from) : at_(from) {}

  std::uint64_t number() {
    std::uint64_t value = *at_++;
    if (value < 0x80) return value;
    value &= 0x7f;
    for (unsigned shift = 7;; shift += 7) {
      const std::uint64_t next = *at_++;
      value |= (next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
  }
  std::uint8_t byte() { return *at_++; }
  const std::uint8_t* at() const { return at_; }

 private:
  const std::uint8_t* at_;
};

template <typename Row>
class PackedRows {
 public:
  using value_type = Row;

 private:
  // All bytes of a row are in one block. Blocks do not move when rows are added: a single vector
  // would take up to three times its content while it grows.
  using Block = std::vector<std::uint8_t>;
  static constexpr std::size_t kFirstBlock = 256;
  static constexpr std::size_t kLargestBlock = std::size_t{32} << 10;
  static_assert(RowCodec<Row>::kMostBytes <= kFirstBlock);

 public:
  // The row that it refers to does not change until the next ++. Valid until rows are added or
  // removed.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    using pointer = const Row*;
    using reference = const Row&;

    // `block` is the first block; it is read only if `left` is not 0. `before` precedes its rows.
    Iterator(const Block* block, std::size_t left, const Row& before)
        : from_(left > 0 ? block->data() : nullptr), block_(block), left_(left), row_(before) {
      read();
    }
    const Row& operator*() const { return row_; }
    const Row* operator->() const { return &row_; }
    Iterator& operator++() {
      --left_;
      read();
      return *this;
    }
    // Compares iterators of one container.
    bool operator==(const Iterator& other) const { return left_ == other.left_; }

   private:
    void read() {
      if (left_ == 0) return;
      if (from_.at() == block_->data() + block_->size()) from_ = PackedReader((++block_)->data());
      RowCodec<Row>::read(from_, row_);
    }

    PackedReader from_;
    const Block* block_;
    std::size_t left_;
    Row row_;
  };

  void push_back(const Row& row) {
    if (blocks_.empty() || blocks_.back().size() - used_ < RowCodec<Row>::kMostBytes) add_block();
    Block& block = blocks_.back();
    PackedWriter writer(block.data() + used_);
    RowCodec<Row>::write(writer, last_, row);
    used_ = static_cast<std::size_t>(writer.at() - block.data());
    last_ = row;
    ++size_;
  }
  // Makes all rows start so much later, if they have times: those are differences to the first.
  void shift(std::int64_t ns) {
    before_.start_ns = wrapped_sum(before_.start_ns, ns);
    last_.start_ns = wrapped_sum(last_.start_ns, ns);
    last_.end_ns = wrapped_sum(last_.end_ns, ns);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // For other processes: see team/wire.h.
  auto wired() { return std::tie(blocks_, before_, last_, used_, size_); }
  Iterator begin() const { return {blocks_.data(), size_, before_}; }
  Iterator end() const { return {nullptr, 0, before_}; }
  // Reads all rows up to `place`, so it is for single look-ups. Throws std::out_of_range.
  Row at(std::size_t place) const {
    if (place >= size_) throw std::out_of_range("PackedRows::at");
    Iterator row = begin();
    for (; place > 0; --place) ++row;
    return *row;
  }

  // Keeps one block for the next rows.
  void clear() {
    if (!blocks_.empty()) {
      std::swap(blocks_.front(), blocks_.back());
      blocks_.resize(1);
    }
    before_ = {};
    last_ = {};
    used_ = 0;
    size_ = 0;
  }
  void shrink_to_fit() {
    if (blocks_.empty()) return;
    blocks_.back().resize(used_);
    blocks_.back().shrink_to_fit();
    blocks_.shrink_to_fit();
  }

  // Replaces each row by what change(row) makes of it, and removes rows for which it returns false.
  // It needs memory for one more block.
  template <typename Change>
  void rewrite(Change change) {
    PackedRows changed;
    Row row = before_;
    for (Block& block : blocks_) {
      PackedReader from(block.data());
      const std::uint8_t* const end =
          block.data() + (&block == &blocks_.back() ? used_ : block.size());
      while (from.at() != end) {
        RowCodec<Row>::read(from, row);
        Row next = row;
        if (change(next)) changed.push_back(next);
      }
      block = {};
    }
    changed.shrink_to_fit();
    *this = std::move(changed);
  }

 private:
  void add_block() {
    std::size_t bytes = kFirstBlock;
    if (!blocks_.empty()) {
      bytes = std::clamp(2 * blocks_.back().capacity(), kFirstBlock, kLargestBlock);
      blocks_.back().resize(used_);
    }
    blocks_.emplace_back(bytes);
    used_ = 0;
  }

  std::vector<Block> blocks_;  // of the last one, used_ bytes are rows
  Row before_{};               // precedes the first row
  Row last_{};
  std::size_t used_ = 0;
  std::size_t size_ = 0;
};

}  // namespace traceloom
