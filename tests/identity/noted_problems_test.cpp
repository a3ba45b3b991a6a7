#include "identity/evidence/merge_notes.h"

#include <doctest/doctest.h>

#include <string_view>

using namespace traceloom;

namespace {

void add_notes(std::string_view notes, ProblemCounts& problems) {
  add_noted_problems(JsonDocument(notes).root(), problems);
}

}  // namespace

TEST_CASE("noted_problems: what a merge has noted of clocks is still said of the merged file") {
  ProblemCounts problems;
  add_notes(
      R"({"version":"0.1.0","problems":[
        {"file":"rank0.json","kind":"missing_rank","count":4,"first_offset":0,"detail":"1-4 of 8"},
        {"file":"rank5.json","kind":"no_common_collective","count":3,"first_offset":0,
         "detail":"clock of ranks 5, 6 and 7 against rank 0: they have no collective in common"},
        {"file":"rank2.json","kind":"clock_conflict","count":1,"first_offset":0,
         "detail":"clock of rank 2: a; --offset 2=-945ns brings the last of them together"},
        {"file":"merged.json","kind":"clock_conflict","count":2,"first_offset":0,
         "detail":"found when it was merged: clocks of ranks 8 and 9: b; trace-merge --offset 8=1ns fits"}]})",
      problems);
  CHECK(problems.count(Problem::missing_rank) == 0);
  CHECK(problems.count(Problem::no_common_collective) == 3);
  CHECK(problems.explanation(Problem::no_common_collective) ==
        "found when it was merged: clock of ranks 5, 6 and 7 against rank 0: they have no "
        "collective in common");
  CHECK(problems.count(Problem::clock_conflict) == 3);
  CHECK(problems.explanation(Problem::clock_conflict) ==
        "found when it was merged: clock of rank 2: a; clocks of ranks 8 and 9: b");
}

TEST_CASE("noted_problems: notes that are damaged add nothing") {
  for (const char* const notes :
       {"", "7", R"({"problems":{}})", R"({"problems":[7,"clock_conflict",null]})",
        R"({"problems":[{"kind":"clock_conflict","count":0}]})",
        R"({"problems":[{"kind":"clock_conflict","count":-1,"detail":"x"}]})",
        R"({"problems":[{"kind":"no_such_kind","count":1,"detail":"x"}]})"}) {
    CAPTURE(notes);
    ProblemCounts problems;
    add_notes(notes, problems);
    CHECK(problems.empty());
  }
}
