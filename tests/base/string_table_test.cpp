#include "base/string_table.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;

TEST_CASE("string_table: numbers texts in the order of first sight") {
  StringTable table;
  CHECK(table.intern("gemm") == 0);
  CHECK(table.intern("relu") == 1);
  CHECK(table.intern("gemm") == 0);
  CHECK(table.size() == 2);
  CHECK(table[0] == "gemm");
  CHECK(table[1] == "relu");
}

TEST_CASE("string_table: takes any bytes, also none and very many") {
  StringTable table;
  const std::string large(200'000, 'x');
  CHECK(table.intern("") == 0);
  CHECK(table.intern(std::string_view("a\0b", 3)) == 1);
  CHECK(table.intern(std::string_view("a\0c", 3)) == 2);
  CHECK(table.intern(large) == 3);
  CHECK(table.intern("behind it") == 4);
  CHECK(table.intern("") == 0);
  CHECK(table[1] == std::string_view("a\0b", 3));
  CHECK(table[3] == large);
  CHECK(table[4] == "behind it");
}

TEST_CASE("string_table: keeps its own copy of a text") {
  StringTable table;
  std::string text = "before";
  table.intern(text);
  text = "behind";
  CHECK(table[0] == "before");
  CHECK(table.intern("behind") == 1);
}

TEST_CASE("string_table: numbers and texts survive growth") {
  StringTable table;
  for (int i = 0; i < 100'000; ++i) table.intern("name " + std::to_string(i));
  const std::string_view first = table[0];
  bool same = true;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    same &= table.intern("name " + std::to_string(i)) == i;
    same &= table[i] == "name " + std::to_string(i);
  }
  CHECK(same);
  CHECK(table.size() == 100'000);
  CHECK(first == "name 0");
}

TEST_CASE("string_table: starts again after clear") {
  StringTable table;
  table.clear();
  for (int i = 0; i < 50'000; ++i) table.intern("name " + std::to_string(i));
  table.clear();
  CHECK(table.size() == 0);
  CHECK(table.intern("name 7") == 0);
  CHECK(table.intern("name 8") == 1);
  CHECK(table[0] == "name 7");
}

TEST_CASE("string_table: pairs of numbers are texts too") {
  StringTable table;
  CHECK(table.intern(NumberPair(1, 2).bytes()) == 0);
  CHECK(table.intern(NumberPair(2, 1).bytes()) == 1);
  CHECK(table.intern(NumberPair(1, 2).bytes()) == 0);
}
