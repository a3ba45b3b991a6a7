#include "run/run.h"
#include "support/cut_input.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("changed_run: a file that is cut while a run is read is refused") {
  CHECK(said_of_cut(RunRequest{}, 1, read_run).starts_with(kSaidOfCut));
  CHECK(said_of_cut(RunRequest{}, 9, read_run).empty());
}
