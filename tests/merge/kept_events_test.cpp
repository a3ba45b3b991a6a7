#include "merge/plan/plan.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("kept_events: knows each event again, whichever are fewer") {
  for (const std::uint64_t every : {2U, 3U, 50U}) {
    for (const bool few_stay : {true, false}) {
      KeptEvents events;
      for (std::uint64_t i = 1000; i-- > 0;) events.add(i * 7, (i % every == 0) == few_stay);
      events.finish();
      for (std::uint64_t i = 0; i < 1000; ++i)
        REQUIRE(events.keeps(i * 7) == ((i % every == 0) == few_stay));
    }
  }
}
