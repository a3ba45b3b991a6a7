// TextIndex: bitmaps of the quotes and braces of a piece of JSON text.
//
//   TextIndex index;
//   index.build(window);                        // window starts outside a string
//   TextIndex::Tokens tokens(index, 0);
//   while ((at = tokens.next()) < window.size()) use(at);
//
// It is our own because simdjson refuses a whole document or window for one raw control character
// or one byte that is not UTF-8, and real torch traces have both. The bitmaps do not depend on the
// content of strings; only the events that need it are checked and repaired. It processes 6.5 GB/s
// a core with AVX2 (chosen at run time), and 1.4 GB/s with the portable code.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace traceloom {

// The bitmaps have one bit a byte, so a word covers 64 bytes. After the last word stands one with
// all bits set, so that a search needs no check for the end: a position at or after the end of the
// text means "none". The memory is reused from build to build.
class TextIndex {
 public:
  // `text` must start outside a string. The index keeps no reference to it.
  void build(std::string_view text);

  // Returns the first position >= from of a brace outside strings, or a position at or after the
  // end of the text if there is none.
  std::size_t next_brace(std::size_t from) const {
    std::size_t i = from / 64;
    std::uint64_t word = braces_[i] & (~std::uint64_t{0} << (from % 64));
    while (word == 0) word = braces_[++i];
    return i * 64 + static_cast<std::size_t>(std::countr_zero(word));
  }

  // True if [begin, end) holds a backslash, or, inside a string, a byte >= 0x80 or a control
  // character.
  bool is_suspect(std::size_t begin, std::size_t end) const;

  // Walks over the tokens: unescaped quotes, and braces outside strings. Valid until the next
  // build().
  class Tokens {
   public:
    // Starts at the first token >= from.
    Tokens(const TextIndex& index, std::size_t from)
        : words_(index.tokens_.data()), i_(from / 64), word_(words_[i_] & mask(from)) {}
    // Returns the position of the next token, or a position at or after the end of the text if
    // there is none; do not call it again then.
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

  // Builds with the portable code even on a processor with AVX2; for tests.
  void build_portable(std::string_view text);

 private:
  void reserve(std::size_t text_size);

  std::vector<std::uint64_t> tokens_;
  std::vector<std::uint64_t> braces_;
  std::vector<std::uint64_t> suspects_;
};

// Returns the position after the object whose '{' stands at `at`. It uses only the braces and
// checks nothing else. Returns nullptr if a brace stands in a string (a stray quote may have
// started that string), or if the object does not end 64 bytes before `end`.
const char* skip_plain_object(const char* at, const char* end);
// The same with the portable code even on a processor with AVX2; for tests.
const char* skip_plain_object_portable(const char* at, const char* end);

}  // namespace traceloom
