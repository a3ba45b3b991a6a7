#include "merge/survey/linked_events.h"
#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

using namespace traceloom;

namespace {

std::string x(int tid, int ts) {
  return fmt::format(R"({{"ph":"X","name":"x","pid":1,"tid":{},"ts":{},"dur":10}})", tid, ts);
}

// Returns an `s` or `f` of the arrow 5.
std::string arrow(const std::string& phase, int tid, int ts, const std::string& more = "") {
  return fmt::format(R"({{"ph":"{}","name":"go","cat":"c","id":5,"pid":1,"tid":{},"ts":{}{}}})",
                     phase, tid, ts, more);
}

std::string joined_list(const Texts& events) {
  return fmt::format("[{}]", fmt::join(events, ",\n"));
}

// Returns the ends of a merge's arrows, as they are written.
Texts ends_of(const MergedCase& merged) {
  Texts ends;
  for (const std::string& event : merged.events())
    if (event.find(R"("ph":"f")") != std::string::npos) ends.push_back(event);
  return ends;
}

Texts ends_of(const Texts& events) {
  return ends_of(MergedCase(joined_list(events)));
}

Texts problems_of(const Texts& events) {
  return MergedCase(joined_list(events)).problems();
}

constexpr const char* kKept = R"({"ph":"f","name":"go","cat":"c","id":5,"pid":0,"tid":2,"ts":15})";
constexpr const char* kBound =
    R"({"bp": "e", "ph":"f","name":"go","cat":"c","id":5,"pid":0,"tid":2,"ts":15})";

}  // namespace

TEST_CASE("flow_starts: an end with a start stays as it is, wherever the start stands") {
  CHECK(ends_of({x(1, 0), arrow("s", 1, 5), arrow("f", 2, 15), x(2, 20)}) == Texts{kKept});
  CHECK(ends_of({arrow("f", 2, 15), x(2, 20), arrow("s", 1, 5), x(1, 0)}) == Texts{kKept});
  // All events may be at one time.
  CHECK(ends_of({x(1, 0), arrow("s", 1, 0), arrow("f", 2, 0)}).front().find("bp") ==
        std::string::npos);
  CHECK(problems_of({x(1, 0), arrow("s", 1, 5), arrow("f", 2, 15), x(2, 20)}).empty());
}

TEST_CASE("flow_starts: an end without a start is bound to the slice around it, and counted") {
  const Texts events{x(1, 0), arrow("f", 2, 15), x(2, 20)};
  CHECK(ends_of(events) == Texts{kBound});
  const std::size_t at = joined_list(events).find(R"({"ph":"f")");
  CHECK(problems_of(events) == Texts{fmt::format("arrow_without_start 1 at {}", at)});
}

TEST_CASE("flow_starts: a start that no viewer finds is none") {
  // The start is later than the end, belongs to another arrow, is before the first slice of its
  // thread, or its thread has no slice.
  CHECK(ends_of({x(1, 0), arrow("f", 2, 15), arrow("s", 1, 16)}) == Texts{kBound});
  CHECK(ends_of({x(1, 0), R"({"ph":"s","name":"go","cat":"d","id":5,"pid":1,"tid":1,"ts":5})",
                 arrow("f", 2, 15)}) == Texts{kBound});
  CHECK(ends_of({x(2, 0), x(1, 7), arrow("s", 1, 5), arrow("f", 2, 15)}) == Texts{kBound});
  CHECK(ends_of({x(2, 0), arrow("s", 1, 5), arrow("f", 2, 15)}) == Texts{kBound});
  // A step is no start, and an instant of the process is no slice of the thread.
  CHECK(ends_of({x(1, 0), arrow("t", 1, 5), arrow("f", 2, 15)}) == Texts{kBound});
  CHECK(ends_of({R"({"ph":"i","s":"p","name":"x","pid":1,"tid":1,"ts":0})", arrow("s", 1, 5),
                 arrow("f", 2, 15)}) == Texts{kBound});
}

TEST_CASE("flow_starts: a thread is one however its ids are spelt, and an instant is a slice") {
  CHECK(ends_of({R"({"ph":"i","name":"x","pid":"1","tid":1.0,"ts":0})", arrow("s", 1, 5),
                 arrow("f", 2, 15)}) == Texts{kKept});
}

TEST_CASE("flow_starts: an end without an id is no arrow, and left alone") {
  const Texts events{x(1, 0), R"({"ph":"f","name":"go","cat":"c","pid":1,"tid":2,"ts":15})"};
  CHECK(problems_of(events).empty());
}

TEST_CASE("flow_starts: what an end says of its binding is replaced") {
  CHECK(ends_of({x(1, 0), arrow("f", 2, 15, R"(,"bp":"x")")}) ==
        Texts{R"({"ph":"f","name":"go","cat":"c","id":5,"pid":0,"tid":2,"ts":15,"bp":"e"})"});
  // If there are several, the last one counts.
  std::string many;
  for (int i = 0; i < 100; ++i) many += R"(,"bp":"x")";
  CHECK(ends_of({x(1, 0), arrow("f", 2, 15, many)}) ==
        Texts{R"({"ph":"f","name":"go","cat":"c","id":5,"pid":0,"tid":2,"ts":15)" +
              many.substr(0, many.size() - 3) + R"("e"})"});
  const std::string bound = arrow("f", 2, 15, R"(,"bp":"e")");
  CHECK(ends_of({x(1, 0), bound}).size() == 1);
  CHECK(problems_of({x(1, 0), bound}).empty());
}

TEST_CASE("flow_starts: an end that is no JSON behind its binding is mended as any event") {
  CHECK(
      ends_of({x(1, 0), arrow("f", 2, 15, R"(,"bp":"x","more":1 2)"), x(2, 20)}) ==
      Texts{
          R"({"ph":"f","name":"go","cat":"c","id":5,"pid":0,"tid":2,"ts":15,"bp":"e","more":"1 2"})"});
}

TEST_CASE("flow_starts: each file has its own, but for flows that files share") {
  const std::string start = joined_list({x(1, 0), arrow("s", 1, 5)});
  const std::string end = joined_list({arrow("f", 2, 15), x(2, 20)});
  const NamedTexts files{{"rank0.json", start}, {"rank1.json", end}};
  CHECK(MergedCase(files).problems(1) == Texts{"arrow_without_start 1 at 1", "no_clock 1 at 0"});
  PlanOptions shared;
  shared.shared_flows = {"c"};
  CHECK(MergedCase(files, shared).problems(1) == Texts{"no_clock 1 at 0"});
}

TEST_CASE("flow_starts: a merge of the merge finds nothing more to do") {
  const MergedCase once(joined_list(
      {x(1, 0), arrow("f", 2, 15), x(2, 20), arrow("s", 1, 25), arrow("f", 2, 26), x(2, 30)}));
  CHECK(once.problems() == Texts{"arrow_without_start 1 at 56"});
  const MergedCase twice(NamedTexts{{"once.json", once.text()}});
  CHECK(ends_of(twice) == ends_of(once));
  CHECK(twice.problems() == Texts{});
}
