#include "merge/slices/slice_facts.h"
#include "scan/event_scanner.h"
#include "support/filter_files.h"
#include "support/merged_case.h"
#include "support/print_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

using namespace traceloom;

namespace {

// Returns "b one 3" for each async event, with " unclosed" if the merge has ended it.
Texts slices_in(const std::string& merged) {
  Texts found;
  for (const oracle::Json& event : events_of(merged)) {
    if (event.find("id2") == nullptr) continue;
    found.push_back(fmt::format("{} {} {}", text_of(event, "ph"), text_of(event, "name"),
                                text_of(event, "ts")));
    if (event.find("unclosed") != nullptr) found.back() += " unclosed";
  }
  return found;
}

Texts merged_slices(const TraceText& trace) {
  return slices_in(merge_texts({{"rank0.json", trace.array()}}));
}

std::string step(std::string_view phase, std::string_view name, int ts, std::string_view step) {
  return fmt::format(
      R"({{"ph":"{}","name":"{}","id":7,"ts":{},"pid":1,"tid":1,"args":{{"step":{}}}}})", phase,
      name, ts, step);
}

// Returns "b c1 0x1" for each event of a merge: phase, category and id.
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

TEST_CASE("async_slices: steps and ends get the category of their beginning") {
  CHECK(merged_operations(TraceText()
                              .cat("c1")
                              .with_id("S", "op", 0, "7")
                              .cat("c2")
                              .with_id("T", "op", 1, "7")
                              .cat("")
                              .with_id("p", "op", 2, "7")
                              .cat("c2")
                              .with_id("F", "op", 9, "7")) ==
        Texts{"b c1 0x1", "b c1 0x1", "b c1 0x1", "e c1 0x1", "e c1 0x1", "e c1 0x1"});
  CHECK(merged_operations(
            TraceText().with_id("S", "op", 0, "7").cat("c2").with_id("F", "op", 9, "7")) ==
        Texts{"b  0x1", "e  0x1"});
}

TEST_CASE("async_slices: operations are told apart by name, scope and id") {
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

TEST_CASE("async_slices: those of one name and id after each other have their own") {
  TraceText trace;
  trace.cat("c1").with_id("S", "op", 0, "7").with_id("F", "op", 1, "7");
  trace.cat("c2").with_id("S", "op", 2, "7").with_id("F", "op", 3, "7");
  CHECK(merged_operations(trace) == Texts{"b c1 0x1", "e c1 0x1", "b c2 0x1", "e c2 0x1"});
  trace.cat("c3").with_id("S", "op", 4, "7");
  trace.cat("c1").with_id("T", "op", 5, "7").with_id("F", "op", 6, "7");
  CHECK(merged_operations(trace) == Texts{"b c1 0x1", "e c1 0x1", "b c2 0x1", "e c2 0x1",
                                          "b c3 0x1", "b c3 0x1", "e c3 0x1", "e c3 0x1"});
}

TEST_CASE("async_slices: without a beginning before them events keep their own") {
  TraceText trace;
  trace.cat("c2").with_id("T", "op", 1, "7").with_id("F", "op", 9, "7");
  CHECK(merged_operations(trace) == Texts{"n c2 0x1", "e c2 0x1"});
  // The begin counts if it is before them in time, wherever it stands in the file.
  trace.cat("c1").with_id("S", "op", 0, "7");
  CHECK(merged_operations(trace) == Texts{"b c1 0x1", "e c1 0x1", "e c1 0x1", "b c1 0x1"});
}

TEST_CASE("async_slices: where different ones overlap under one id each keeps its own") {
  TraceText trace;
  trace.cat("c1").with_id("S", "op", 0, "7").cat("c2").with_id("S", "op", 1, "7");
  trace.with_id("F", "op", 2, "7").cat("c1").with_id("F", "op", 3, "7");
  CHECK(merged_operations(trace) == Texts{"b c1 0x1", "b c2 0x1", "e c2 0x1", "e c1 0x1"});
}

TEST_CASE("async_slices: both halves of a step have its category, whatever ends or begins it") {
  TraceText trace;
  trace.cat("c1").with_id("S", "op", 0, "7").with_id("T", "op", 1, "7");
  trace.cat("c2").with_id("S", "op", 2, "7").cat("c1").with_id("p", "op", 3, "7");
  trace.cat("c2").with_id("F", "op", 4, "7").cat("c1").with_id("F", "op", 5, "7");
  const std::string merged = merge_texts({{"rank0.json", trace.array()}});
  CHECK(operations_in(merged) == Texts{"b c1 0x1", "b c1 0x1", "e c1 0x1", "b c2 0x1", "b c1 0x1",
                                       "e c1 0x1", "e c2 0x1", "e c1 0x1"});
  CHECK(without_other_data(merge_texts({{"merged.json", merged}})) == without_other_data(merged));
}

TEST_CASE("async_slices: what is put in is strict JSON") {
  TraceText trace;
  trace.cat("a\\c\t").with_id("S", "op", 0, "7").cat("b").with_id("F", "op", 9, "7");
  const Texts operations = merged_operations(trace);
  REQUIRE(operations.size() == 2);
  CHECK(operations[1] == "e" + operations[0].substr(1));
  CHECK(operations[0].find("0x1") != std::string::npos);
}

TEST_CASE("async_slices: a merge of the merge has whole operations, and filters them so") {
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
  CHECK(files.kept() == Texts{"b op", "b op", "e op", "e op"});
  files.options.filter.time = {};
  files.options.filter.labels.categories = {"c1"};
  CHECK(files.kept() == Texts{"b op", "b op", "e op", "e op"});
}

TEST_CASE("async_slices: a beginning may stand far before its end, unseen by samples") {
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

TEST_CASE("async_slices: a step (T) lasts until the next event of its operation") {
  TraceText trace;
  trace.with_id("S", "op", 0, "7").raw(step("T", "op", 3, R"("one")"));
  trace.raw(step("T", "op", 5, R"("two\n")")).with_id("F", "op", 9, "7");
  CHECK(merged_slices(trace) ==
        Texts{"b op 0", "b one 3", "e one 5", "b two\n 5", "e two\n 9", "e op 9"});
}

TEST_CASE("async_slices: a step (p) lasts since the event before it") {
  TraceText trace;
  trace.with_id("S", "op", 0, "7").raw(step("p", "op", 3, R"("one")"));
  trace.raw(step("p", "op", 5, R"("two")")).with_id("F", "op", 9, "7");
  CHECK(merged_slices(trace) ==
        Texts{"b op 0", "b one 0", "e one 3", "b two 3", "e two 5", "e op 9"});
}

TEST_CASE("async_slices: steps of both kinds nest where they meet") {
  TraceText trace;
  trace.with_id("S", "op", 0, "7").raw(step("T", "op", 3, R"("t")"));
  trace.raw(step("p", "op", 5, R"("p")")).with_id("F", "op", 9, "7");
  CHECK(merged_slices(trace) == Texts{"b op 0", "b t 3", "b p 3", "e p 5", "e t 5", "e op 9"});
}

TEST_CASE(
    "async_slices: a step keeps its args, and what names no step is called as the operation") {
  TraceText trace;
  trace.with_id("S", "op", 0, "7").raw(step("T", "op", 3, "12")).raw(step("T", "op", 4, "[]"));
  trace.raw(R"({"ph":"T","name":"op","id":7,"ts":5,"pid":1,"tid":1})").with_id("F", "op", 9, "7");
  CHECK(merged_slices(trace) ==
        Texts{"b op 0", "b 12 3", "e 12 4", "b op 4", "e op 5", "b op 5", "e op 9", "e op 9"});
  CHECK(merge_texts({{"rank0.json", trace.array()}})
            .find(R"("ph":"b","name":"12","id2":{"local": "0x1"},"ts":3,"pid":0,"tid":1,)"
                  R"("args":{"step":12}})") != std::string::npos);
}

TEST_CASE("async_slices: a step of nothing stays an instant") {
  TraceText trace;
  trace.raw(step("T", "op", 3, R"("one")")).raw(step("p", "op", 5, R"("two")"));
  trace.with_id("S", "op", 6, "7").with_id("F", "op", 7, "7").raw(step("T", "op", 8, R"("x")"));
  CHECK(merged_slices(trace) == Texts{"n op 0", "n op 2", "b op 3", "e op 4", "n op 5"});
}

TEST_CASE("async_slices: what is never ended lasts to the end of its file, inner ones end first") {
  TraceText trace;
  trace.cat("c").with_id("S", "op", 1, "7").raw(step("T", "op", 3, R"("s")"));
  trace.with_id("b", "outer", 4, "8").with_id("b", "inner", 5, "8").with_id("b", "no", 5, "9");
  trace.with_id("e", "no", 6, "9").x("x", 0, 50);
  const std::string longer = TraceText().x("x", 0, 900).array();
  const Texts wanted{
      "b op 1",          "b s 3",           "b outer 4",           "b inner 5",
      "b no 5",          "e no 6",          "e inner 50 unclosed", "e outer 50 unclosed",
      "e s 50 unclosed", "e op 50 unclosed"};
  const std::string merged = merge_texts({{"rank0.json", trace.array()}, {"rank1.json", longer}});
  CHECK(slices_in(merged) == wanted);
  CHECK(merged.find(R"({"name": "op", "cat": "c", "ph": "e", "id2": {"local": "0x)") !=
        std::string::npos);
  CHECK(merged.find(R"("ts": 50, "pid": 0, "tid": 1, "added": true, "unclosed": true})") !=
        std::string::npos);
  // They are ended in the merge, and stay so.
  CHECK(without_other_data(merge_texts({{"merged.json", merged}})) == without_other_data(merged));
}

TEST_CASE("async_slices: what is never ended inside of an ended one of its id ends with that") {
  TraceText trace;
  trace.with_id("b", "outer", 1, "8").with_id("b", "open", 2, "8").with_id("b", "in", 3, "8");
  trace.with_id("b", "late", 4, "8").with_id("e", "outer", 6, "8").with_id("e", "late", 7, "8");
  trace.with_id("b", "other", 2, "9").x("x", 0, 50);
  CHECK(merged_slices(trace) == Texts{"b outer 1", "b open 2", "b in 3", "b late 4", "e in 6",
                                      "e open 6", "e outer 6", "e late 7", "b other 2",
                                      "e other 50 unclosed"});
}

TEST_CASE("async_slices: events are joined in the order of their time, as viewers do") {
  TraceText trace;
  trace.with_id("e", "a", 9, "7").with_id("F", "op", 9, "7").with_id("b", "a", 1, "7");
  trace.raw(step("T", "op", 3, R"("one")")).with_id("S", "op", 1, "7").x("x", 0, 50);
  CHECK(merged_slices(trace) == Texts{"e a 9", "e one 9", "e op 9", "b a 1", "b one 3", "b op 1"});
}

TEST_CASE("async_slices: an end that stands far before its begin is found all the same") {
  AsyncSliceFinder finder;
  const auto add = [&](char phase, std::int64_t ns, std::uint64_t offset, std::string_view name) {
    const std::string text = fmt::format(R"({{"ph":"{}","name":"{}","cat":"c"}})", phase, name);
    ProblemCounts ignored;
    EventScanner scanner;
    scanner.start(text, offset, Position::first, ignored);
    AsyncBatch batch;
    batch.add("7", *scanner.next(), ns);
    finder.take(batch);
  };
  add('e', 500'000'000, 0, "a");
  for (std::uint64_t i = 1; i < 2 * AsyncSliceFinder::kReorderRecords; ++i) {
    const std::int64_t ns = 600'000'000 + static_cast<std::int64_t>(i);
    add(i % 2 == 1 ? 'b' : 'e', ns, i, "other");
  }
  const std::uint64_t last = 2 * AsyncSliceFinder::kReorderRecords;
  add('b', 100'000'000, last, "a");
  add('b', 900'000'000, last + 1, "a");
  const AsyncSlices slices = finder.finish();
  CHECK(slices.find(last) == nullptr);
  REQUIRE(slices.find(last + 1) != nullptr);
  CHECK(slices.find(last + 1)->is_unended);
}

TEST_CASE("async_slices: with a filter an operation stays with all of its halves, or goes") {
  TraceText trace;
  trace.cat("c").with_id("S", "op", 1, "7").raw(step("T", "op", 3, R"("s")"));
  trace.with_id("b", "a", 4, "8").x("x", 0, 50);
  FilterFiles files({{"rank0.json", trace.array()}});
  files.options.filter.labels.names.emplace_back("^op$");
  CHECK(files.kept() == Texts{"b op", "b s", "e s", "e op"});
}

TEST_CASE("async_slices: halves stand by time where all events do") {
  TraceText trace;
  trace.with_id("S", "op", 1, "7").raw(step("T", "op", 3, R"("s")")).with_id("F", "op", 6, "7");
  trace.with_id("b", "a", 4, "8").x("x", 0, 50);
  MergedCase merged(
      {{"rank0.json", trace.array()}, {"rank1.json", TraceText().x("y", 0, 60).array()}},
      {.sort_by_time = true});
  CHECK(slices_in(merged.text()) ==
        Texts{"b op 1", "b s 3", "b a 4", "e s 6", "e op 6", "e a 50 unclosed"});
}
