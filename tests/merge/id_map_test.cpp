#include "merge/id_map.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("id_map: a whole number keeps its distance from the base") {
  IdSet ids;
  ids.add("31");
  ids.add("7");
  const IdMap map(ids, 100);
  CHECK(map.number("31") == 131);
  CHECK(map.number("7") == 107);
  CHECK(map.end() == 131);
}

TEST_CASE("id_map: other ids are numbered behind the whole numbers, as they were met") {
  IdSet ids;
  ids.add("\"0x1f\"");
  ids.add("31");
  ids.add("\"31\"");
  ids.add("-5");
  ids.add("\"0x1f\"");
  const IdMap map(ids, 10);
  CHECK(map.number("31") == 41);
  CHECK(map.number("\"0x1f\"") == 42);
  CHECK(map.number("\"31\"") == 43);
  CHECK(map.number("-5") == 44);
  CHECK(map.end() == 44);
}

TEST_CASE("id_map: 0 gets another number, for viewers take it for no id") {
  IdSet ids;
  ids.add("0");
  ids.add("2");
  const IdMap map(ids, 0);
  CHECK(map.number("2") == 2);
  CHECK(map.number("0") == 3);
  CHECK(map.end() == 3);
}

TEST_CASE("id_map: a file without ids takes no numbers") {
  const IdSet ids;
  CHECK(ids.empty());
  CHECK(IdMap(ids, 7).end() == 7);
}

TEST_CASE("id_map: numbers from 2^40 on do not spread the range") {
  IdSet ids;
  ids.add("1099511627775");  // 2^40 - 1
  ids.add("1099511627776");
  ids.add("9007199254740993");
  const IdMap map(ids, 0);
  CHECK(map.number("1099511627775") == 1099511627775U);
  CHECK(map.number("1099511627776") == 1099511627776U);
  CHECK(map.number("9007199254740993") == 1099511627777U);
  CHECK(map.end() == 1099511627777U);
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
  const IdMap map(first, 0);
  CHECK(map.number("\"a\"") == 10);
  CHECK(map.number("\"b\"") == 11);
  CHECK(map.end() == 11);
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
