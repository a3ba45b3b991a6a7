#include "common/terminal.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("terminal: what is no terminal has no width, whatever the variables say") {
  CHECK(choose_width(false, nullptr, 0) == 0);
  CHECK(choose_width(false, "120", 100) == 0);
}

TEST_CASE("terminal: COLUMNS wins, then the terminal, then 80") {
  CHECK(choose_width(true, "120", 100) == 120);
  CHECK(choose_width(true, nullptr, 100) == 100);
  CHECK(choose_width(true, nullptr, 0) == 80);
}

TEST_CASE("terminal: a COLUMNS that is no positive number does not count") {
  for (const char* columns : {"", "wide", "-5", "0", "80x", "99999999999"})
    CHECK(choose_width(true, columns, 100) == 100);
}

TEST_CASE("terminal: colour needs a terminal that is not dumb, and no NO_COLOR") {
  CHECK(choose_colour(true, nullptr, "xterm-256color"));
  CHECK(choose_colour(true, nullptr, nullptr));
  CHECK(choose_colour(true, "", "xterm"));
  CHECK_FALSE(choose_colour(true, "1", "xterm"));
  CHECK_FALSE(choose_colour(true, "0", "xterm"));
  CHECK_FALSE(choose_colour(true, nullptr, "dumb"));
  CHECK_FALSE(choose_colour(false, nullptr, "xterm"));
}

TEST_CASE("terminal: paint wraps a text in colour and leaves it alone without") {
  CHECK(Paint(true).bold("a") == "\x1b[1ma\x1b[0m");
  CHECK(Paint(true).dim("a") == "\x1b[2ma\x1b[0m");
  CHECK(Paint(true).error("a") == "\x1b[1;31ma\x1b[0m");
  CHECK(Paint(true).warning("a") == "\x1b[1;33ma\x1b[0m");
  CHECK(Paint(true).option("a") == "\x1b[36ma\x1b[0m");
  CHECK(Paint(true).bold("") == "");
  CHECK(Paint(false).error("a") == "a");
}
