#include "summarize/summarize.h"
#include "support/cut_input.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("changed_summary: a file that is cut while it is read, once or twice, is refused") {
  CHECK(said_of_cut(SummaryRequest{}, 1, summarize).starts_with(kSaidOfCut));
  SummaryRequest request;
  request.time = TimeSelection{.from_ns = 0, .to_ns = {}};
  CHECK(said_of_cut(request, 1, summarize).starts_with(kSaidOfCut));
  CHECK(said_of_cut(request, 2, summarize).starts_with(kSaidOfCut));
  CHECK(said_of_cut(request, 9, summarize).empty());
}
