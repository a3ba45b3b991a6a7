// These tests merge merged files again: each thread has one row, in whatever order its files come
// together.
#include "support/filter_files.h"
#include "support/merge_texts.h"
#include "support/print_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

// Returns a cycle of torch with a kernel on each of the streams.
std::string cycle(int number, const std::vector<std::string>& streams) {
  TraceText text;
  text.pid("51").tid("51").cat("cpu_op").x(fmt::format("step {}", number), 100 * number, 90);
  text.m("process_labels", R"({"labels": "CPU"})");
  text.pid("0").m("process_labels", R"({"labels": "GPU 0"})");
  for (const std::string& stream : streams)
    text.tid(stream).cat("kernel").x(fmt::format("kernel {} {}", number, stream), 100 * number, 9);
  return text.object(R"("distributedInfo": {"rank": 0})");
}

// Returns "name: process / row" for each slice.
Texts rows_of_slices(const std::string& merged) {
  std::map<std::string, std::string> processes;
  std::map<std::pair<std::string, std::string>, std::string> threads;
  Texts found;
  for (const oracle::Json& event : events_of(merged)) {
    const std::string pid = text_of(event, "pid");
    const std::pair thread{pid, text_of(event, "tid")};
    const std::string name = text_of(event, "name");
    if (name == "process_name") processes[pid] = text_of(*event.find("args"), "name");
    if (name == "thread_name") threads[thread] = text_of(*event.find("args"), "name");
    if (text_of(event, "ph") == "X")
      found.push_back(fmt::format("{}: {} / {}", name, processes[pid], threads[thread]));
  }
  return found;
}

std::string merged(const NamedTexts& files, PidLayout pids = PidLayout::rank) {
  return merge_texts(files, 1, AlignBy::any, pids);
}

// Merges one file after the other, each with what has been merged so far.
std::string merged_in_turn(const NamedTexts& files) {
  std::string so_far = merged({files.front()});
  for (std::size_t i = 1; i < files.size(); ++i)
    so_far = merged({{"merged.json", so_far}, files[i]});
  return so_far;
}

// Merges each file by itself, then all together.
std::string merged_apart(const NamedTexts& files, PidLayout pids = PidLayout::rank) {
  NamedTexts parts;
  for (const auto& [name, text] : files)
    parts.push_back({"merged " + name, merged({{name, text}})});
  return merged(parts, pids);
}

}  // namespace

TEST_CASE("merged_rows: streams of merged cycles are the streams they were") {
  const NamedTexts files{{"ep0-ba1-rank0.json", cycle(1, {"7"})},
                         {"ep0-ba2-rank0.json", cycle(2, {"3", "7"})},
                         {"ep0-ba3-rank0.json", cycle(3, {"7", "9"})}};
  const Texts wanted{"step 1: rank 0 / thread 51",
                     "kernel 1 7: rank 0 / GPU 0 · stream 7",
                     "step 2: rank 0 / thread 51",
                     "kernel 2 3: rank 0 / GPU 0 · stream 3",
                     "kernel 2 7: rank 0 / GPU 0 · stream 7",
                     "step 3: rank 0 / thread 51",
                     "kernel 3 7: rank 0 / GPU 0 · stream 7",
                     "kernel 3 9: rank 0 / GPU 0 · stream 9"};
  CHECK(rows_of_slices(merged(files)) == wanted);
  CHECK(rows_of_slices(merged_apart(files)) == wanted);
  CHECK(rows_of_slices(merged_in_turn(files)) == wanted);
  // The rows stay the same as groups of their own, too.
  const Texts groups = rows_of_slices(merged(files, PidLayout::split));
  CHECK(groups[3] == "kernel 2 3: rank 0 · GPU 0 / stream 3");
  CHECK(rows_of_slices(merged_apart(files, PidLayout::split)) == groups);
}

TEST_CASE("merged_rows: a row says what it was, and a merge of it says the same") {
  const std::string once = merged({{"rank0.json", cycle(1, {"7"})}});
  CHECK(once.find(R"("name":"thread_name","cat":"__metadata","ph":"M","pid":0,"tid":10000000,)"
                  R"("args":{"name":"GPU 0 · stream 7","process":"GPU 0","source_pid":0,)"
                  R"("is_gpu":true,"source_tid":7}})") != std::string::npos);
  CHECK(once.find(R"("tid":51,"args":{"name":"thread 51"}})") != std::string::npos);
  CHECK(without_other_data(merged({{"merged.json", once}})) == without_other_data(once));
}

