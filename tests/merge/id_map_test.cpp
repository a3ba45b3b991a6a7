#include "merge/facts/ids.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string_view>

using namespace traceloom;

TEST_CASE("id_map: a whole number keeps its distance from the begin of the range") {
  IdSet ids;
  ids.add("31");
  ids.add("7");
  CHECK(ids.range() == 32);
  const IdMap map(ids, 100, 100);
  CHECK(map.number("31") == 131);
  CHECK(map.number("7") == 107);
  CHECK(map.end() == 200);
}

TEST_CASE("id_map: other ids are numbered from the end of the range down, as they were met") {
  IdSet ids;
  ids.add("\"0x1f\"");
  ids.add("31");
  ids.add("\"31\"");
  ids.add("-5");
  ids.add("\"0x1f\"");
  CHECK(ids.range() == 35);
  const IdMap map(ids, 1000, 100);
  CHECK(map.number("31") == 1031);
  CHECK(map.number("\"0x1f\"") == 1099);
  CHECK(map.number("\"31\"") == 1098);
  CHECK(map.number("-5") == 1097);
}

TEST_CASE("id_map: the smallest range still keeps all ids apart") {
  IdSet ids;
  ids.add("2");
  ids.add("\"a\"");
  ids.add("\"b\"");
  REQUIRE(ids.range() == 5);
  const IdMap map(ids, 0, 5);
  CHECK(map.number("2") == 2);
  CHECK(map.number("\"a\"") == 4);
  CHECK(map.number("\"b\"") == 3);
}

TEST_CASE("id_map: 0 gets another number, for viewers take it for no id") {
  IdSet ids;
  ids.add("0");
  ids.add("2");
  const IdMap map(ids, 0, 10);
  CHECK(map.number("2") == 2);
  CHECK(map.number("0") == 9);
}

TEST_CASE("id_map: numbers from 2^40 on do not spread the range") {
  IdSet ids;
  ids.add("1099511627775");  // 2^40 - 1
  ids.add("1099511627776");
  ids.add("9007199254740993");
  CHECK(ids.range() == 1099511627778);
  CHECK(ids.range(kMergedIdLimit) == 1099511627779);
  const IdMap map(ids, 0, ids.range());
  CHECK(map.number("1099511627775") == 1099511627775U);
  CHECK(map.number("1099511627776") == 1099511627777U);
  CHECK(map.number("9007199254740993") == 1099511627776U);
}

TEST_CASE("id_map: sets of two chunks add up") {
  IdSet first;
  first.add("3");
  first.add("\"a\"");
  CHECK_FALSE(first.empty());
  IdSet second;
  second.add("9");
  second.add("\"b\"");
  second.add("\"a\"");
  first.add(second);
  CHECK(first.range() == 12);
  const IdMap map(first, 0, 12);
  CHECK(map.number("\"a\"") == 11);
  CHECK(map.number("\"b\"") == 10);
}

TEST_CASE("id_map: files share a power of ten as range, one file takes what it needs") {
  const IdSet none;
  IdSet nine;
  nine.add("9");
  IdSet ten;
  ten.add("10");
  CHECK(none.empty());
  CHECK(common_id_range({}) == 0);
  CHECK(common_id_range({none.range(), none.range()}) == 0);
  CHECK(common_id_range({nine.range(), none.range()}) == 10);
  CHECK(common_id_range({nine.range(), ten.range()}) == 100);
  CHECK(common_id_range({ten.range()}) == 11);
}

TEST_CASE("id_map: numbers of an earlier merge are plain however large") {
  IdSet ids;
  ids.add("5");
  ids.add("2000000000017");
  CHECK(ids.range() == 7);
  CHECK(ids.range(kMergedIdLimit) == 2000000000019);
  const IdMap map(ids, 0, 2000000000019, kMergedIdLimit);
  CHECK(map.number("5") == 5);
  CHECK(map.number("2000000000017") == 2000000000017);
  IdSet too_large;
  too_large.add("9007199254740992");  // 2^53
  CHECK(too_large.range(kMergedIdLimit) == 2);
}

TEST_CASE("id_map: maps are equal when they number the same ids alike") {
  const auto ids_of = [](std::initializer_list<std::string_view> keys) {
    IdSet ids;
    for (const std::string_view key : keys) ids.add(key);
    return ids;
  };
  const IdSet small = ids_of({"5"});
  const IdSet large = ids_of({"7"});
  CHECK(IdMap(small, 10, 10) == IdMap(large, 10, 10));
  CHECK(IdMap(small, 10, 10) == IdMap(large, 10, 100));  // no id is counted from the end
  CHECK_FALSE(IdMap(small, 10, 10) == IdMap(small, 20, 10));
  const IdSet a = ids_of({"5", "\"a\""});
  CHECK_FALSE(IdMap(small, 10, 10) == IdMap(a, 10, 10));
  CHECK(IdMap(a, 10, 10) == IdMap(a, 10, 10));
  CHECK_FALSE(IdMap(a, 10, 10) == IdMap(a, 10, 100));
  const IdSet b = ids_of({"5", "\"b\""});
  CHECK_FALSE(IdMap(a, 10, 10) == IdMap(b, 10, 10));
}

TEST_CASE("id_map: 31, \"31\" and \"0x1f\" stay three ids; 31.0 is 31") {
  std::string scratch;
  CHECK(id_key("31", scratch) == "31");
  CHECK(id_key("31.0", scratch) == "31");
  CHECK(id_key("\"31\"", scratch) == "\"31\"");
  CHECK(id_key("\"0x1f\"", scratch) == "\"0x1f\"");
  CHECK(id_key("-5", scratch) == "-5");
  CHECK(id_key("1.5", scratch) == "1.5");
}
