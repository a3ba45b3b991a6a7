#include "run/id_index.h"

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
