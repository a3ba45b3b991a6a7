#include "base/string_table.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>

using namespace traceloom;

TEST_CASE("text_buffer: a text grows by whole texts and by what is written into its room") {
  TextBuffer text;
  CHECK(text.empty());
  CHECK(text.view().empty());
  text += "";
  CHECK(text.capacity() == 0);
  text += "ab";
  char* const room = text.room(10);
  std::memcpy(room, "cdefghij", 8);
  text.end_at(room + 3);
  CHECK(text.view() == "abcde");
  text += "!";
  CHECK(std::string(text) == "abcde!");
  CHECK(text.size() == 6);
}

TEST_CASE("text_buffer: what was written stays when the text grows, and the memory when it ends") {
  TextBuffer text;
  std::string expected;
  for (int i = 0; i < 1'000; ++i) {
    text += std::to_string(i);
    expected += std::to_string(i);
  }
  CHECK(text.view() == expected);
  const std::size_t capacity = text.capacity();
  CHECK(capacity >= expected.size());
  text.clear();
  CHECK(text.empty());
  CHECK(text.capacity() == capacity);
  CHECK(text.room(capacity) == text.view().data());
}

TEST_CASE("text_buffer: who was moved from is empty") {
  TextBuffer from;
  from += "abc";
  TextBuffer to(std::move(from));
  CHECK(to.view() == "abc");
  CHECK(from.empty());  // NOLINT(bugprone-use-after-move)
  CHECK(from.capacity() == 0);
  from += "def";
  to = std::move(from);
  CHECK(to.view() == "def");
  CHECK(from.empty());  // NOLINT(bugprone-use-after-move)
}
