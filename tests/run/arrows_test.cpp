// Arrows that lack an end, or end before they start, as problems of the files of a run.
#include "support/print_texts.h"
#include "support/run_texts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

// Returns a flow event of the category c and the name go, unless `more` says otherwise.
std::string flow(char phase, const std::string& id, int ts,
                 const std::string& more = R"("cat":"c","name":"go")") {
  return fmt::format(R"({{"ph":"{}",{},"id":{},"pid":1,"tid":1,"ts":{}}})", phase, more, id, ts);
}

std::string list(const Texts& events) {
  return fmt::format("[{}]", fmt::join(events, ","));
}

Texts problems_of(const Run& run, std::size_t file = 0) {
  Texts texts;
  const ProblemCounts& problems = run.files[file].problems;
  for (const Problem kind : problems.kinds())
    texts.push_back(fmt::format("{} {} at {}: {}", describe(kind).name, problems.count(kind),
                                problems.first_offset(kind), problems.explanation(kind)));
  return texts;
}

Texts problems_of(const Texts& events) {
  RunRequest request;
  request.arrows = true;
  return problems_of(read_texts({{"rank0.json", list(events)}}, request));
}

}  // namespace

TEST_CASE("arrows: those without one end and those that go back in time are counted") {
  const Texts events{flow('s', "5", 10), flow('f', "5", 12), flow('s', "6", 20),
                     flow('f', "7", 9),  flow('f', "8", 30), flow('s', "8", 34)};
  const std::string text = list(events);
  CHECK(problems_of(events) ==
        Texts{fmt::format("dangling_arrow 2 at {}: ", text.find(events[2])),
              fmt::format("backward_arrow 1 at {}: by up to 4.000 us", text.find(events[4]))});
  // Only who asks for it pays for it.
  CHECK(problems_of(read_texts({{"rank0.json", text}})) == Texts{});
}

TEST_CASE("arrows: category, name and id tell arrows apart, however they are spelt") {
  CHECK(problems_of({flow('s', "5", 1, R"("cat":"c","name":"go")"),
                     flow('f', "5.0", 2, R"("cat":"\u0063","name":"\u0067o")")}) == Texts{});
  CHECK(problems_of({flow('s', "5", 1), flow('f', "5", 2, R"("cat":"cgo","name":"")"),
                     flow('t', "5", 2, R"("cat":"c","name":"went")")}) ==
        Texts{"dangling_arrow 3 at 1: "});
  // As in a merge, 31, "31", "0x1f", "0x1F" and "0x01f" are five ids.
  Texts spellings;
  for (const char* const id :
       {"31", R"("31")", R"("0x1f")", R"("0x1F")", R"("0x01f")", R"("abc")", "-5", "1.5", "0"})
    spellings.push_back(flow('s', id, 1));
  CHECK(problems_of(spellings) == Texts{"dangling_arrow 9 at 1: "});
  const Texts starts = spellings;
  for (const std::string& start : starts) {
    spellings.push_back(start);
    spellings.back().replace(spellings.back().find("\"s\""), 3, "\"f\"");
  }
  CHECK(problems_of(spellings) == Texts{});
}

TEST_CASE("arrows: an id2 counts as in viewers, and an event without an id is no arrow") {
  const auto with = [](char phase, int pid, const std::string& id) {
    return fmt::format(R"({{"ph":"{}","cat":"c","name":"go"{},"pid":{},"tid":1,"ts":1}})", phase,
                       id, pid);
  };
  const std::string local = R"(,"id2":{"local":"0x1"})";
  const std::string global = R"(,"id2":{"global":"0x1"})";
  CHECK(problems_of({with('s', 1, local), with('f', 1, local)}) == Texts{});
  CHECK(problems_of({with('s', 1, local), with('f', 2, local)}) ==
        Texts{"dangling_arrow 2 at 1: "});
  CHECK(problems_of({with('s', 1, global), with('f', 2, R"(,"id":"0x1")")}) == Texts{});
  CHECK(problems_of({with('s', 1, ""), with('f', 1, R"(,"id":null)")}) == Texts{});
  // A null is no id.
  const std::string seven = R"(,"id2":{"local":null,"global":"0x7"})";
  CHECK(problems_of({with('s', 1, seven), with('f', 2, R"(,"id":"0x7")")}) == Texts{});
  CHECK(
      problems_of({with('s', 1, seven), with('f', 1, R"(,"id2":{"local":null,"global":"0x8"})")}) ==
      Texts{"dangling_arrow 2 at 1: "});
}

