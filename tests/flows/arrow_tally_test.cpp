#include "flows/flow_arrows.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

FlowEnd start(std::uint64_t arrow, std::int64_t ns, std::uint64_t offset = 0) {
  return {.arrow = arrow, .ns = ns, .offset = offset, .is_start = true};
}

FlowEnd finish(std::uint64_t arrow, std::int64_t ns, std::uint64_t offset = 0) {
  return {.arrow = arrow, .ns = ns, .offset = offset};
}

Texts texts_of(const ProblemCounts& problems) {
  Texts texts;
  for (const Problem kind : problems.kinds())
    texts.push_back(fmt::format("{} {} at {}: {}", describe(kind).name, problems.count(kind),
                                problems.first_offset(kind), problems.explanation(kind)));
  return texts;
}

Texts tallied(const std::vector<FlowEnd>& ends, std::size_t max_bytes = ArrowTally::kMaxBytes) {
  ArrowTally arrows(max_bytes);
  for (const FlowEnd& end : ends) arrows.add(end);
  ProblemCounts problems;
  arrows.finish(problems);
  return texts_of(problems);
}

// Returns arrows 1, 2, 3, ..., one after the other and whole.
std::vector<FlowEnd> whole_arrows(std::uint64_t count) {
  std::vector<FlowEnd> ends;
  for (std::uint64_t i = 1; i <= count; ++i) {
    ends.push_back(start(i, 1));
    ends.push_back(finish(i, 2));
  }
  return ends;
}

// A table of 64 slots, three quarters of which may be used.
constexpr std::size_t kLeastBytes = 4096;

}  // namespace

TEST_CASE("arrow_tally: an arrow is whole with a start and another end, in whatever order") {
  CHECK(tallied({}).empty());
  CHECK(tallied({start(1, 5), finish(1, 5)}).empty());
  CHECK(tallied({finish(1, 9), start(1, 5), finish(1, 6), finish(1, 7), start(2, 0), finish(2, 1)})
            .empty());
}

TEST_CASE("arrow_tally: arrows with one end are counted, however many events they have") {
  CHECK(tallied({start(1, 5, 70), start(1, 6, 80), finish(2, 1, 60), finish(2, 2, 90), start(3, 1),
                 finish(3, 1)}) == Texts{"dangling_arrow 2 at 60: "});
}

TEST_CASE("arrow_tally: an end before the only start goes back in time, by up to so much") {
  CHECK(tallied({start(1, 5000, 10), finish(1, 6000, 20), finish(1, 3000, 30), start(2, 9000, 40),
                 finish(2, 8000, 50)}) == Texts{"backward_arrow 2 at 10: by up to 2.000 us"});
  // An id that is used again, whose first arrow began before the trace.
  CHECK(tallied({finish(1, 3000), start(1, 5000), finish(1, 6000), start(1, 7000), finish(1, 8000)})
            .empty());
  CHECK(tallied({start(1, INT64_MAX - 1), finish(1, INT64_MIN)}) ==
        Texts{"backward_arrow 1 at 0: by up to 9,223,372,036.855 s"});
}

TEST_CASE("arrow_tally: what it has counted is forgotten, and each file has its own counts") {
  ArrowTally arrows;
  std::vector<ProblemCounts> problems(2);
  arrows.add(start(7, 5, 30));
  arrows.add(start(8, 5000, 20));
  arrows.add(finish(8, 1000, 10));
  arrows.finish(problems[0]);
  arrows.add(finish(7, 6, 40));
  arrows.finish(problems[1]);
  CHECK(texts_of(problems[0]) ==
        Texts{"dangling_arrow 1 at 30: ", "backward_arrow 1 at 20: by up to 4.000 us"});
  CHECK(texts_of(problems[1]) == Texts{"dangling_arrow 1 at 40: "});
}

