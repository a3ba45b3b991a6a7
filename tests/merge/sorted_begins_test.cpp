// These tests use --keep-begin-end with --sort: begin events (B) and complete events (X) of one row
// nest as they lie.
#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

PlanOptions sorted_as_they_are() {
  PlanOptions options;
  options.keep_begin_end = true;
  options.sort_by_time = true;
  return options;
}

// Returns "phase name" of each event, in the order of the merge.
Texts order_of(const std::string& text, const PlanOptions& options = sorted_as_they_are()) {
  Texts order;
  for (const std::string& line : MergedCase(NamedTexts{{"rank0.json", text}}, options).events()) {
    const oracle::Json event = oracle::parse_json(line);
    order.push_back(text_of(event, "ph") + " " + text_of(event, "name"));
  }
  return order;
}

std::string event_of(const std::string& phase, const std::string& name, int ts,
                     const std::string& more = "") {
  return fmt::format(R"({{"ph":"{}","name":"{}","pid":1,"tid":1,"ts":{}{}}})", phase, name, ts,
                     more);
}

std::string x(const std::string& name, int ts, int dur) {
  return event_of("X", name, ts, fmt::format(R"(,"dur":{})", dur));
}

std::string list(const Texts& events) {
  return fmt::format("[{}]", fmt::join(events, ",\n"));
}

// Makes slices within each other, some of which begin together, as a profiler writes them: a B when
// a slice begins, its E and an X when it ends.
class NestedSlices {
 public:
  explicit NestedSlices(unsigned seed) : random_(seed) { add_between(0, 1000, 0); }

  std::string text() const { return list(events_); }
  // Returns the B and X, outer ones first.
  const Texts& order() const { return order_; }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  void add_between(int begin, int end, int depth) {
    int at = begin;
    while (depth < 7 && at < end - 1) {
      if (below(2) == 0) at += below(end - at);
      const int length = 1 + below(end - at);
      if (at + length > end || length == end - begin) break;
      add(at, length, depth);
      at += length;
    }
  }
  void add(int at, int length, int depth) {
    const bool is_pair = below(2) == 0;
    const std::string name = fmt::format("n{}", order_.size());
    order_.push_back((is_pair ? "B " : "X ") + name);
    if (is_pair) events_.push_back(event_of("B", name, at));
    add_between(at, at + length, depth + 1);
    events_.push_back(is_pair ? event_of("E", name, at + length) : x(name, at, length));
  }

  std::mt19937 random_;
  Texts events_;
  Texts order_;
};

}  // namespace

TEST_CASE("sorted_begins: of a begin and a complete event of one start the longer is first") {
  CHECK(order_of(list({event_of("B", "out", 5), x("in", 5, 3), event_of("E", "out", 9)})) ==
        Texts{"B out", "X in", "E out"});
  CHECK(order_of(list({event_of("B", "in", 5), event_of("E", "in", 8), x("out", 5, 4)})) ==
        Texts{"X out", "B in", "E in"});
  // Slices of one length stand as they begin in the file.
  CHECK(order_of(list({event_of("B", "a", 5), x("b", 5, 4), event_of("E", "a", 9)})) ==
        Texts{"B a", "X b", "E a"});
  CHECK(order_of(list({x("b", 5, 4), event_of("B", "a", 5), event_of("E", "a", 9)})) ==
        Texts{"X b", "B a", "E a"});
}

TEST_CASE("sorted_begins: random slices stand as they lie, whatever they are written as") {
  int moved = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const NestedSlices slices(seed);
    Texts order = order_of(slices.text());
    std::erase_if(order, [](const std::string& event) { return event.starts_with("E "); });
    CHECK(order == slices.order());
    PlanOptions unsorted;
    unsorted.keep_begin_end = true;
    const Texts as_written = order_of(slices.text(), unsorted);
    if (as_written != order_of(slices.text())) ++moved;
  }
  CHECK(moved > 30);
}
