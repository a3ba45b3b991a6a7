#include "run/launches.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;

namespace {

std::string found(const IdIndex<std::string>& index, std::size_t file, std::int64_t id,
                  std::int64_t at_ns) {
  const std::string* const value = index.find(file, id, at_ns);
  return value == nullptr ? "nothing" : *value;
}

}  // namespace

TEST_CASE("id index: an id counts in its file, and of several the last one that had begun") {
  IdIndex<std::string> index;
  index.add(0, 7, 500, "second run");
  index.add(0, 7, 100, "first run");
  index.add(1, 7, 300, "other file");
  index.add(0, kNoId, 100, "no id");
  index.sort();
  CHECK(found(index, 0, 7, 400) == "first run");
  CHECK(found(index, 0, 7, 500) == "second run");
  CHECK(found(index, 0, 7, 99) == "first run");
  CHECK(found(index, 1, 7, 0) == "other file");
  CHECK(found(index, 1, 7, 900) == "other file");
  CHECK(found(index, 0, 8, 400) == "nothing");
  CHECK(found(index, 2, 7, 400) == "nothing");
  CHECK(found(index, 0, kNoId, 400) == "nothing");
}

TEST_CASE("id index: finds ids of many threads, in any order and however far apart") {
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  for (const std::int64_t runs : {1, 2, 3, 5, 31, 32, 33, 100})
    for (const std::int64_t gap : {1, 7, 100'000}) {
      CAPTURE(runs);
      CAPTURE(gap);
      IdIndex<std::int64_t> index;
      index.reserve(1000);
      for (std::int64_t run = runs; run-- > 0;)
        for (std::int64_t i = 0; i < 10; ++i) {
          const std::int64_t id = gap * (10 * i + run);
          index.add(3, id, 2 * id, id);
        }
      index.add(3, -kFar, 0, -kFar);
      index.add(3, kFar, 0, kFar);
      index.sort();
      for (std::int64_t run = 0; run < runs; ++run) {
        const std::int64_t* const value = index.find(3, gap * (90 + run), 0);
        REQUIRE(value != nullptr);
        CHECK(*value == gap * (90 + run));
      }
      REQUIRE(index.find(3, kFar, 0) != nullptr);
      CHECK(*index.find(3, kFar, 0) == kFar);
      REQUIRE(index.find(3, -kFar, 0) != nullptr);
      CHECK(*index.find(3, -kFar, 0) == -kFar);
      for (const std::int64_t absent : {-kFar - 5, -kFar + 5, std::int64_t{-3}, kFar - 1, kFar + 1})
        CHECK(index.find(3, absent, 0) == nullptr);
      CHECK(index.find(4, 0, 0) == nullptr);
    }
}

TEST_CASE("id index: an index without ids finds nothing") {
  IdIndex<int> index;
  index.sort();
  CHECK(index.find(0, 1, 0) == nullptr);
}
