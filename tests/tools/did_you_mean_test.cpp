#include "common/option_values.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("did_you_mean: an edit adds, leaves out, replaces or swaps neighbours") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("abc", "abc") == 0);
  CHECK(edit_distance("abc", "abcd") == 1);
  CHECK(edit_distance("abc", "bc") == 1);
  CHECK(edit_distance("abc", "axc") == 1);
  CHECK(edit_distance("abc", "acb") == 1);
  CHECK(edit_distance("--thredas", "--threads") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("did_you_mean: the nearest word wins, the first of several") {
  CHECK(nearest_word("sumarize", {"steps", "summarise", "summarize"}) == "summarize");
  CHECK(nearest_word("--top", {"--tip", "--tap"}) == "--tip");
  CHECK(nearest_word("steps", {"step", "steps"}) == "steps");
}

TEST_CASE("did_you_mean: a word that is far from all gets no suggestion") {
  CHECK_FALSE(nearest_word("--zzzzzz", {"--threads", "--top"}));
  CHECK_FALSE(nearest_word("-x", {"-h", "-v"}));
  CHECK_FALSE(nearest_word("", {"a"}));
  CHECK_FALSE(nearest_word("abc", {}));
}

TEST_CASE("did_you_mean: the start of a word is near") {
  CHECK(nearest_word("sum", {"steps", "summarize"}) == "summarize");
  CHECK_FALSE(nearest_word("su", {"summarize"}));
  CHECK(nearest_word("totl", {"rank", "total_ns"}) == "total_ns");
  CHECK(nearest_word("dataloader", {"communication", "data-loading"}) == "data-loading");
  CHECK(nearest_word("--sumarise", {"--top", "--summarize-all"}) == "--summarize-all");
  CHECK_FALSE(nearest_word("--x", {"--threads"}));
  CHECK_FALSE(nearest_word("sec", {"auto", "ns", "s"}));
}

TEST_CASE("did_you_mean: options stand as they are, other words in quotes") {
  CHECK(did_you_mean("--thredas", {"--threads"}) == " (did you mean --threads?)");
  CHECK(did_you_mean("sumarize", {"summarize"}) == " (did you mean 'summarize'?)");
  CHECK(did_you_mean("x", {"summarize"}) == "");
}
