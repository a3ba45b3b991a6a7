#include "gate/gate_term.h"

#include "base/problems.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>

namespace traceloom {
namespace {

const std::vector<std::string_view> kFields{"time", "p99"};

GateTerm read(const std::string& text) {
  return read_gate_term("--gate", text, kFields);
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("gate term: name, pattern, field and a relative change") {
  const GateTerm term = read("kernel[flash.*].time<=+10%");
  CHECK(term.name == "kernel");
  CHECK(term.pattern == "flash.*");
  CHECK(term.field == "time");
  REQUIRE(term.bounds.size() == 1);
  CHECK(term.bounds[0].value == 0.1);
  CHECK(term.bounds[0].unit == BoundUnit::share);
  CHECK(term.bounds[0].is_change);
  CHECK(term.metric() == "kernel[flash.*].time");
}

TEST_CASE("gate term: the three signs mean the same") {
  for (const char* const text : {"loader<=5%", "loader>5%", "loader=5%", " loader <= 5 % "}) {
    const GateTerm term = read(text);
    CHECK(term.name == "loader");
    CHECK(term.field.empty());
    REQUIRE(term.bounds.size() == 1);
    CHECK(term.bounds[0].value == 0.05);
    CHECK_FALSE(term.bounds[0].is_change);
  }
}

TEST_CASE("gate term: units of bounds") {
  const GateTerm term = read("a<=+1.5ms or 2GiB or 100");
  REQUIRE(term.bounds.size() == 3);
  CHECK(term.bounds[0].unit == BoundUnit::time);
  CHECK(term.bounds[0].value == 1.5e6);
  CHECK(term.bounds[0].is_change);
  CHECK(term.bounds[1].unit == BoundUnit::bytes);
  CHECK(term.bounds[1].value == 2147483648.0);
  CHECK(term.bounds[2].unit == BoundUnit::number);
  CHECK(term.bounds[2].value == 100);
}

TEST_CASE("gate term: names of spans may have dots, arrows and brackets") {
  const GateTerm copy = read("Memcpy HtoD (Pageable -> Device).p99>5ms");
  CHECK(copy.name == "Memcpy HtoD (Pageable -> Device)");
  CHECK(copy.field == "p99");
  CHECK(read("attn.forward").name == "attn.forward");
  CHECK(read("[a<=b]").bounds.empty());
  CHECK(read("[a<=b]").pattern == "a<=b");
  CHECK(read("[a>b].p99>1us").pattern == "a>b");
}

TEST_CASE("gate term: what is no condition is refused with its text") {
  CHECK(refusal("<=5%") == "--gate: '<=5%' has no name");
  CHECK(refusal("") == "--gate: '' has no name");
  const std::string advice = " is not a share, a time, a size or a number (try 5%, 5ms or +10%)";
  CHECK(refusal("a<=5x") == "--gate: 'a<=5x': '5x'" + advice);
  CHECK(refusal("a<=") == "--gate: 'a<=': ''" + advice);
  CHECK(refusal("a<=-5%") == "--gate: 'a<=-5%': '-5%'" + advice);
  CHECK(refusal("a<=inf") == "--gate: 'a<=inf': 'inf'" + advice);
  CHECK(refusal("a<=5% or ") == "--gate: 'a<=5% or': '5% or'" + advice);
}

TEST_CASE("split_gate_terms: commas in a pattern do not split") {
  CHECK(split_gate_terms("a=5%,b[x{1,2}],c") == std::vector<std::string>{"a=5%", "b[x{1,2}]", "c"});
  CHECK(split_gate_terms("") == std::vector<std::string>{""});
}

TEST_CASE("with_gate_files: a file has a condition a line") {
  const std::string path = "gate_term_test_conditions.txt";
  std::ofstream(path) << "# of the team\n\n a<=5% \r\nb=1ms";
  CHECK(with_gate_files({"x", "@" + path}) == std::vector<std::string>{"x", "a<=5%", "b=1ms"});
  std::ofstream(path, std::ios::trunc) << "\xef\xbb\xbf"
                                       << "a<=5%\n";
  CHECK(with_gate_files({"@" + path}) == std::vector<std::string>{"a<=5%"});
  std::ofstream(path, std::ios::trunc) << "# nothing\n";
  CHECK_THROWS_WITH_AS(with_gate_files({"@" + path}),
                       (path + ": has no condition; write one a line").c_str(), Error);
  std::remove(path.c_str());
  CHECK_THROWS_WITH_AS(with_gate_files({"@" + path}),
                       (path + ": No such file or directory").c_str(), Error);
}

}  // namespace
}  // namespace traceloom
