#include "base/problems.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("problems: each kind has the row of its name") {
  CHECK(describe(Problem::missing_bracket).name == "missing_bracket");
  CHECK(describe(Problem::packed_twice).name == "packed_twice");
  CHECK(describe(Problem::bad_args).name == "bad_args");
  CHECK(describe(Problem::out_of_order).name == "out_of_order");
  CHECK(describe(Problem::no_clock).name == "no_clock");
  CHECK(describe(Problem::world_size_disagrees).name == "world_size_disagrees");
  CHECK(describe(Problem::inexact_timestamp).name == "inexact_timestamp");
  CHECK(describe(Problem::events_unnamed).name == "events_unnamed");
}

TEST_CASE("problems: counts add up and the lowest offset wins") {
  ProblemCounts a;
  a.add(Problem::cut_event, 90);
  ProblemCounts b;
  b.add(Problem::cut_event, 40, 2);
  b.add(Problem::missing_bracket, 7);
  a.add(b);
  CHECK(a.count(Problem::cut_event) == 3);
  CHECK(a.first_offset(Problem::cut_event) == 40);
  CHECK(a.kinds() == std::vector<Problem>{Problem::missing_bracket, Problem::cut_event});
  CHECK(a.has_loss());
}

TEST_CASE("problems: the first explanation of a kind stays") {
  ProblemCounts a;
  CHECK(a.explanation(Problem::sync_conflict) == "");
  ProblemCounts b;
  b.add(Problem::sync_conflict, 5);
  b.explain(Problem::sync_conflict, "7 and 9");
  b.explain(Problem::sync_conflict, "8");
  b.explain(Problem::no_clock, "");
  a.add(b);
  CHECK(a.explanation(Problem::sync_conflict) == "7 and 9");
  CHECK(a.explanation(Problem::no_clock) == "");
}

TEST_CASE("problems: a notice is no loss") {
  ProblemCounts counts;
  CHECK(counts.empty());
  counts.add(Problem::control_character, 3);
  CHECK_FALSE(counts.has_loss());
}
