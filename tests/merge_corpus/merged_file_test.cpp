// The checks of CheckedMerge: a merge in which a slice is lost or changed has faults.
#include "merge_corpus/merged_file.h"

#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

// Two threads, where begins and ends make slices that start with complete ones of the same name.
constexpr std::string_view kTrace = R"([
{"ph":"B","name":"step","cat":"c","ts":10,"pid":1,"tid":7},
{"ph":"X","name":"step","cat":"c","ts":10,"dur":3,"pid":1,"tid":8},
{"ph":"X","name":"load","cat":"c","ts":11,"dur":2,"pid":1,"tid":8},
{"ph":"B","name":"inner","cat":"c","ts":12,"pid":1,"tid":7},
{"ph":"E","name":"inner","cat":"c","ts":15,"pid":1,"tid":7},
{"ph":"B","name":"more","cat":"c","ts":16,"pid":1,"tid":7},
{"ph":"E","name":"more","cat":"c","ts":18,"pid":1,"tid":7},
{"ph":"E","name":"step","cat":"c","ts":20,"pid":1,"tid":7},
{"ph":"B","name":"twin","cat":"c","ts":30,"pid":1,"tid":7},
{"ph":"X","name":"twin","cat":"c","ts":30,"dur":5,"pid":1,"tid":8},
{"ph":"E","name":"twin","cat":"c","ts":35,"pid":1,"tid":7},
{"ph":"X","name":"over","cat":"c","ts":36,"dur":2,"pid":1,"tid":7},
{"ph":"i","name":"mark","cat":"c","ts":36,"pid":1,"tid":7},
{"ph":"B","name":"under","cat":"c","ts":36,"pid":1,"tid":7},
{"ph":"E","name":"under","cat":"c","ts":39,"pid":1,"tid":7},
{"ph":"X","name":"endless","cat":"c","ts":40,"pid":1,"tid":8},
{"ph":"i","name":"last","cat":"c","ts":41,"pid":1,"tid":8},
{"ph":"B","name":"open","cat":"c","ts":40,"pid":1,"tid":7},
{"ph":"i","name":"end","cat":"c","ts":50,"pid":1,"tid":7}
])";

// Returns the faults where the event of the merge whose text has all of `parts` is changed: `from`
// to `to`, or without `from` it is left out.
std::string faults_after(const std::vector<std::string>& parts, const std::string& from = "",
                         const std::string& to = "") {
  const TemporaryFolder folder;
  const std::string path = folder.write("rank0.json", std::string(kTrace));
  const auto change = [&](std::string& text) {
    std::size_t begin = text.find("},\n{") + 1;  // each event but the first comes after ",\n"
    for (std::size_t end = 0; !parts.empty(); begin = end) {
      REQUIRE(begin < text.size());
      const std::size_t newline = std::min(text.find('\n', begin + 2), text.size());
      end = text[newline - 1] == ',' ? newline - 1 : newline;
      std::string event = text.substr(begin, end - begin);
      const auto is_in = [&](const std::string& part) {
        return event.find(part) != std::string::npos;
      };
      if (!std::ranges::all_of(parts, is_in)) continue;
      if (from.empty()) {
        event.clear();
      } else {
        REQUIRE(is_in(from));
        event.replace(event.find(from), from.size(), to);
      }
      text.replace(begin, end - begin, event);
      return;
    }
  };
  return joined(CheckedMerge({path}, PidLayout::rank, AlignBy::any, change).faults());
}

const std::string kBegin = R"({"cat":"c","name":")";

// What is said of the B with this number.
std::string no_slice(int number, const std::string& name, int ts) {
  return "no slice is what event " + std::to_string(number) + " of file 0 begins: " + kBegin +
         name + R"(","ph":"B","pid":1,"tid":7,"ts":)" + std::to_string(ts) + "}";
}

}  // namespace

TEST_CASE("merged_file: a merge as it is has no fault") {
  CHECK(faults_after({}) == "");
}

TEST_CASE(
    "merged_file: a lost slice is a fault, also beside a complete one of its name and start") {
  CHECK(faults_after({R"("name":"inner")"}) == no_slice(3, "inner", 12));
  CHECK(faults_after({R"("name":"step")", R"("dur": 10)"}) == no_slice(0, "step", 10));
  CHECK(faults_after({R"("name":"twin")", R"("tid":7)"}) == no_slice(8, "twin", 30));
  CHECK(faults_after({R"("name":"open")"}) == no_slice(17, "open", 40));
}

TEST_CASE("merged_file: a changed name, start, length, category or thread of a slice is a fault") {
  const std::vector<std::string> inner{R"("name":"inner")"};
  for (const auto& [from, to] : {std::pair{R"("inner")", R"("inne")"},
                                 {R"("ts":2)", R"("ts":2.5)"},
                                 {R"("dur": 3)", R"("dur": 3.001)"},
                                 {R"("cat":"c")", R"("cat":"d")"},
                                 {R"("tid":7)", R"("tid":8)"},
                                 {R"("tid":7)", R"("tid":9)"},
                                 {R"("pid":0)", R"("pid":1)"}}) {
    CAPTURE(from);
    CAPTURE(to);
    CHECK(faults_after(inner, from, to).starts_with(no_slice(3, "inner", 12)));
  }
}

TEST_CASE("merged_file: a complete event does not stand for a lost slice, nor a slice for it") {
  CHECK(faults_after({R"("name":"step")", R"("tid":8)"}) ==
        R"(event 1 of file 0 is not where it should be: {"cat":"c","dur":3,"name":"step","ph":"X",)"
        R"("pid":1,"tid":8,"ts":10})");
  CHECK(faults_after({R"("name":"twin")", R"("tid":8)"}) ==
        R"(event 9 of file 0 is not where it should be: {"cat":"c","dur":5,"name":"twin","ph":"X",)"
        R"("pid":1,"tid":8,"ts":30})");
  CHECK(
      faults_after({R"("name":"over")"}) ==
      R"(event 11 of file 0 is not where it should be: {"cat":"c","dur":2,"name":"over","ph":"X",)"
      R"("pid":1,"tid":7,"ts":36})");
  CHECK(faults_after({R"("name":"over")"}, R"("dur":2)", R"("dur":1.9)") != "");
  CHECK(faults_after({R"("name":"endless")"})
            .starts_with("no slice is what event 15 of file 0 begins: "));
}
