// These tests check PidLayout::split: each source process is a group of rows of its own.
#include "merge/rows/track_plan.h"
#include "support/merge_texts.h"
#include "support/print_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

// Returns what torch writes of one rank, in a few lines.
std::string torch_rank(int rank, const std::string& more = "") {
  TraceText text;
  text.pid("1166").tid("1166").m("process_name", R"({"name": "python3"})");
  text.m("process_labels", R"({"labels": "CPU"})");
  text.x("step", 10, 50);
  text.pid("0").tid("0").m("process_name", R"({"name": "python3"})");
  text.m("process_labels", R"({"labels": "GPU 0"})");
  text.tid("7").m("thread_name", R"({"name": "stream 7 "})").cat("kernel").x("gemm", 20, 5);
  text.tid("20").x("nccl", 22, 5).cat("");
  text.pid("\"Spans\"").tid("\"PyTorch Profiler\"").x("PyTorch Profiler (0)", 5, 90);
  text.pid("1234").tid("1234").m("process_name", R"({"name": "loader"})").x("fetch", 30, 1);
  text.pid("-1").tid("0").x("overhead", 40, 1);
  if (!more.empty()) text.raw(more);
  return text.object(fmt::format(R"("distributedInfo": {{"rank": {}}})", rank));
}

std::string split(const NamedTexts& files) {
  return merge_texts(files, 1, AlignBy::any, PidLayout::split);
}

// Returns "pid process_name sort_index", then "  tid thread_name", in the order of the file.
Texts rows_of_split(const std::string& merged) {
  Texts found;
  for (const oracle::Json& event : events_of(merged)) {
    if (text_of(event, "ph") != "M") continue;
    const std::string name = text_of(event, "name");
    const oracle::Json& args = *event.find("args");
    if (name == "process_name")
      found.push_back(text_of(event, "pid") + " " + text_of(args, "name"));
    if (name == "process_sort_index") found.back() += " #" + text_of(args, "sort_index");
    if (name == "thread_name")
      found.push_back("  " + text_of(event, "tid") + " " + text_of(args, "name"));
  }
  return found;
}

// Returns "pid/tid" of the event of that name.
std::string place_of(const std::string& merged, const std::string& name) {
  for (const oracle::Json& event : events_of(merged))
    if (text_of(event, "name") == name && text_of(event, "ph") != "M")
      return text_of(event, "pid") + "/" + text_of(event, "tid");
  return {};
}

TrackFacts busy_track(std::string pid, std::string tid) {
  TrackFacts facts;
  facts.pid = std::move(pid);
  facts.tid = std::move(tid);
  facts.events = 1;
  return facts;
}

std::vector<std::int64_t> pids_of(const std::vector<std::int64_t>& ranks, int processes) {
  std::vector<FileSurvey> surveys;
  std::vector<FileRank> file_ranks;
  for (const std::int64_t rank : ranks) {
    FileSurvey survey;
    for (int i = 0; i < processes; ++i)
      survey.tracks.push_back(busy_track(std::to_string(5000 + i), "1"));
    surveys.push_back(std::move(survey));
    file_ranks.emplace_back().rank = rank;
  }
  const TrackPlan plan(surveys, file_ranks, PidLayout::split);
  std::vector<std::int64_t> pids;
  for (const OutputProcess& process : plan.processes()) pids.push_back(process.pid);
  return pids;
}

}  // namespace

TEST_CASE("split: each process of a rank is a group of its own: main, GPUs, the rest") {
  const std::string merged = split({{"a.json", torch_rank(3)}, {"b.json", torch_rank(0)}});
  const Texts of_rank_0{"1 rank 0 · python3 (pid 1166) #0",
                        "  1166 thread 1166",
                        "2 rank 0 · GPU 0 #1",
                        "  7 stream 7",
                        "  20 stream 20",
                        "3 rank 0 · pid -1 #2",
                        "  10000000 thread 0",
                        "4 rank 0 · loader (pid 1234) #3",
                        "  1234 thread 1234",
                        "5 rank 0 · Spans #4",
                        "  10000000 PyTorch Profiler"};
  const Texts all = rows_of_split(merged);
  CHECK(Texts(all.begin(), all.begin() + 11) == of_rank_0);
  CHECK(all[11] == "301 rank 3 · python3 (pid 1166) #5");
  CHECK(all[13] == "302 rank 3 · GPU 0 #6");
  CHECK(all.size() == 22);
  CHECK(place_of(merged, "step") == "301/1166");
  CHECK(place_of(merged, "nccl") == "302/20");
}

TEST_CASE("split: a thread whose tid would be its pid is taken for no main thread") {
  const std::string text = TraceText()
                               .pid("60")
                               .tid("60")
                               .x("main", 1, 1)
                               .pid("0")
                               .tid("2")
                               .cat("kernel")
                               .x("gemm", 1, 1)
                               .object();
  CHECK(place_of(split({{"rank0.json", text}}), "gemm") == "2/10000000");
}

