#include "event/event.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace traceloom;

TEST_CASE("event: gives the text of a field, and nothing for one that is absent") {
  Event event;
  event.raw = R"({"ph":"X","ts":12})";
  event.present = static_cast<std::uint16_t>(Event::bit(Key::ph) | Event::bit(Key::ts));
  event.fields[static_cast<std::size_t>(Key::ph)] = {6, 9};
  event.fields[static_cast<std::size_t>(Key::ts)] = {15, 17};
  event.fields[static_cast<std::size_t>(Key::dur)] = {1, 5};  // left over from an event before
  CHECK(event.text(Key::ph) == "\"X\"");
  CHECK(event.text(Key::ts) == "12");
  CHECK(event.text(Key::dur).empty());
  CHECK_FALSE(event.has(Key::dur));
  CHECK(event.range(Key::dur).end == 0);
}

TEST_CASE("event: every key has a name of its own") {
  CHECK(key_name(Key::name) == "name");
  CHECK(key_name(Key::bind_id) == "bind_id");
  CHECK(key_name(Key::s) == "s");
  for (std::size_t a = 0; a < kKeyCount; ++a)
    for (std::size_t b = 0; b < a; ++b)
      CHECK(key_name(static_cast<Key>(a)) != key_name(static_cast<Key>(b)));
}

TEST_CASE("event: takes the quotes off strings only") {
  CHECK(unquoted(R"("a")") == "a");
  CHECK(unquoted(R"("")").empty());
  CHECK(unquoted("12") == "12");
  CHECK(unquoted("\"") == "\"");
  CHECK(unquoted("").empty());
  CHECK(decoded(R"("a\n\u00e9")") == "a\n\xc3\xa9");
  CHECK(decoded("12.50") == "12.50");
}

TEST_CASE("event: one spelling for what is the same pid or tid") {
  for (const char* seven : {"7", "7.0", "7.000", "7e0", "7E0", "7e+0", "7.0e0", "7e00", "\"7\"",
                            "\"7.0\"", "\"\\u0037\"", "07"}) {
    CAPTURE(seven);
    CHECK(canonical_id(seven) == "7");
  }
  CHECK(canonical_id("7e2") == "700");
  CHECK(canonical_id("-7.0") == "-7");
  CHECK(canonical_id("0") == "0");
  CHECK(canonical_id("-0") == "0");
  CHECK(canonical_id("0.0") == "0");
  CHECK(canonical_id("-1107294656") == "-1107294656");
  CHECK(canonical_id("18446744073709551616") == "18446744073709551616");
  CHECK(canonical_id("1e29") == "100000000000000000000000000000");
}

TEST_CASE("event: what is no integer of at most 30 digits stays as it is written") {
  for (const char* text : {"1e30", "7.5", "1.50e1", "7e-0", "7e", "7e+", "7e1x", "7e100", "true",
                           "[1]", "-", "7x", "1e99", "1234567890123456789012345678901"}) {
    CAPTURE(text);
    CHECK(canonical_id(text) == text);
  }
}

TEST_CASE("event: whole numbers in any spelling") {
  for (const char* seven : {"7", "7.0", "7e0", "\"7\"", "\"7.00\""}) {
    CAPTURE(seven);
    CHECK(json_integer(seven) == 7);
  }
  CHECK(json_integer("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  for (const char* text :
       {"", "null", "true", "[7]", "7.5", "7x", "\"7x\"", "9223372036854775808"}) {
    CAPTURE(text);
    CHECK_FALSE(json_integer(text).has_value());
  }
}

TEST_CASE("event: strings keep their quotes as ids, so that none looks like a number or a null") {
  CHECK(canonical_id(R"("Spans")") == R"("Spans")");
  CHECK(canonical_id(R"("caf\u00e9")") == "\"caf\xc3\xa9\"");
  CHECK(canonical_id(R"("")") == R"("")");
  CHECK(canonical_id(R"("null")") == R"("null")");
  CHECK(canonical_id(R"("7.5")") == R"("7.5")");
  CHECK(canonical_id("null").empty());
  CHECK(canonical_id("").empty());
}