TEST_CASE("arrow_tally: whole arrows make room, and their further ends are none of new arrows") {
  std::vector<FlowEnd> ends = whole_arrows(10'000);
  ends.push_back(finish(3, 7));
  ends.push_back(start(9'000, 7));
  ends.push_back(start(10'001, 7, 5));
  CHECK(tallied(ends, 2 * kLeastBytes) == Texts{"dangling_arrow 1 at 5: "});
  ends.push_back(finish(4, 0));
  CHECK(tallied(ends) == Texts{"dangling_arrow 1 at 5: ", "backward_arrow 1 at 0: by up to 1 ns"});
}

TEST_CASE("arrow_tally: ends that find no room are counted, and the other counts say at least") {
  std::vector<FlowEnd> ends;
  for (std::uint64_t i = 1; i <= 100; ++i) ends.push_back(start(i, 1, 10 * i));
  CHECK(tallied(ends, kLeastBytes) ==
        Texts{"dangling_arrow 48 at 10: at least; there were too many to look at all",
              "unjudged_arrow 52 at 490: "});
  ends.insert(ends.begin(), finish(1, 0, 5));
  CHECK(tallied(ends, kLeastBytes) ==
        Texts{"dangling_arrow 47 at 20: at least; there were too many to look at all",
              "backward_arrow 1 at 5: by up to 1 ns; at least; there were too many to look at all",
              "unjudged_arrow 52 at 490: "});
  // All that were compared are whole.
  ends.erase(ends.begin());
  for (std::uint64_t i = 1; i <= 100; ++i) ends.push_back(finish(i, 1, 1000 + 10 * i));
  CHECK(tallied(ends, kLeastBytes) == Texts{"unjudged_arrow 104 at 490: "});
  CHECK(tallied(ends).empty());
}

TEST_CASE("arrow_tally: it remembers so many whole arrows whose ids are far apart") {
  std::vector<FlowEnd> ends;
  for (const FlowEnd& end : whole_arrows(1000)) {
    ends.push_back(end);
    ends.back().arrow *= 1'000'003;
    ends.back().offset = ends.size();
  }
  ends.push_back(start(1, 1, 9999));
  CHECK(tallied(ends, kLeastBytes) == Texts{"unjudged_arrow 1905 at 97: "});
  CHECK(tallied(ends) == Texts{"dangling_arrow 1 at 9999: "});
}

TEST_CASE("arrow_tally: what found no room is said of the file in which it found none") {
  ArrowTally arrows(kLeastBytes);
  std::vector<ProblemCounts> problems(2);
  for (std::uint64_t i = 1; i <= 100; ++i) arrows.add(start(i, 1, i));
  arrows.finish(problems[0]);
  arrows.add(start(1, 1));
  arrows.finish(problems[1]);
  CHECK(texts_of(problems[0]) ==
        Texts{"dangling_arrow 48 at 1: at least; there were too many to look at all",
              "unjudged_arrow 52 at 49: "});
  CHECK(texts_of(problems[1]) == Texts{"dangling_arrow 1 at 0: "});
}

TEST_CASE("arrow_tally: it counts what a plain map counts") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 50; ++round) {
    const std::uint64_t spread = round % 2 == 0 ? 1 : 0x123456789abcdef;
    std::map<std::uint64_t, std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>> known;
    std::vector<FlowEnd> ends;
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t arrow = (1 + random() % 1500) * spread;
      const auto ns = static_cast<std::int64_t>(random() % 1000);
      const bool is_start = random() % 2 == 0;
      ends.push_back(is_start ? start(arrow, ns) : finish(arrow, ns));
      (is_start ? known[arrow].first : known[arrow].second).push_back(ns);
    }
    std::uint64_t dangling = 0;
    std::uint64_t backward = 0;
    std::int64_t widest = 0;
    for (const auto& [arrow, times] : known) {
      const auto& [starts, others] = times;
      if (starts.empty() || others.empty()) {
        ++dangling;
        continue;
      }
      if (starts.size() > 1) continue;
      const std::int64_t gap = starts[0] - std::ranges::min(others);
      if (gap > 0) ++backward;
      widest = std::max(widest, gap);
    }
    CHECK(tallied(ends) ==
          Texts{fmt::format("dangling_arrow {} at 0: ", dangling),
                fmt::format("backward_arrow {} at 0: by up to {} ns", backward, widest)});
  }
}