TEST_CASE("merged_rows: a tid beyond 64 bits is noted as text, which many a parser needs") {
  const std::string huge = "18446744073709551616";
  const std::string trace = fmt::format(
      R"([{{"ph":"X","name":"a","ts":1,"dur":1,"pid":5,"tid":5}},{{"ph":"X","name":"b","ts":1,"dur":1,"pid":5,"tid":{}}}])",
      huge);
  const std::string once = merged({{"rank0.json", trace}});
  CHECK(once.find(R"("source_tid":"18446744073709551616"}})") != std::string::npos);
  CHECK(without_other_data(merged({{"merged.json", once}})) == without_other_data(once));
}

TEST_CASE("merged_rows: threads that got the same number in two merges stay two") {
  // One thread has a tid that no viewer can show, the other is a stream: the first number may go to
  // either.
  TraceText composer;
  composer.tid("139987654321984").m("global_rank", R"({"value": 0})").x("batch", 100, 50);
  const NamedTexts files{{"ep0-ba1-rank0.json", composer.array()},
                         {"rank0.pt.trace.json", cycle(1, {"7"})}};
  const Texts wanted{"batch: rank 0 / thread 139987654321984", "step 1: rank 0 / thread 51",
                     "kernel 1 7: rank 0 / GPU 0 · stream 7"};
  CHECK(rows_of_slices(merged(files)) == wanted);
  CHECK(rows_of_slices(merged_apart(files)) == wanted);
  CHECK(rows_of_slices(merged_in_turn(files)) == wanted);
}

TEST_CASE("merged_rows: two threads of a file never become one, whatever is noted of them") {
  const auto noted = [](int tid, const char* note) {
    return fmt::format(
        R"({{"ph":"M","name":"thread_name","pid":5,"tid":{0},"args":{{"name":"t{0}",{1}}}}},)"
        R"({{"ph":"X","name":"x{0}","ts":{0},"dur":1,"pid":5,"tid":{0}}},)",
        tid, note);
  };
  const std::string trace = "[" + noted(1, R"("source_tid":9)") + noted(2, R"("source_tid":9)") +
                            noted(9, R"("a":0)") + noted(3, R"("source_tid":8)") +
                            R"({"ph":"X","name":"y","ts":1,"dur":1,"pid":5,"tid":5}])";
  CHECK(rows_of_slices(merged({{"rank0.json", trace}})) ==
        Texts{"x1: rank 0 / t1", "x2: rank 0 / t2", "x9: rank 0 / t9", "x3: rank 0 / t3",
              "y: rank 0 / thread 5"});
}

TEST_CASE("merged_rows: a process is called alike by all files, as the first calls it") {
  const auto file = [](int tid, const std::string& name) {
    TraceText text;
    text.pid("51")
        .tid("51")
        .x("step", 100 * tid, 90)
        .x("more", 100 * tid + (name.empty() ? 2 : 1), 9);
    text.pid("60").tid(std::to_string(tid)).x("fetch", 100 * tid, 5);
    if (!name.empty()) text.m("process_name", R"({"name": "loader"})");
    return text.array();
  };
  const NamedTexts files{{"ep0-ba1-rank0.json", file(1, "loader")},
                         {"ep0-ba2-rank0.json", file(1, "")}};
  CHECK(rows_of_slices(merged_apart(files))[5] == "fetch: rank 0 / loader 60 · thread 1");
}

TEST_CASE("merged_rows: events without a pid or tid have the row that they had") {
  const std::string odd =
      R"([{"ph":"X","name":"a","ts":1,"dur":1,"pid":5,"tid":5},{"ph":"X","name":"b","ts":1,"dur":1},)"
      R"({"ph":"X","name":"c","ts":1,"dur":1,"pid":5,"tid":0},)"
      R"({"ph":"X","name":"d","ts":1,"dur":1,"pid":"Spans","tid":"x"}])";
  const std::string late = R"([{"ph":"X","name":"e","ts":9,"dur":1,"pid":"Spans","tid":"w"},)"
                           R"({"ph":"X","name":"f","ts":9,"dur":1,"pid":5,"tid":5},)"
                           R"({"ph":"X","name":"g","ts":10,"dur":1,"pid":5,"tid":5}])";
  const NamedTexts files{{"ep0-ba1-rank0.json", odd}, {"ep0-ba2-rank0.json", late}};
  CHECK(rows_of_slices(merged_apart(files)) == rows_of_slices(merged(files)));
  CHECK(rows_of_slices(merged_apart(files, PidLayout::split)) ==
        rows_of_slices(merged(files, PidLayout::split)));
}
