#include "merge/operation_categories.h"

#include "support/filter_files.h"
#include "support/merged_case.h"
#include "support/print_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

// "b c1 0x1": phase, category and id of the events of a merge.
Texts operations_in(const std::string& merged) {
  Texts found;
  for (const oracle::Json& event : events_of(merged)) {
    const oracle::Json* const id2 = event.find("id2");
    if (id2 != nullptr)
      found.push_back(fmt::format("{} {} {}", text_of(event, "ph"), text_of(event, "cat"),
                                  text_of(*id2, "local")));
  }
  return found;
}

Texts merged_operations(const TraceText& trace) {
  return operations_in(merge_texts({{"rank0.json", trace.array()}}));
}

}  // namespace

TEST_CASE("operation_categories: steps and ends get the category of their beginning") {
  CHECK(merged_operations(TraceText()
                              .cat("c1")
                              .with_id("S", "op", 0, "7")
                              .cat("c2")
                              .with_id("T", "op", 1, "7")
                              .cat("")
                              .with_id("p", "op", 2, "7")
                              .cat("c2")
                              .with_id("F", "op", 9, "7")) ==
        Texts{"b c1 0x1", "n c1 0x1", "n c1 0x1", "e c1 0x1"});
  CHECK(merged_operations(
            TraceText().with_id("S", "op", 0, "7").cat("c2").with_id("F", "op", 9, "7")) ==
        Texts{"b  0x1", "e  0x1"});
}

TEST_CASE("operation_categories: operations are told apart by name, scope and id") {
  TraceText trace;
  trace.cat("c1").with_id("S", "a", 0, "7");
  trace.raw(R"({"ph":"S","name":"a","cat":"c2","id":7,"scope":"s","ts":1,"pid":1,"tid":1})");
  trace.cat("c3").with_id("S", "a", 2, "8").cat("c4").with_id("S", "b", 3, "7");
  trace.cat("x").with_id("F", "a", 5, "7");
  trace.raw(R"({"ph":"F","name":"a","cat":"x","id":7,"scope":"s","ts":6,"pid":1,"tid":1})");
  trace.with_id("F", "a", 7, "8").with_id("F", "b", 8, "7").with_id("F", "c", 9, "7");
  CHECK(merged_operations(trace) == Texts{"b c1 0x5", "b c2 0x4", "b c3 0x3", "b c4 0x2",
                                          "e c1 0x5", "e c2 0x4", "e c3 0x3", "e c4 0x2",
                                          "e x 0x1"});
}

TEST_CASE("operation_categories: those of one name and id after each other have their own") {
  TraceText trace;
  trace.cat("c1").with_id("S", "op", 0, "7").with_id("F", "op", 1, "7");
  trace.cat("c2").with_id("S", "op", 2, "7").with_id("F", "op", 3, "7");
  CHECK(merged_operations(trace) == Texts{"b c1 0x1", "e c1 0x1", "b c2 0x1", "e c2 0x1"});
  trace.cat("c3").with_id("S", "op", 4, "7");
  trace.cat("c1").with_id("T", "op", 5, "7").with_id("F", "op", 6, "7");
  CHECK(merged_operations(trace) ==
        Texts{"b c1 0x1", "e c1 0x1", "b c2 0x1", "e c2 0x1", "b c3 0x1", "n c3 0x1", "e c3 0x1"});
}

TEST_CASE("operation_categories: without a beginning before them events keep their own") {
  TraceText trace;
  trace.cat("c2").with_id("T", "op", 1, "7").with_id("F", "op", 9, "7");
  CHECK(merged_operations(trace) == Texts{"n c2 0x1", "e c2 0x1"});
  trace.cat("c1").with_id("S", "op", 0, "7");
  CHECK(merged_operations(trace) == Texts{"n c2 0x1", "e c2 0x1", "b c1 0x1"});
}

TEST_CASE("operation_categories: where different ones overlap under one id each keeps its own") {
  TraceText trace;
  trace.cat("c1").with_id("S", "op", 0, "7").cat("c2").with_id("S", "op", 1, "7");
  trace.with_id("F", "op", 2, "7").cat("c1").with_id("F", "op", 3, "7");
  CHECK(merged_operations(trace) == Texts{"b c1 0x1", "b c2 0x1", "e c2 0x1", "e c1 0x1"});
}

TEST_CASE("operation_categories: what is put in is strict JSON") {
  TraceText trace;
  trace.cat("a\\c\t").with_id("S", "op", 0, "7").cat("b").with_id("F", "op", 9, "7");
  const Texts operations = merged_operations(trace);
  REQUIRE(operations.size() == 2);
  CHECK(operations[1] == "e" + operations[0].substr(1));
  CHECK(operations[0].find("0x1") != std::string::npos);
}

TEST_CASE("operation_categories: a merge of the merge has whole operations, and filters them so") {
  const std::string once = merge_texts({{"rank0.json", TraceText()
                                                           .cat("c1")
                                                           .with_id("S", "op", 0, "7")
                                                           .cat("c2")
                                                           .with_id("T", "op", 3, "7")
                                                           .with_id("F", "op", 9, "7")
                                                           .array()}});
  CHECK(without_other_data(merge_texts({{"x.json", once}})) == without_other_data(once));
  FilterFiles files({{"x.json", once}});
  files.options.filter.time = {.from_ns = {}, .to_ns = 5'000};
  CHECK(files.kept() == Texts{"b op", "n op", "e op"});
  files.options.filter.time = {};
  files.options.filter.labels.categories = {"c1"};
  CHECK(files.kept() == Texts{"b op", "n op", "e op"});
}

TEST_CASE("operation_categories: a beginning may stand far before its end, unseen by samples") {
  TraceText trace;
  for (int i = 0; i < 40'000; ++i) {
    trace.cat("").x("a", i, 1);
    if (i == 1600) trace.cat("c1").with_id("S", "op", i, "7");
    if (i == 31'000) trace.cat("c2").with_id("F", "op", i, "7");
  }
  FilterFiles files({{"a.json", trace.array()}});
  REQUIRE(read_file(files.options.inputs[0].path).size() > 2 * 1024 * 1024);
  for (const unsigned threads : {1U, 4U}) {
    files.options.threads = threads;
    const std::string merged = files.merge().text;
    CHECK(operations_in(merged) == Texts{"b c1 0x1", "e c1 0x1"});
    files.options.always_survey = true;
    CHECK(files.merge().text == merged);
    files.options.always_survey = false;
  }
}
