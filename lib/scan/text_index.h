// TextIndex: where the quotes and braces of a piece of JSON text are, as bitmaps.
//
//   TextIndex index;
//   index.build(window);                        // window starts outside a string
//   TextIndex::Tokens tokens(index, 0);
//   while ((at = tokens.next()) < window.size()) use(at);
//
// Why our own and not simdjson's: simdjson refuses a whole document or window for one raw control
// character or one byte that is not UTF-8, and real torch traces have both. Bitmaps do not care
// what a string holds; the check and the repair happen for the events that need it. Cost: 6.5 GB/s
// a core with AVX2 (chosen at run time), 1.4 GB/s portable.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace traceloom {

// Bitmaps with one bit a byte, 64 bytes a word. Behind the last word stands one with all bits set,
// so that a search needs no check for the end: what lies at or behind the text's size means "none".
// Reuses its memory from build to build.
class TextIndex {
 public:
  // `text` must start outside a string. The index keeps no reference to it.
  void build(std::string_view text);

  // First position >= from of a brace outside strings; at or behind the text's size when there is
  // none.
  std::size_t next_brace(std::size_t from) const {
    std::size_t i = from / 64;
    std::uint64_t word = braces_[i] & (~std::uint64_t{0} << (from % 64));
    while (word == 0) word = braces_[++i];
    return i * 64 + static_cast<std::size_t>(std::countr_zero(word));
  }

  // True when [begin, end) holds a backslash, or a byte >= 0x80 or a control character inside a
  // string.
  bool is_suspect(std::size_t begin, std::size_t end) const;

  // Walks the tokens one after the other: unescaped quotes, and braces outside strings. Valid until
  // the next build().
  class Tokens {
   public:
    // Starts at the first token >= from.
    Tokens(const TextIndex& index, std::size_t from)
        : words_(index.tokens_.data()), i_(from / 64), word_(words_[i_] & mask(from)) {}
    // The position, at or behind the text's size when there is none; do not call it again then.
    std::size_t next() {
      while (word_ == 0) word_ = words_[++i_];
      const std::size_t at = i_ * 64 + static_cast<std::size_t>(std::countr_zero(word_));
      word_ &= word_ - 1;
      return at;
    }
    void seek(std::size_t from) {
      i_ = from / 64;
      word_ = words_[i_] & mask(from);
    }

   private:
    static std::uint64_t mask(std::size_t from) { return ~std::uint64_t{0} << (from % 64); }
    const std::uint64_t* words_;
    std::size_t i_;
    std::uint64_t word_;
  };

  // Builds with the portable code even where AVX2 is there; for tests.
  void build_portable(std::string_view text);

 private:
  void reserve(std::size_t text_size);

  std::vector<std::uint64_t> tokens_;
  std::vector<std::uint64_t> braces_;
  std::vector<std::uint64_t> suspects_;
};

// Behind the object whose '{' stands at `at`, by its braces alone: what else it holds is not looked
// at. nullptr when a brace stands in a string (a stray quote may have made it one), or when the
// object does not end 64 bytes before `end`.
const char* skip_plain_object(const char* at, const char* end);
// The same by the portable code even where AVX2 is there; for tests.
const char* skip_plain_object_portable(const char* at, const char* end);

}  // namespace traceloom
