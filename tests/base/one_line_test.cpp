#include "base/units.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("one_line: what a terminal prints stays as it is") {
  CHECK(one_line("") == "");
  CHECK(one_line("void gemm<float>(int*) | caf\u00E9 \U0001F600 \u0645") ==
        "void gemm<float>(int*) | caf\u00E9 \U0001F600 \u0645");
  CHECK(one_line("\u00A0\u2027\u202F\u2065\u206A") == "\u00A0\u2027\u202F\u2065\u206A");
}

TEST_CASE("one_line: control characters become escapes, also the high ones") {
  CHECK(one_line("\x1b]0;x\x07") == R"(\x1b]0;x\x07)");
  CHECK(one_line(std::string_view("\0\x1f\x7F", 3)) == R"(\x00\x1f\u007f)");
  CHECK(one_line("a\nb\rc\td") == R"(a\nb\rc\td)");
  CHECK(one_line("\u0080\u009b31m\u009f") == R"(\u0080\u009b31m\u009f)");
}

TEST_CASE("one_line: ends of lines, and what turns the direction of text") {
  CHECK(one_line("\u2028\u2029") == R"(\u2028\u2029)");
  CHECK(one_line("\u202A\u202B\u202C\u202D\u202E") == R"(\u202a\u202b\u202c\u202d\u202e)");
  CHECK(one_line("\u2066\u2067\u2068\u2069") == R"(\u2066\u2067\u2068\u2069)");
}

TEST_CASE("one_line: bytes that are not UTF-8 are replaced, also those of high controls alone") {
  CHECK(one_line("\x9b"
                 "31m") == "\uFFFD31m");
  CHECK(one_line("a\xC2") == "a\uFFFD");
  CHECK(one_line("a\xE2\x80") == "a\uFFFD");
}

TEST_CASE("one_line: applied twice it changes nothing more") {
  const std::string once = one_line("\x1b\n\u009b\u202e\xFF\\x1b");
  CHECK(one_line(once) == once);
}

TEST_CASE("printable_lines: line feeds stay, the rest becomes escapes") {
  CHECK(printable_lines("a\x1b[1m,b\r\n\u009b\n") == "a\\x1b[1m,b\\r\n\\u009b\n");
}
