#include "table/table.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("text_width: counts code points, not bytes") {
  CHECK(text_width("") == 0);
  CHECK(text_width("gemm") == 4);
  CHECK(text_width("caf\u00E9 \U0001F600") == 6);
}

TEST_CASE("text_width: a text that fits is not touched") {
  CHECK(shorten_middle("gemm", 4) == "gemm");
  CHECK(shorten_middle("", 1) == "");
}

TEST_CASE("text_width: both ends of a long text are kept, the start gets the odd one") {
  CHECK(shorten_middle("0123456789", 9) == "0123…6789");
  CHECK(shorten_middle("0123456789", 6) == "012…89");
  CHECK(shorten_middle("0123456789", 2) == "0…");
  CHECK(shorten_middle("0123456789", 1) == "…");
}

TEST_CASE("text_width: no character is cut apart") {
  CHECK(shorten_middle("\u00E9\u00E9\u00E9\u00E9\u00E9", 4) == "\u00E9\u00E9…\u00E9");
}