TEST_CASE("arrows: each file has its own, with any number of threads") {
  Texts events;
  for (int i = 1; i <= 60'000; ++i) events.push_back(flow('s', fmt::to_string(i), 2 * i));
  for (int i = 11; i <= 60'000; ++i)
    events.push_back(flow('f', fmt::to_string(i), i % 1000 == 0 ? 2 * i - 3 : 2 * i + 1));
  const std::string text = list(events);
  REQUIRE(text.size() > std::size_t{6} << 20);
  for (const unsigned threads : {1U, 4U}) {
    RunRequest request;
    request.arrows = true;
    request.threads = threads;
    const Run run =
        read_texts({{"rank0.json", text}, {"rank1.json", list({flow('f', "3", 1)})}}, request);
    const std::size_t backward = text.find(events[999]);
    CHECK(problems_of(run, 0) ==
          Texts{"dangling_arrow 10 at 1: ",
                fmt::format("backward_arrow 60 at {}: by up to 3.000 us", backward)});
    CHECK(problems_of(run, 1) == Texts{"dangling_arrow 1 at 1: "});
  }
}

TEST_CASE("arrows: those that end after the slice of their time are counted, over chunks, too") {
  const auto slice = [](std::int64_t us, int tid, std::size_t padding = 0) {
    return fmt::format(
        R"({{"ph":"X","name":"k","ts":{},"dur":1,"pid":1,"tid":{},"args":{{"p":"{}"}}}})", us, tid,
        std::string(padding, 'p'));
  };
  const auto end = [](std::int64_t us, int tid, std::string_view more = "") {
    return fmt::format(R"({{"ph":"f","cat":"c","name":"a","id":1,"ts":{},"pid":1,"tid":{}{}}})", us,
                       tid, more);
  };
  const auto displaced = [&](const Texts& events, unsigned threads = 1) {
    RunRequest request;
    request.arrows = true;
    request.threads = threads;
    const Run run = read_texts({{"rank0.json", list(events)}}, request);
    const ProblemCounts& problems = run.files.at(0).problems;
    return std::pair(problems.count(Problem::displaced_arrow),
                     problems.first_offset(Problem::displaced_arrow));
  };
  using Found = std::pair<std::uint64_t, std::uint64_t>;
  CHECK(displaced({slice(5, 1), end(5, 1), slice(6, 1)}) == Found(1, slice(5, 1).size() + 2));
  CHECK(displaced({slice(5, 1), slice(5, 2), end(5, 2), end(5, 1), end(5, 1)}).first == 3);
  // A slice that begins with the end stands after it, or none does; or it is bound to one around.
  CHECK(displaced({end(5, 1), slice(5, 1)}) == Found());
  CHECK(displaced({slice(5, 1), end(5, 1), slice(5, 1)}) == Found());
  CHECK(displaced({slice(5, 2), end(5, 1), slice(6, 1)}) == Found());
  CHECK(displaced({slice(5, 1), end(6, 1), slice(7, 1)}) == Found());
  CHECK(displaced({slice(5, 1), end(5, 1, R"(,"bp":"e")")}) == Found());
  // Slice, end and slice fill chunks of their own.
  const std::size_t much = std::size_t{3} << 20;
  const std::string padding = fmt::format(R"(,"args":{{"p":"{}"}})", std::string(much, 'p'));
  for (const unsigned threads : {1U, 4U}) {
    CHECK(displaced({slice(5, 1, much), end(5, 1, padding), slice(6, 1)}, threads).first == 1);
    CHECK(displaced({slice(5, 1, much), end(5, 1, padding), slice(5, 1, much)}, threads).first ==
          0);
  }
}
