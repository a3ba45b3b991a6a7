#include "identity/evidence/recorder_evidence.h"
#include "identity/survey_text.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;

namespace {

// Returns the problems counted for a file that reports losses at its end.
ProblemCounts problems_of(const std::string& args) {
  return evidence_of(
             R"({"name":"recorder","cat":"","ph":"M","ts":1,"pid":3,"tid":41,"args":)" + args + "}",
             1)
      .problems;
}

}  // namespace

TEST_CASE("recorder_losses: what a full disk and a full pool took are losses") {
  const ProblemCounts problems = problems_of(
      R"({"events":3,"dropped":5,"lost":70,"error":"No space left on device","clock_error_ns":7})");
  CHECK(problems.count(Problem::events_lost) == 70);
  CHECK(problems.explanation(Problem::events_lost) == "No space left on device; free the disk");
  CHECK(problems.first_offset(Problem::events_lost) == 1);
  CHECK(problems.count(Problem::events_dropped) == 5);
  CHECK(problems.count(Problem::events_unnamed) == 0);
  CHECK(problems.has_loss());
}

TEST_CASE("recorder_losses: a file without any, and one of before they were told, has none") {
  CHECK(problems_of(R"({"events":3,"dropped":0,"lost":0,"clock_error_ns":7})").empty());
  CHECK(problems_of(R"({"events":3,"dropped":0,"clock_error_ns":7})").empty());
}

TEST_CASE("recorder_losses: a flight recorder was meant to overwrite") {
  CHECK(problems_of(R"({"events":3,"dropped":100,"when_full":"ring","lost":0})").empty());
}

TEST_CASE("recorder_losses: names that a journal had no room for") {
  const ProblemCounts problems = problems_of(R"({"events":3,"dropped":0,"lost":0,"unnamed":2})");
  CHECK(problems.count(Problem::events_unnamed) == 2);
  CHECK(problems.has_loss());
}

TEST_CASE("recorder_losses: what is damaged in a journal is no matter of the disk") {
  const ProblemCounts problems =
      problems_of(R"({"events":8,"dropped":0,"lost":0,"recovered":8,"damaged":3})");
  CHECK(problems.count(Problem::events_damaged) == 3);
  CHECK(problems.count(Problem::events_lost) == 0);
  CHECK(problems.has_loss());
  const ProblemCounts nameless = problems_of(R"({"lost":1,"error":"no names"})");
  CHECK(nameless.explanation(Problem::events_lost) == "no names");
}

TEST_CASE("recorder_losses: where an error took none of the events it took something else") {
  const ProblemCounts problems = problems_of(R"({"events":3,"dropped":0,"lost":0,"error":"full"})");
  CHECK(problems.count(Problem::events_lost) == 1);
}

TEST_CASE(
    "recorder_losses: what a file says goes to no terminal as it is, and numbers may be odd") {
  const ProblemCounts problems =
      problems_of(R"({"dropped":-4,"lost":2,"unnamed":"x","error":"\u001b[31mred"})");
  CHECK(problems.count(Problem::events_lost) == 2);
  CHECK(problems.explanation(Problem::events_lost) == "");
  CHECK(problems.count(Problem::events_dropped) == 0);
}
