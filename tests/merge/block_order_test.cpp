#include "merge/order/event_block.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

using namespace traceloom;

namespace {

struct Placed {
  const char* name;
  OrderClass order;
  std::uint32_t group;
  std::int64_t start_ns;
  std::int64_t duration_ns = 0;
  std::uint64_t source_at = 0;
};

constexpr auto kSlice = OrderClass::slice;
constexpr auto kCounter = OrderClass::counter;
constexpr auto kEnd = OrderClass::next_end;

EventBlock block_of(std::initializer_list<Placed> events) {
  EventBlock block;
  for (const Placed& event : events)
    block.place({.start_ns = event.start_ns,
                 .duration_ns = event.duration_ns,
                 .source_at = event.source_at,
                 .group = event.group,
                 .order = event.order},
                [&] { block.text += std::string(",") + event.name; });
  return block;
}

std::string ordered(std::initializer_list<Placed> events) {
  EventBlock block = block_of(events);
  put_in_order(block);
  return std::string(block.text);
}

}  // namespace

TEST_CASE("block_order: slices of a track that start together stand by their length") {
  CHECK(ordered({{"child", kSlice, 1, 10, 5},
                 {"next", kSlice, 1, 20, 1},
                 {"parent", kSlice, 1, 10, 30}}) == ",parent,next,child");
  CHECK(ordered({{"c", kSlice, 1, 0, 1}, {"b", kSlice, 1, 0, 2}, {"a", kSlice, 1, 0, 3}}) ==
        ",a,b,c");
}

TEST_CASE("block_order: slices of one start and length stand by where they begin in their file") {
  CHECK(ordered({{"child", kSlice, 1, 10, 5, 200}, {"parent", kSlice, 1, 10, 5, 100}}) ==
        ",parent,child");
  // Slices without length, and slices of other tracks, stay as they were.
  CHECK(ordered({{"a", kSlice, 1, 10, 0, 200}, {"b", kSlice, 1, 10, 0, 100}}) == ",a,b");
  CHECK(ordered({{"a", kSlice, 1, 10, 5, 200}, {"b", kSlice, 2, 10, 5, 100}}) == ",a,b");
}

TEST_CASE("block_order: what is in order, or has no order, stays") {
  CHECK(ordered({{"parent", kSlice, 1, 10, 30}, {"child", kSlice, 1, 10, 5}}) == ",parent,child");
  CHECK(ordered({{"twin1", kSlice, 1, 10, 5}, {"twin2", kSlice, 1, 10, 5}}) == ",twin1,twin2");
  // The slices have other tracks or other starts, or one has no length.
  CHECK(ordered({{"a", kSlice, 1, 10, 5}, {"b", kSlice, 2, 10, 30}}) == ",a,b");
  CHECK(ordered({{"a", kSlice, 1, 11, 5}, {"b", kSlice, 1, 10, 30}}) == ",a,b");
  CHECK(ordered({{"a", kSlice, 1, 10, 0}, {"b", kSlice, 1, 10, 30}}) == ",a,b");
  CHECK(ordered({{"a", OrderClass::other, 1, 10}, {"b", OrderClass::flow, 1, 5}}) == ",a,b");
  CHECK(ordered({}) == "");
}

TEST_CASE("block_order: an arrow that ends at the next slice stands directly before it") {
  CHECK(ordered({{"f", kEnd, 1, 10, kUnbound, 1},
                 {"child", kSlice, 1, 10, 5, 2},
                 {"parent", kSlice, 1, 10, 30, 3}}) == ",parent,f,child");
  CHECK(ordered({{"child", kSlice, 1, 10, 5, 1},
                 {"f", kEnd, 1, 10, kUnbound, 2},
                 {"g", kEnd, 1, 10, kUnbound, 3},
                 {"parent", kSlice, 1, 10, 30, 4}}) == ",f,g,parent,child");
  // Without another slice of its time after it, it stays after those before it.
  CHECK(ordered({{"child", kSlice, 1, 10, 5, 1},
                 {"parent", kSlice, 1, 10, 30, 2},
                 {"f", kEnd, 1, 10, kUnbound, 3},
                 {"next", kSlice, 1, 11, 30, 4},
                 {"other", kSlice, 2, 10, 30, 5}}) == ",parent,child,f,next,other");
}

TEST_CASE("block_order: an arrow ends at the next slice over the border of blocks") {
  EventBlock first = block_of({{"before", kSlice, 1, 10, 20, 1}, {"f", kEnd, 1, 10, kUnbound, 2}});
  EventBlock second = block_of({{"child", kSlice, 1, 10, 5, 3}, {"parent", kSlice, 1, 10, 30, 4}});
  put_in_order(first);
  put_in_order(second);
  CHECK(put_in_order({&first, &second}));
  CHECK(std::string(first.text) + std::string(second.text) == ",parent,before,f,child");
  // What has the right order already is left alone.
  EventBlock end = block_of({{"f", kEnd, 1, 10, kUnbound, 2}});
  EventBlock slice = block_of({{"slice", kSlice, 1, 10, 5, 3}});
  put_in_order(end);
  put_in_order(slice);
  CHECK_FALSE(put_in_order({&end, &slice}));
  // A slice of begin and end events comes later than an arrow after its begin.
  EventBlock joined = block_of({{"joined", kSlice, 1, 10, 5, 1}});
  EventBlock late = block_of({{"f", kEnd, 1, 10, kUnbound, 2}});
  put_in_order(late);
  put_in_order(joined);
  CHECK(put_in_order({&late, &joined}));
  CHECK(std::string(late.text) + std::string(joined.text) == ",joined,f");
}

TEST_CASE("block_order: samples of a counter stand by their time") {
  CHECK(ordered({{"c3", kCounter, 7, 3},
                 {"d1", kCounter, 8, 1},
                 {"c1", kCounter, 7, 1},
                 {"c2", kCounter, 7, 2}}) == ",c1,d1,c2,c3");
}

TEST_CASE("block_order: text between the events stays where it is") {
  EventBlock block;
  block.text += ",instant";
  block.place({.start_ns = 10, .duration_ns = 5, .order = kSlice}, [&] { block.text += ",child"; });
  block.text += ",flow";
  block.place({.start_ns = 10, .duration_ns = 50, .order = kSlice},
              [&] { block.text += ",the parent"; });
  block.text += ",last";
  put_in_order(block);
  CHECK(block.text.view() == ",instant,the parent,flow,child,last");
  CHECK(block.text.view().substr(block.events[0].begin, block.events[0].size) == ",the parent");
  CHECK(block.text.view().substr(block.events[1].begin, block.events[1].size) == ",child");
}

TEST_CASE("block_order: events change places over the border of two blocks, and over a third") {
  EventBlock first = block_of({{"child", kSlice, 1, 10, 5}, {"c2", kCounter, 7, 2}});
  EventBlock second = block_of({{"other", kSlice, 1, 30, 5}});
  EventBlock third = block_of({{"c1", kCounter, 7, 1}, {"parent", kSlice, 1, 10, 50}});
  for (EventBlock* block : {&first, &second, &third}) put_in_order(*block);
  CHECK_FALSE(put_in_order({&first, &second}));
  CHECK(put_in_order({&first, &second, &third}));
  CHECK(first.text.view() == ",parent,c1");
  CHECK(second.text.view() == ",other");
  CHECK(third.text.view() == ",c2,child");
  CHECK_FALSE(put_in_order({&first, &second, &third}));
}
