#include "merge/order/merge_output.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;

TEST_CASE("sorted_run: gives back what was added, also texts larger than its buffer") {
  const TemporaryFolder folder;
  SortedRun run(folder.path("out.json"));
  const std::string large(3 * SortedRun::kBufferBytes, 'x');
  for (int i = 0; i < 2000; ++i) {
    const std::string text = i == 1000 ? large : std::to_string(i);
    run.add({.start_ns = i,
             .duration_ns = 2 * i,
             .size = static_cast<std::uint32_t>(text.size()),
             .order = OrderClass::counter},
            text);
  }
  CHECK(folder.entry_count() == 0);
  for (int i = 0; i < 2000; ++i) {
    REQUIRE(run.next());
    REQUIRE(run.event().start_ns == i);
    REQUIRE(run.event().duration_ns == 2 * i);
    REQUIRE(run.event().order == OrderClass::counter);
    REQUIRE(run.text() == (i == 1000 ? large : std::to_string(i)));
  }
  CHECK_FALSE(run.next());
  CHECK_FALSE(run.next());
}

TEST_CASE("sorted_run: an empty run has no event") {
  const TemporaryFolder folder;
  SortedRun run(folder.path("out.json"));
  CHECK_FALSE(run.next());
}
