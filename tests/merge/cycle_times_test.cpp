#include "merge/survey/selection.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("cycle_times: what is left of cycles goes from the first to the last event in each") {
  const std::vector<MergedCycle> cycles{
      {"a", 10, 1000, 1900}, {"b", 20, 2000, 2900}, {"c", 30, 3000, 3900, 7}};
  CycleTimes kept;
  CHECK(kept.left_of(cycles).empty());
  for (const std::int64_t ns : {3500, 3600, 1100, 900, 3400}) kept.add(cycles, ns);
  CHECK(kept.left_of(cycles) ==
        std::vector<MergedCycle>{{"a", 10, 900, 1100}, {"c", 30, 3400, 3600, 7}});
  CycleTimes later;
  later.add(cycles, 2999);
  later.add(cycles, 5000);
  kept.add(later);
  CHECK(kept.left_of(cycles) == std::vector<MergedCycle>{{"a", 10, 900, 1100},
                                                         {"b", 20, 2999, 2999},
                                                         {"c", 30, 3400, 5000, 7}});
  kept.clear();
  kept.add(later);
  CHECK(kept.left_of(cycles).size() == 2);
  kept.clear();
  kept.add({}, 17);
  CHECK(kept.left_of({}).empty());
}
