#include "summarize/span_table.h"

#include "scan/event_scanner.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

using namespace traceloom;

namespace {

using Strings = std::vector<std::string>;

// Adds the events of a list as spans of 1, 2, 3, ... ns.
void add_all(SpanTable& table, const std::string& events, std::size_t file = 0) {
  ProblemCounts ignored;
  EventScanner scanner;
  scanner.start(events, 0, Position::first, ignored);
  std::int64_t duration_ns = 0;
  while (const Event* event = scanner.next()) table.add(*event, file, ++duration_ns);
}

// "name|category|file|pid tid: count total", sorted; without threads "name|category|file|".
Strings groups_of(const SpanTable& table) {
  Strings groups;
  table.for_each_group([&](const SpanGroup& group) {
    DurationValues values;
    group.durations.copy_to(values);
    const std::string thread = group.pid.empty() ? "" : fmt::format("{} {}", group.pid, group.tid);
    groups.push_back(fmt::format("{}|{}|{}|{}: {} {}", group.name, group.category, group.file,
                                 thread, values.size(),
                                 std::accumulate(values.small.begin(), values.small.end(), 0U)));
  });
  std::sort(groups.begin(), groups.end());
  return groups;
}

const LabelFilter kEverything;

}  // namespace

TEST_CASE("span_table: groups by name and category, however they are written") {
  SpanTable table(kEverything, SpanPlaces::none);
  add_all(table, R"({"name":"a","cat":"c","ph":"X"},)"
                 R"({"cat":"c","name":"a","ph":"X"},)"
                 R"({"cat": "c", "name": "a", "ph": "X"},)"
                 R"({"name":"\u0061","ts":1,"cat":"c","ph":"X"},)"
                 R"({"name":"a","ts":1,"cat":"\u0063","ph":"X"},)"
                 R"({"name":"c","cat":"a","ph":"X"},)"
                 R"({"cat":"a","name":"c","ph":"X"},)"
                 R"({"name":"a","ph":"X"})");
  table.commit();
  CHECK(groups_of(table) == Strings{"a|c|0|: 5 15", "a||0|: 1 8", "c|a|0|: 2 13"});
}

TEST_CASE("span_table: tells names and categories apart whose texts join to the same") {
  SpanTable table(kEverything, SpanPlaces::none);
  add_all(table, R"({"name":"a\",\"cat\":\"b","cat":"c"},)"
                 R"({"name":"a","cat":"b\",\"cat\":\"c"},)"
                 R"({"name":"a","cat":"b","s":"c"},)"
                 R"({"cat":"a","s":1,"name":"b"},)"
                 R"({"name":"a","s":1,"cat":"b"})");
  table.commit();
  CHECK(groups_of(table) == Strings{R"(a","cat":"b|c|0|: 1 1)", R"(a|b","cat":"c|0|: 1 2)",
                                    "a|b|0|: 2 8", "b|a|0|: 1 4"});
}

TEST_CASE("span_table: what is no string is no name and no category") {
  SpanTable table(kEverything, SpanPlaces::none);
  add_all(table,
          R"({"name":5,"cat":[1]},{"cat":null},{"name":"","cat":""},{"name":{"a":1},"cat":"c"})");
  table.commit();
  CHECK(groups_of(table) == Strings{"(none)|c|0|: 1 4", "(none)||0|: 2 3", "||0|: 1 3"});
}

TEST_CASE("span_table: tells files, pids and threads apart where it is asked to") {
  const std::string events = R"({"name":"a","pid":1,"tid":5},{"name":"a","pid":"1","tid":"5"},)"
                             R"({"name":"a","pid":1,"tid":6},{"name":"a","pid":2,"tid":6})";
  SpanTable files(kEverything, SpanPlaces::files);
  SpanTable pids(kEverything, SpanPlaces::files_and_pids);
  SpanTable threads(kEverything, SpanPlaces::files_and_threads);
  for (SpanTable* table : {&files, &pids, &threads}) {
    add_all(*table, events, 3);
    add_all(*table, events, 4);
    table->commit();
  }
  CHECK(groups_of(files) == Strings{"a||3|: 4 10", "a||4|: 4 10"});
  CHECK(groups_of(pids) == Strings{"a||3|1 : 3 6", "a||3|2 : 1 4", "a||4|1 : 3 6", "a||4|2 : 1 4"});
  CHECK(groups_of(threads) == Strings{"a||3|1 5: 2 3", "a||3|1 6: 1 3", "a||3|2 6: 1 4",
                                      "a||4|1 5: 2 3", "a||4|1 6: 1 3", "a||4|2 6: 1 4"});
}

TEST_CASE("span_table: spans by label and place join those of events") {
  SpanTable table(kEverything, SpanPlaces::files_and_threads);
  add_all(table, R"({"name":"a","cat":"c","pid":7,"tid":8})", 1);
  table.add(table.label("a", "c"), table.place(1, "7", "8"), 100);
  table.add(table.label("b", ""), table.place(1, "7", "8"), 5);
  table.commit();
  CHECK(groups_of(table) == Strings{"a|c|1|7 8: 2 101", "b||1|7 8: 1 5"});
}

TEST_CASE("span_table: keeps only what the filter accepts") {
  const LabelFilter filter{{NamePattern("a")}, {}, {}, {}};
  SpanTable table(filter, SpanPlaces::none);
  add_all(table, R"({"name":"ab"},{"name":"b"},{"name":"ab"})");
  CHECK(table.pending() == 2);
  table.add(table.label("b", ""), table.place(0, "", ""), 1);
  CHECK(table.pending() == 2);
  table.commit();
  CHECK(groups_of(table) == Strings{"ab||0|: 2 4"});
}

TEST_CASE("span_table: what is taken back leaves no trace") {
  SpanTable table(kEverything, SpanPlaces::none);
  add_all(table, R"({"name":"a"})");
  table.commit();
  add_all(table, R"({"name":"a"},{"name":"gone"})");
  table.discard();
  table.commit();
  CHECK(groups_of(table) == Strings{"a||0|: 1 1"});
}
