#include "base/problems.h"
#include "select/selection.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("label_filter: without pattern and categories everything is accepted") {
  const LabelFilter filter;
  CHECK(filter.accepts("gemm", "kernel"));
  CHECK(filter.accepts("", ""));
}

TEST_CASE("label_filter: a pattern is searched for, it need not match all of the name") {
  const LabelFilter filter{{NamePattern("gemm|^relu$")}, {}, {}, {}};
  CHECK(filter.accepts("void gemm<float>(int)", ""));
  CHECK(filter.accepts("relu", ""));
  CHECK_FALSE(filter.accepts("relu_", ""));
}

TEST_CASE("label_filter: one element of a category list is enough, a part of one is not") {
  const LabelFilter filter{{}, {}, {"kernel", "gpu_memcpy"}, {}};
  CHECK(filter.accepts("x", "kernel"));
  CHECK(filter.accepts("x", "a,kernel,b"));
  CHECK(filter.accepts("x", "a,gpu_memcpy"));
  CHECK_FALSE(filter.accepts("x", "kernels"));
  CHECK_FALSE(filter.accepts("x", ""));
  CHECK_FALSE(filter.accepts("x", "a kernel"));
}

TEST_CASE("label_filter: an event without a category is chosen by (none)") {
  const LabelFilter only{{}, {}, {"(none)"}, {}};
  CHECK(only.accepts("x", ""));
  CHECK_FALSE(only.accepts("x", "kernel"));
  CHECK_FALSE(only.accepts("x", "a,,b"));
  const LabelFilter none{{}, {}, {}, {"(none)"}};
  CHECK_FALSE(none.accepts("x", ""));
  CHECK(none.excludes("x", ""));
  CHECK(none.accepts("x", "kernel"));
  CHECK_FALSE(LabelFilter{{}, {}, {""}, {}}.accepts("x", ""));
}

TEST_CASE("label_filter: pattern and category both have to agree") {
  const LabelFilter filter{{NamePattern("x")}, {}, {"c"}, {}};
  CHECK(filter.accepts("x", "c"));
  CHECK_FALSE(filter.accepts("x", "d"));
  CHECK_FALSE(filter.accepts("y", "c"));
}

TEST_CASE("label_filter: what is excluded is not accepted, whatever else it is") {
  const LabelFilter filter{{NamePattern("a"), NamePattern("b")}, {NamePattern("^ab$")}, {}, {"gc"}};
  CHECK_FALSE(filter.empty());
  CHECK(filter.accepts("a", "c"));
  CHECK(filter.accepts("b", ""));
  CHECK_FALSE(filter.accepts("c", ""));
  CHECK_FALSE(filter.accepts("ab", ""));
  CHECK_FALSE(filter.accepts("a", "c,gc"));
  CHECK(filter.excludes("x", "gc"));
  CHECK(filter.excludes("ab", ""));
  CHECK_FALSE(filter.excludes("x", "c"));
  CHECK(LabelFilter{}.empty());
  CHECK_FALSE(LabelFilter{}.excludes("", ""));
}

TEST_CASE("name_pattern: a broken expression is explained") {
  const auto problem = [](const std::string& expression) -> std::string {
    try {
      const NamePattern pattern(expression);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(problem("gemm(") == "'gemm(' is not a regular expression: missing ): gemm(");
  CHECK(problem("[ab") == "'[ab' is not a regular expression: missing ]: [ab");
  CHECK(problem("[z-a]") ==
        "'[z-a]' is not a regular expression: invalid character class range: z-a");
  CHECK(problem("(a)\\1") == "'(a)\\1' is not a regular expression: invalid escape sequence: \\1");
  CHECK(problem("a.*(b|c)[0-9]+\\d$").empty());
}

TEST_CASE("name_pattern: neither a name of 200 kB nor a nasty expression is a problem") {
  const std::string name(200'000, 'a');
  CHECK(NamePattern(".*a$").found_in(name));
  CHECK_FALSE(NamePattern("(a+)+b").found_in(name.substr(0, 300)));
}
