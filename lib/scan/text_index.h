// TextIndex: where the quotes and braces of a piece of JSON text are, as bitmaps.
//
//   TextIndex index;
//   index.build(window);                        // window starts outside a string
//   std::size_t quote = index.next_quote(0);    // position, or TextIndex::npos
//
// Why our own and not simdjson's: simdjson refuses a whole document or window for one raw control
// character or one byte that is not UTF-8, and real torch traces have both. Bitmaps do not care what a
// string holds; the check and the repair happen for the events that need it.
// Cost: 6.5 GB/s a core with AVX2 (chosen at run time), 1.4 GB/s portable.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace traceloom {

// Bitmaps with one bit a byte, 64 bytes a word. Reuses its memory from build to build.
class TextIndex {
 public:
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  // `text` must start outside a string. The index keeps no reference to it.
  void build(std::string_view text);

  // First position >= from of an unescaped quote, of a brace outside strings; npos when there is none.
  std::size_t next_quote(std::size_t from) const { return next(quotes_.data(), from); }
  std::size_t next_brace(std::size_t from) const { return next(braces_.data(), from); }

  // True when [begin, end) holds a backslash, a byte >= 0x80 or a control character inside a string.
  bool is_suspect(std::size_t begin, std::size_t end) const;

  // Builds with the portable code even where AVX2 is there; for tests.
  void build_portable(std::string_view text);

 private:
  std::size_t next(const std::uint64_t* words, std::size_t from) const {
    std::size_t i = from / 64;
    if (i >= size_words_) return npos;
    std::uint64_t word = words[i] & (~std::uint64_t{0} << (from % 64));
    while (word == 0) {
      if (++i >= size_words_) return npos;
      word = words[i];
    }
    return i * 64 + static_cast<std::size_t>(std::countr_zero(word));
  }
  void reserve(std::size_t text_size);

  std::size_t size_words_ = 0;
  std::vector<std::uint64_t> quotes_;
  std::vector<std::uint64_t> braces_;
  std::vector<std::uint64_t> suspects_;
};

}  // namespace traceloom