TEST_CASE("split: the main thread of a worker comes first, and may be called like its pid") {
  const std::string text = TraceText()
                               .pid("60")
                               .tid("60")
                               .x("main", 1, 9)
                               .x("more", 2, 1)
                               .x("still", 3, 1)
                               .pid("2")
                               .tid("1")
                               .x("helper", 1, 1)
                               .tid("2")
                               .x("worker", 1, 1)
                               .object();
  CHECK(rows_of_split(split({{"rank0.json", text}})) == Texts{"1 rank 0 #0", "  60 thread 60",
                                                              "2 rank 0 · pid 2 #1", "  2 thread 2",
                                                              "  1 thread 1"});
}

TEST_CASE("split: pids leave room for each rank, and are never 0 nor above 32 bits") {
  using Pids = std::vector<std::int64_t>;
  CHECK(pids_of({0, 1, 12}, 2) == Pids{1, 2, 101, 102, 1201, 1202});
  const Pids many = pids_of({0, 1}, 100);
  CHECK(many[0] == 1);
  CHECK(many[99] == 100);
  CHECK(many[100] == 1001);
  CHECK(pids_of({42'949'671}, 1) == Pids{4'294'967'101});
  CHECK(pids_of({7, 42'949'672}, 1) == Pids{1, 2});
  CHECK(pids_of({2'147'483'647}, 3) == Pids{1, 2, 3});
}

TEST_CASE("split: counters and instants of a process stay with it, also where it has no thread") {
  const std::string more =
      R"({"ph":"C","name":"memory","ts":12,"pid":"GPU 0 Counters","args":{"used":1}},)"
      R"({"ph":"C","name":"load","ts":12,"pid":0,"args":{"used":1}},)"
      R"({"ph":"i","s":"p","name":"mark","ts":12,"pid":0,"tid":7})";
  const std::string merged = split({{"a.json", torch_rank(1, more)}});
  CHECK(place_of(merged, "load") == "102/");
  CHECK(place_of(merged, "mark") == "102/7");
  CHECK(place_of(merged, "memory") == "105/");
  const Texts all = rows_of_split(merged);
  CHECK(std::find(all.begin(), all.end(), "105 rank 1 · GPU 0 Counters #4") != all.end());
}

TEST_CASE("split: what has no events makes no process; its metadata goes to the main one") {
  const std::string more =
      R"({"ph":"M","name":"process_labels","pid":5,"args":{"labels":"GPU 5"}},)"
      R"({"ph":"M","name":"odd","pid":5,"tid":9,"args":{"x":1}})";
  const std::string merged = split({{"a.json", torch_rank(0, more)}});
  CHECK(rows_of_split(merged).size() == 11);
  std::string pid_of_odd;
  for (const oracle::Json& event : events_of(merged))
    if (text_of(event, "name") == "odd") pid_of_odd = text_of(event, "pid");
  CHECK(pid_of_odd == "1");
}

TEST_CASE("split: a rank without events is there, with its main process") {
  const std::string empty =
      TraceText().pid("0").m("process_labels", R"({"labels": "GPU 0"})").object();
  CHECK(rows_of_split(split({{"rank4.json", empty}, {"rank1.json", torch_rank(1)}})).back() ==
        "401 rank 4 #5");
}

TEST_CASE("split: events without a pid are a process of their own") {
  const std::string merged =
      split({{"a.json", torch_rank(0, R"({"ph":"X","name":"lost","ts":1,"dur":1})")}});
  CHECK(place_of(merged, "lost") == "5/10000000");
  const std::string again = split({{"once.json", merged}});
  CHECK(without_other_data(again) == without_other_data(merged));
}

TEST_CASE("split: merged again it stays as it is, and folds into ranks as its inputs do") {
  const std::string more =
      R"({"ph":"C","name":"memory","ts":12,"pid":"GPU 0 Counters","args":{"used":1}})";
  const NamedTexts files{{"a.json", torch_rank(3, more)}, {"b.json", torch_rank(0)}};
  const std::string merged = split(files);
  CHECK(without_other_data(split({{"merged.json", merged}})) == without_other_data(merged));
  const std::string folded = merge_texts({{"merged.json", merged}});
  CHECK(rows_of_split(folded) == rows_of_split(merge_texts(files)));
  CHECK(without_other_data(folded) == without_other_data(merge_texts(files)));
}

TEST_CASE("split: a merge by ranks has not forgotten which process a row is of") {
  const NamedTexts files{{"a.json", torch_rank(3)}, {"b.json", torch_rank(0)}};
  const std::string merged = split(files);
  const std::string refined = split({{"merged.json", merge_texts(files)}});
  Texts wanted = rows_of_split(merged);
  for (std::string& row : wanted)
    if (const std::size_t at = row.find("loader (pid 1234)"); at != std::string::npos)
      row.replace(at, 17, "loader 1234");
  CHECK(rows_of_split(refined) == wanted);
  CHECK(read_merged(refined) == read_merged(merged));
  CHECK(refined.find(R"("process_labels","cat":"__metadata","ph":"M","pid":1,"tid":1166,)"
                     R"("args":{"labels":"CPU"})") != std::string::npos);
  CHECK(without_other_data(merge_texts({{"refined.json", refined}})) ==
        without_other_data(merge_texts(files)));
}

TEST_CASE(
    "split: a GPU that torch lists threads of Python under is that GPU, however often merged") {
  TraceText text = TraceText().pid("9").tid("9");
  text.m("process_name", R"({"name": "python3"})").m("process_labels", R"({"labels": "CPU"})");
  text.cat("cpu_op").x("mm", 1, 5).x("add", 11, 5).x("relu", 21, 5);
  text.pid("0").tid("0").m("process_name", R"({"name": "python3"})");
  text.m("process_labels", R"({"labels": "GPU 0"})").m("thread_name", R"({"name": "thread 0"})");
  text.cat("python_function").x("run", 1, 5);
  text.tid("7").m("thread_name", R"({"name": "stream 7"})");
  text.cat("kernel").x("gemm", 3, 1, R"({"device": 0, "stream": 7})");
  const NamedTexts files{{"rank0.json", text.object()}};
  const std::string merged = split(files);
  CHECK(rows_of_split(merged) == Texts{"1 rank 0 · python3 (pid 9) #0", "  9 thread 9",
                                       "2 rank 0 · GPU 0 #1", "  10000000 thread 0",
                                       "  7 stream 7"});
  CHECK(merged.find(R"("process_labels","cat":"__metadata","ph":"M","pid":2,"tid":10000000,)"
                    R"("args":{"labels":"GPU 0"})") != std::string::npos);
  CHECK(without_other_data(split({{"merged.json", merged}})) == without_other_data(merged));
  const std::string folded = merge_texts({{"merged.json", merged}});
  CHECK(rows_of_split(folded)[2].ends_with("GPU 0 · thread 0"));
  CHECK(rows_of_split(folded)[3].ends_with("GPU 0 · stream 7"));
  const std::string direct = merge_texts(files);
  CHECK(rows_of_split(direct)[2].ends_with("GPU 0 · thread 0"));
  CHECK(rows_of_split(direct)[3].ends_with("GPU 0 · stream 7"));
}

TEST_CASE("split: a later cycle joins the processes of a merged file") {
  const std::string first = split({{"ep0-rank2.json", torch_rank(2)}});
  const std::string later = TraceText()
                                .pid("0")
                                .tid("7")
                                .cat("kernel")
                                .x("late", 500, 5)
                                .tid("9")
                                .x("later", 510, 5)
                                .object(R"("distributedInfo": {"rank": 2})");
  const std::string merged = split({{"merged.json", first}, {"ep1-rank2.json", later}});
  CHECK(place_of(merged, "late") == place_of(merged, "gemm"));
  CHECK(place_of(merged, "later") == "202/9");
  CHECK(ranks_of_pids(oracle::parse_json(merged)).size() == 5);
}

TEST_CASE("split: async ids that several processes share are of the whole trace, others are not") {
  const auto ids_of = [](const std::string& merged) {
    Texts ids;
    for (const oracle::Json& event : events_of(merged))
      if (const oracle::Json* id = event.find("id2"))
        ids.push_back(text_of(event, "name") + " " + canonical_text(*id));
    return ids;
  };
  const std::string shared =
      TraceText()
          .pid("10")
          .tid("10")
          .x("main", 1, 9)
          .with_id("b", "rpc", 1, "5")
          .pid("11")
          .tid("11")
          .with_id("e", "rpc", 3, "5")
          .raw(R"({"ph":"b","name":"own","ts":4,"pid":11,"tid":11,"id2":{"local":"0x1"}})")
          .object();
  const std::string alone = TraceText()
                                .pid("10")
                                .tid("10")
                                .with_id("b", "io", 1, "5")
                                .with_id("e", "io", 2, "5")
                                .pid("11")
                                .x("other", 1, 1)
                                .object();
  const NamedTexts files{{"rank0.json", shared}, {"rank1.json", alone}};
  const std::string merged = split(files);
  CHECK(ids_of(merged) == Texts{R"(rpc {"global":"0x5"})", R"(rpc {"global":"0x5"})",
                                R"(own {"local":"0x9"})", R"(own {"local":"0x9"})",
                                R"(io {"local":"0xf"})", R"(io {"local":"0xf"})"});
  CHECK(without_other_data(split({{"merged.json", merged}})) == without_other_data(merged));
  CHECK(ids_of(merge_texts({{"merged.json", merged}})) ==
        Texts{R"(rpc {"local":"0x5"})", R"(rpc {"local":"0x5"})", R"(own {"local":"0x9"})",
              R"(own {"local":"0x9"})", R"(io {"local":"0xf"})", R"(io {"local":"0xf"})"});
}

TEST_CASE("split: the guess and the survey give the same bytes") {
  const TemporaryFolder folder;
  MergeOptions options =
      merge_options(folder, {{"a.json", torch_rank(3)}, {"b.json", torch_rank(0)}}, "out.json");
  options.plan.pids = PidLayout::split;
  merge_traces(options);
  const std::string guessed = read_file(options.output);
  options.always_survey = true;
  merge_traces(options);
  CHECK(read_file(options.output) == guessed);
}
