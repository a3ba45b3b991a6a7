// These tests check the order of a process's rows, by what the inputs say of it.
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

// The place that a file gives to a thread.
using Index = std::pair<std::string, int>;  // tid, sort_index

// Returns a CPU process with threads 50 to 53 and one of the backward pass.
std::string trace_of(const std::vector<Index>& indexes, int cycle = 1) {
  TraceText text;
  text.pid("50").m("process_labels", R"({"labels": "CPU"})");
  for (const auto& [tid, index] : indexes)
    text.tid(tid).m("thread_sort_index", fmt::format(R"({{"sort_index": {}}})", index));
  for (const char* const tid : {"50", "51", "52", "53", "60"}) text.tid(tid).x("x", 100 * cycle, 5);
  text.tid("60").m("thread_name", R"({"name": "pt_autograd_0"})");
  return text.array();
}

// Returns two more processes, of which one names GPU rows.
std::string with_processes(const std::vector<Index>& indexes) {
  TraceText text;
  text.pid("50").tid("50").m("process_labels", R"({"labels": "CPU"})").x("x", 1, 90);
  text.pid("80").tid("1").x("x", 1, 1).tid("2").x("x", 1, 1).pid("81").tid("1").x("x", 1, 1);
  text.pid("0").tid("7").cat("kernel").x("k", 1, 1).m("process_labels", R"({"labels": "GPU 0"})");
  for (const auto& [pid, index] : indexes)
    text.pid(pid).m("process_sort_index", fmt::format(R"({{"sort_index": {}}})", index));
  return text.object(R"("distributedInfo": {"rank": 0})");
}

// Returns "process: row, row" for each process, in the order in which they are shown.
Texts rows_in(const std::string& merged) {
  std::map<std::string, std::map<int, std::string>> rows;
  std::map<std::pair<std::string, std::string>, std::string> names;
  std::map<std::string, std::string> processes;
  std::map<int, std::string> order;
  for (const oracle::Json& event : events_of(merged)) {
    const std::string name = text_of(event, "name");
    const std::string pid = text_of(event, "pid");
    const std::pair thread{pid, text_of(event, "tid")};
    const oracle::Json* const args = event.find("args");
    if (name == "process_name") processes[pid] = text_of(*args, "name");
    if (name == "process_sort_index") order[std::stoi(text_of(*args, "sort_index"))] = pid;
    if (name == "thread_name") names[thread] = text_of(*args, "name");
    if (name == "thread_sort_index")
      rows[pid][std::stoi(text_of(*args, "sort_index"))] = names[thread];
  }
  Texts found;
  for (const auto& [place, pid] : order) {
    found.push_back(processes[pid] + ":");
    for (const auto& [index, row] : rows[pid]) found.back() += " " + row + ",";
  }
  return found;
}

std::string row_texts(const std::string& trace) {
  const Texts rows = rows_in(merge_texts({{"rank0.json", trace}}));
  return rows.front();
}

}  // namespace

TEST_CASE("row_order: without indexes the main thread is first, that of the backward pass second") {
  CHECK(row_texts(trace_of({})) ==
        "rank 0: thread 50, pt_autograd_0, thread 51, thread 52, thread 53,");
}

TEST_CASE("row_order: threads with an index share their places in its order") {
  CHECK(row_texts(trace_of({{"53", 1}, {"51", 7}})) ==
        "rank 0: thread 50, pt_autograd_0, thread 53, thread 52, thread 51,");
  CHECK(row_texts(trace_of({{"53", -3}, {"51", 7}, {"50", 3}, {"60", 0}})) ==
        "rank 0: thread 53, pt_autograd_0, thread 50, thread 52, thread 51,");
  CHECK(row_texts(trace_of({{"51", 2}, {"52", 1}, {"53", 1}})) ==
        "rank 0: thread 50, pt_autograd_0, thread 52, thread 53, thread 51,");
}

