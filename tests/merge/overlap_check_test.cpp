#include "merge/slices/slice_joiner.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("overlap_check: a slice that ends within another one, after its start") {
  OverlapCheck check;
  CHECK_FALSE(check.overlaps(0, 0, 100));
  CHECK_FALSE(check.overlaps(0, 10, 20));
  CHECK_FALSE(check.overlaps(0, 10, 5));
  // Begins where the one before it ends, and lasts to the end of its parent.
  CHECK_FALSE(check.overlaps(0, 30, 70));
  CHECK(check.overlaps(0, 99, 2));
  CHECK_FALSE(check.overlaps(0, 100, 1));
  CHECK_FALSE(check.overlaps(1, 100, 50));
  CHECK(check.overlaps(1, 149, 9'223'372'036'854'775'807));
}

TEST_CASE("overlap_check: nothing is claimed of slices out of order, or of those before forget()") {
  OverlapCheck check;
  CHECK_FALSE(check.overlaps(3, 50, 10));
  CHECK_FALSE(check.overlaps(3, 45, 10));
  CHECK(check.overlaps(3, 50, 10));
  check.forget();
  CHECK_FALSE(check.overlaps(3, 51, 10));
}

TEST_CASE("overlap_check: children that stand before the parent they start with are inside it") {
  OverlapCheck check;
  CHECK_FALSE(check.overlaps(0, 0, 100));
  CHECK_FALSE(check.overlaps(0, 10, 5));
  CHECK_FALSE(check.overlaps(0, 10, 20));
  CHECK_FALSE(check.overlaps(0, 10, 10));
  CHECK(check.overlaps(0, 10, 91));  // beyond the end of the one around all of them
  CHECK_FALSE(check.overlaps(0, 12, 3));
  CHECK(check.overlaps(0, 14, 7));  // beyond the end of two of the children
  CHECK_FALSE(check.overlaps(0, 30, 70));
}
