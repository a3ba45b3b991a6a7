#include "base/ascii.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;

TEST_CASE("same_text: says what == says, for each size and each place of a difference") {
  constexpr std::size_t kLongest = 40;
  std::string text;
  for (std::size_t i = 0; i < kLongest; ++i) text += static_cast<char>('a' + i % 26);
  for (std::size_t size = 0; size <= kLongest; ++size) {
    const std::string_view begin = std::string_view(text).substr(0, size);
    const std::string copy(begin);
    CHECK(same_text(begin, copy));
    CHECK_FALSE(same_text(begin, copy + "x"));
    CHECK_FALSE(same_text(copy + "x", begin));
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = copy;
      other[at] = '#';
      CAPTURE(size);
      CAPTURE(at);
      CHECK_FALSE(same_text(begin, other));
    }
  }
}
