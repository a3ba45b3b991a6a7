#include "analysis/operators.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("span stack: what is within another is in it, and what follows is beside it") {
  SpanStack stack;
  const SpanStack::Place outer = stack.find(0, 100);
  CHECK(outer.around == SpanStack::kNone);
  CHECK(outer.counted_ns == 100);
  stack.push(0, 100, outer);
  const SpanStack::Place inner = stack.find(10, 60);
  CHECK(inner.around == 0);
  stack.push(1, 60, inner);
  CHECK(stack.find(60, 100).around == 0);
  CHECK(stack.find(100, 110).around == SpanStack::kNone);
}

TEST_CASE("span stack: what two spans share that cross counts for the earlier one") {
  SpanStack stack;
  stack.push(0, 50, stack.find(10, 50));
  const SpanStack::Place second = stack.find(40, 90);
  CHECK(second.around == SpanStack::kNone);
  CHECK(second.crosses);
  CHECK(second.counted_ns == 40);
  stack.push(1, 90, second);
  // The third span is in the second one, but at a time that counts for the first.
  const SpanStack::Place third = stack.find(45, 55);
  CHECK(third.around == 1);
  CHECK(third.counted_ns == 5);
  CHECK_FALSE(third.crosses);
}

TEST_CASE("span stack: a span of no length at the end of another is in it") {
  SpanStack stack;
  stack.push(0, 50, stack.find(0, 50));
  CHECK(stack.find(50, 50).around == 0);
  CHECK(stack.find(50, 51).around == SpanStack::kNone);
}

TEST_CASE("span stack: to ask for what is around does not end anything") {
  SpanStack stack;
  stack.push(0, 100, stack.find(0, 100));
  stack.push(1, 50, stack.find(10, 50));
  CHECK(stack.around(60, 70) == 0);
  CHECK(stack.around(90, 110) == SpanStack::kNone);
  CHECK(stack.find(20, 30).around == 1);
}