TEST_CASE("row_order: an index that is the tid, as torch writes it, says nothing") {
  CHECK(row_texts(trace_of({{"50", 50}, {"51", 51}, {"52", 52}, {"53", 53}, {"60", 60}})) ==
        row_texts(trace_of({})));
}

TEST_CASE("row_order: of several files the first that says an index counts") {
  const NamedTexts files{{"ep0-ba1-rank0.json", trace_of({{"52", 2}, {"51", 3}}, 1)},
                         {"ep0-ba2-rank0.json", trace_of({{"51", 1}, {"52", 2}, {"53", 1}}, 2)}};
  CHECK(rows_in(merge_texts(files))[0] ==
        "rank 0: thread 50, pt_autograd_0, thread 53, thread 52, thread 51,");
}

TEST_CASE("row_order: the thread that says to come first is the main one") {
  // No thread has the number of the process, and another one is busier.
  TraceText text;
  text.pid("0").tid("9").m("global_rank", R"({"value": 0})").x("a", 1, 1).x("a", 5, 1);
  text.tid("30").m("thread_sort_index", R"({"sort_index": 0})").x("step", 1, 9);
  CHECK(row_texts(text.array()) == "rank 0: thread 30, thread 9,");
}

TEST_CASE("row_order: processes with an index share their places in its order") {
  CHECK(row_texts(with_processes({})) ==
        "rank 0: thread 50, GPU 0 · stream 7, pid 80 · thread 1, pid 80 · thread 2, "
        "pid 81 · thread 1,");
  const std::string trace = with_processes({{"80", 5}, {"81", 2}, {"0", 3}, {"50", 50}});
  CHECK(row_texts(trace) ==
        "rank 0: thread 50, pid 81 · thread 1, GPU 0 · stream 7, pid 80 · thread 1, "
        "pid 80 · thread 2,");
  const NamedTexts files{{"rank0.json", trace}};
  CHECK(rows_in(merge_texts(files, 1, AlignBy::any, PidLayout::split)) ==
        Texts{"rank 0: thread 50,", "rank 0 · pid 81: thread 1,", "rank 0 · GPU 0: stream 7,",
              "rank 0 · pid 80: thread 1, thread 2,"});
}

TEST_CASE("row_order: merged again, split and folded again rows stand as they stood") {
  const NamedTexts threads{{"rank0.json", trace_of({{"53", -3}, {"51", 7}, {"50", 3}, {"60", 0}})}};
  const NamedTexts processes{{"rank0.json", with_processes({{"80", 5}, {"81", 2}, {"0", 3}})}};
  for (const NamedTexts& files : {threads, processes}) {
    const std::string folded = merge_texts(files);
    const std::string split = merge_texts(files, 1, AlignBy::any, PidLayout::split);
    const auto again = [](const std::string& merged, PidLayout pids) {
      return without_other_data(merge_texts({{"merged.json", merged}}, 1, AlignBy::any, pids));
    };
    CHECK(again(folded, PidLayout::rank) == without_other_data(folded));
    CHECK(again(split, PidLayout::split) == without_other_data(split));
    CHECK(again(split, PidLayout::rank) == without_other_data(folded));
    CHECK(again(folded, PidLayout::split) == without_other_data(split));
  }
}

TEST_CASE("row_order: cycles that are merged one by one have the rows of all at once") {
  const NamedTexts files{{"ep0-ba1-rank0.json", trace_of({{"52", 2}, {"51", 3}}, 1)},
                         {"ep0-ba2-rank0.json", trace_of({{"53", 1}, {"60", 9}}, 2)}};
  const std::string first = merge_texts({files[0]});
  const Texts rows = rows_in(merge_texts(files));
  CHECK(rows[0] == "rank 0: thread 50, thread 53, thread 52, thread 51, pt_autograd_0,");
  CHECK(rows_in(merge_texts({{"merged.json", first}, files[1]})) == rows);
}
