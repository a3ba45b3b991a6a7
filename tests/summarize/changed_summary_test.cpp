#include "summarize/summarize.h"
#include "support/cut_input.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("changed_summary: a file that is cut while it is read is refused") {
  CHECK(said_of_cut(SummaryRequest{}, 1, summarize).starts_with(kSaidOfCut));
  CHECK(said_of_cut(SummaryRequest{}, 9, summarize).empty());
}
