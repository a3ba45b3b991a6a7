// These are the cases of the reference on the format, by their numbers there: slices that begin,
// end and overlap in odd ways.
#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("format case 35: a pair of one time is a slice of no length, with nothing below it") {
  // Composer counts whole microseconds: a span that is shorter begins and ends in one.
  const std::string composer = R"([{"ph":"B","name":"outer","ts":10,"pid":0,"tid":7},
{"ph":"B","name":"zero","ts":10,"pid":0,"tid":7},
{"ph":"E","name":"zero","ts":10,"pid":0,"tid":7},
{"ph":"B","name":"next","ts":10,"pid":0,"tid":7},
{"ph":"E","name":"next","ts":15,"pid":0,"tid":7},
{"ph":"E","name":"outer","ts":20,"pid":0,"tid":7}])";
  const std::string torch = R"([{"ph":"X","name":"x","ts":10,"dur":5,"pid":1,"tid":7}])";
  const NamedTexts files{{"rank0.json", composer}, {"rank1.json", torch}};
  const std::string zero = R"({"ph":"X","name":"zero","ts":0, "dur": 0,"pid":0,"tid":7})";
  const std::string x = R"({"ph":"X","name":"x","ts":0,"dur":5,"pid":1,"tid":7})";
  const MergedCase merged(files);
  CHECK(merged.events() ==
        Texts{R"({"ph":"X","name":"outer","ts":0, "dur": 10,"pid":0,"tid":7})", zero,
              R"({"ph":"X","name":"next","ts":0, "dur": 5,"pid":0,"tid":7})", x});
  CHECK(merged.problems().empty());
}

TEST_CASE("format case 36: what one cycle leaves open takes nothing of the next one") {
  const std::string first = R"([{"ph":"B","name":"step","ts":10,"pid":1,"tid":7},
                                {"ph":"i","name":"a","ts":20,"pid":1,"tid":7}])";
  const std::string second = R"([{"ph":"E","name":"step","ts":100,"pid":1,"tid":7},
                                 {"ph":"E","ts":101,"pid":1,"tid":7},
                                 {"ph":"i","name":"a","ts":120,"pid":1,"tid":7}])";
  const MergedCase merged({{"ep0-ba1-rank0.json", first}, {"ep0-ba2-rank0.json", second}});
  CHECK(merged.events() ==
        Texts{R"({"ph":"i","name":"a","ts":10,"pid":0,"tid":7})",
              R"({"ph":"X","name":"step","ts":0, "dur": 10,"pid":0,"tid":7, "unclosed": true})",
              R"({"ph":"i","name":"a","ts":110,"pid":0,"tid":7})"});
  CHECK(merged.problems(0) == Texts{"begin_without_end 1 at 1"});
  CHECK(merged.problems(1) == Texts{"end_without_begin 2 at 1"});
}

TEST_CASE("format case 37: an end of another name closes the innermost slice, as in catapult") {
  const MergedCase merged(R"([{"ph":"B","name":"a","ts":1,"pid":1,"tid":7},
{"ph":"B","name":"b","ts":2,"pid":1,"tid":7},
{"ph":"E","name":"other","ts":3,"pid":1,"tid":7},
{"ph":"E","name":"","ts":5,"pid":1,"tid":7}])");
  CHECK(merged.events() == Texts{R"({"ph":"X","name":"b","ts":1, "dur": 1,"pid":0,"tid":7})",
                                 R"({"ph":"X","name":"a","ts":0, "dur": 4,"pid":0,"tid":7})"});
  CHECK(merged.problems().empty());
}

TEST_CASE("format case 37: in Composer's files an end of another name closes nothing") {
  // Composer's files are full of ends without a begin, each of which would close a slice that goes
  // on.
  const MergedCase merged(R"([{"ph":"M","name":"global_rank","pid":0,"tid":7,"args":{"value":0}},
{"ph":"B","name":"a","ts":1,"pid":0,"tid":7},
{"ph":"B","name":"b","ts":2,"pid":0,"tid":7},
{"ph":"E","name":"other","ts":3,"pid":0,"tid":7},
{"ph":"E","name":"a","ts":5,"pid":0,"tid":7},
{"ph":"i","name":"a","ts":9,"pid":0,"tid":7}])");
  CHECK(merged.events() ==
        Texts{R"({"ph":"i","name":"a","ts":8,"pid":0,"tid":7})",
              R"({"ph":"X","name":"a","ts":0, "dur": 4,"pid":0,"tid":7})",
              R"({"ph":"X","name":"b","ts":1, "dur": 3,"pid":0,"tid":7, "unclosed": true})"});
  CHECK(merged.problems() == Texts{"end_without_begin 1 at 161", "begin_without_end 1 at 115"});
}

TEST_CASE("format case 38: a parent comes before the child that starts with it") {
  const MergedCase merged(R"([{"ph":"X","name":"leaf","ts":10,"dur":2,"pid":1,"tid":7},
{"ph":"X","name":"child","ts":10,"dur":3,"pid":1,"tid":7},
{"ph":"X","name":"parent","ts":10,"dur":8,"pid":1,"tid":7}])");
  CHECK(merged.events() == Texts{R"({"ph":"X","name":"parent","ts":0,"dur":8,"pid":0,"tid":7})",
                                 R"({"ph":"X","name":"child","ts":0,"dur":3,"pid":0,"tid":7})",
                                 R"({"ph":"X","name":"leaf","ts":0,"dur":2,"pid":0,"tid":7})"});
  CHECK(merged.problems().empty());
}

TEST_CASE("format case 39: slices that overlap in part stay as they are, and are counted") {
  const MergedCase merged(R"([{"ph":"X","name":"a","ts":10,"dur":5,"pid":1,"tid":7},
{"ph":"X","name":"b","ts":12,"dur":5,"pid":1,"tid":7},
{"ph":"X","name":"c","ts":12,"dur":5,"pid":1,"tid":8}])");
  CHECK(merged.events() == Texts{R"({"ph":"X","name":"a","ts":0,"dur":5,"pid":0,"tid":7})",
                                 R"({"ph":"X","name":"b","ts":2,"dur":5,"pid":0,"tid":7})",
                                 R"({"ph":"X","name":"c","ts":2,"dur":5,"pid":0,"tid":8})"});
  CHECK(merged.problems() == Texts{"partial_overlap 1 at 56"});
  CHECK(describe(Problem::partial_overlap).severity == Severity::info);
}
