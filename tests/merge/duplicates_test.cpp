// These tests give a merge two files of one rank, and say when it refuses to take both.
#include "base/problems.h"
#include "merge/merger.h"
#include "support/merge_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

// Returns what a merge says when it refuses these files, without their folder; "" if it does not.
std::string refusal_of(const NamedTexts& files) {
  const TemporaryFolder folder;
  const MergeOptions options = merge_options(folder, files, "out.json");
  try {
    merge_traces(options);
  } catch (const Error& error) {
    CHECK(folder.entry_count() == files.size());
    std::string what = error.what();
    for (std::size_t at = 0; (at = what.find(folder.path() + "/")) != std::string::npos;)
      what.erase(at, folder.path().size() + 1);
    return what;
  }
  return std::string();
}

}  // namespace

TEST_CASE("merger: what lasts from one cycle of a rank into the next one is no reason to refuse") {
  const std::string cycle =
      TraceText().composer_rank(0, "1000").x("a", 1000, 5).x("b", 1010, 5).array();
  // The slice began before the cut at 1016, and ended after it.
  const std::string next =
      TraceText().composer_rank(0, "1000").x("long", 1001, 16).x("b", 1020, 5).array();
  CHECK(refusal_of({{"a.json", cycle}, {"b.json", next}}) == "");
  // If it had ended before the cut, the two would overlap.
  const std::string twin =
      TraceText().composer_rank(0, "1000").x("long", 1001, 13).x("b", 1020, 5).array();
  CHECK(refusal_of({{"a.json", cycle}, {"b.json", twin}}) != "");
  // The same holds for a begin and an end; the first file may have the begin.
  const std::string begun =
      TraceText().composer_rank(0, "1000").x("a", 1000, 5).b("long", 1012).i("now", 1013).array();
  const std::string ended =
      TraceText().composer_rank(0, "1000").x("b", 1011, 3).e("long", 1017).x("c", 1020, 1).array();
  CHECK(refusal_of({{"a.json", begun}, {"b.json", ended}}) == "");
}

TEST_CASE("merger: what our recorder learned of too late for a file is in the next one") {
  const auto cycle = [](const std::string& opened) {
    return TraceText().composer_rank(0, "1000").raw(
        R"({"name":"clock_pairs","ph":"M","ts":)" + opened +
        R"(,"pid":0,"tid":1,"args":{"when":"start","mono":1,"bracket_ns":0}})");
  };
  const std::string first = cycle("990").x("a", 1000, 5).x("b", 1010, 5).array();
  // The late event is from a thread that was not scheduled in time.
  CHECK(refusal_of({{"a.json", first},
                    {"b.json", cycle("1016").x("late", 1006, 2).x("c", 1020, 5).array()}}) == "");
  CHECK(refusal_of({{"a.json", first},
                    {"b.json", cycle("1009").x("late", 1006, 2).x("c", 1020, 5).array()}}) != "");
  CHECK(refusal_of({{"a.json", first}, {"b.json", first}}) != "");
  // A last file may have nothing but such events.
  CHECK(refusal_of({{"a.json", first},
                    {"b.json", cycle("1016").x("late", 1006, 2).x("d", 1012, 1).array()}}) == "");
}

TEST_CASE("merger: two files with the same threads of a rank at the same time are refused") {
  const std::string trace =
      TraceText().composer_rank(0, "1000").x("a", 1000, 5).x("b", 1010, 5).array();
  CHECK(refusal_of({{"a.json", trace}, {"b.json", trace}}) ==
        "b.json: it is a copy of a.json, and its events would count twice; leave one or the other "
        "out");
  const std::string overlaps =
      TraceText().composer_rank(0, "1000").x("a", 1005, 5).x("b", 1020, 5).array();
  CHECK(refusal_of({{"a.json", trace}, {"b.json", overlaps}}) ==
        "b.json: rank 0 has the same threads at the same time in a.json; leave one of the two out, "
        "or say whose it is with RANK=b.json");
  // The next cycle, another recorder, another thread and another rank are no duplicates.
  const std::string next =
      TraceText().composer_rank(0, "1000").x("a", 1010, 5).x("b", 1020, 5).array();
  CHECK(refusal_of({{"a.json", trace}, {"b.json", next}}) == "");
  const std::string torch =
      TraceText()
          .x("a", 1000, 5)
          .x("b", 1010, 5)
          .object(R"("distributedInfo": {"rank": 0}, "baseTimeNanoseconds": 0)");
  CHECK(refusal_of({{"a.json", trace}, {"b.json", torch}}) == "");
  const std::string worker = R"([{"ph":"X","name":"w","ts":1000,"dur":1,"pid":77,"tid":7},)"
                             R"({"ph":"X","name":"w","ts":1010,"dur":1,"pid":77,"tid":7}])";
  const std::string main = R"([{"ph":"X","name":"w","ts":1000,"dur":1,"pid":78,"tid":7},)"
                           R"({"ph":"X","name":"w","ts":1010,"dur":1,"pid":78,"tid":7}])";
  CHECK(refusal_of({{"main-rank0.json", main}, {"worker-rank0.json", worker}}) == "");
  CHECK(refusal_of({{"main-rank0.json", main}, {"main-rank1.json", main}}) == "");
  CHECK(refusal_of({{"main-rank0.json", main}, {"copy-rank0.json", main}}) != "");
}

TEST_CASE("merger: two files that say one rank at the same time are refused, of any threads") {
  const auto composer = [](std::string_view thread) {
    return TraceText().composer_rank(0, "1000").tid(thread).x("a", 1000, 5).x("b", 1010, 5);
  };
  CHECK(
      refusal_of({{"job1.json", composer("71").array()}, {"job2.json", composer("72").array()}}) ==
      "job2.json: rank 0 has other threads at the same time in job1.json; leave one of the two "
      "out, or say whose it is with RANK=job2.json");
  // A worker of the rank has its own pid.
  const std::string worker = TraceText()
                                 .composer_rank(0, "1000")
                                 .pid("72")
                                 .tid("72")
                                 .x("a", 1000, 5)
                                 .x("b", 1010, 5)
                                 .array();
  CHECK(refusal_of({{"main.json", composer("71").array()}, {"worker.json", worker}}) == "");
  const auto torch = [](std::string_view process, int ts) {
    return TraceText()
        .pid(process)
        .tid(process)
        .x("a", ts, 5)
        .x("b", ts + 10, 5)
        .object(R"("distributedInfo": {"rank": 0}, "baseTimeNanoseconds": 1000)");
  };
  CHECK(refusal_of({{"a.json", torch("71", 0)}, {"b.json", torch("72", 3)}}) != "");
  CHECK(refusal_of({{"a.json", torch("71", 0)}, {"b.json", torch("72", 20)}}) == "");
  // RANK= for both files is accepted.
  const TemporaryFolder folder;
  MergeOptions options =
      merge_options(folder, {{"a.json", torch("71", 0)}, {"b.json", torch("72", 3)}}, "out.json");
  for (Input& input : options.inputs) input.forced_rank = 0;
  CHECK(merge_traces(options).events == 4);
}

TEST_CASE("merger: files that all say one rank at the same time are refused by name") {
  // Our recorder writes this in processes that do not know their rank.
  const auto process = [](int number, const std::string& beside = "") {
    const std::string tid = std::to_string(70 + number);
    return TraceText()
        .composer_rank(0, "1000")
        .raw(R"({"name":"clock_pairs","ph":"M","ts":990,"pid":0,"tid":)" + tid +
             R"(,"args":{"when":"start","mono":1,"bracket_ns":0}})" + beside)
        .tid(tid)
        .x("a", 1000 + number, 5)
        .x("b", 1010 + number, 5)
        .array();
  };
  NamedTexts four;
  for (int number = 1; number <= 4; ++number)
    four.push_back({"rank0-" + std::to_string(number) + ".json", process(number)});
  CHECK(refusal_of(four) ==
        "rank0-1.json: 4 files say that they are of rank 0, and all are of the same time: "
        "rank0-1.json, rank0-2.json, rank0-3.json and rank0-4.json; say whose each "
        "is with RANK=path, and set the rank of each process where they are recorded (RANK in its "
        "environment, or the recorder's option)");
  CHECK(refusal_of({four[0], four[3]}) ==
        "rank0-4.json: rank 0 has other threads at the same time in rank0-1.json; leave "
        "one of the two out, or say whose it is with RANK=rank0-4.json");
  for (int number = 5; number <= 20; ++number)
    four.push_back({"rank0-" + std::to_string(number) + ".json", process(number)});
  const std::string many = refusal_of(four);
  CHECK(many.find(": 20 files say") != std::string::npos);
  CHECK(many.find("rank0-8.json and 12 more; say") != std::string::npos);
  // A watcher or worker of the rank says so in its file.
  const std::string worker =
      process(2, R"(,{"name":"beside_rank","ph":"M","pid":0,"tid":72,"args":{"value":true}})");
  CHECK(refusal_of({four[0], {"worker.json", worker}}) == "");
  // RANK= for each file is accepted.
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, {four.begin(), four.begin() + 4}, "out.json");
  for (std::size_t i = 0; i < 4; ++i) options.inputs[i].forced_rank = static_cast<std::int64_t>(i);
  CHECK(merge_traces(options).ranks == 4);
}

TEST_CASE(
    "merger: a merge of cycles between which a clock was set back is refused beside an input") {
  const auto trace = [](int rank, std::int64_t sync_us) {
    return TraceText()
        .composer_rank(rank, std::to_string(sync_us))
        .x("a", sync_us + 10, 5)
        .x("b", sync_us + 20, 5)
        .array();
  };
  const NamedTexts rank1{{"run/ep0-ba4-rank1.json", trace(1, 1'795'000'000'000'000)},
                         {"run/ep0-ba5-rank1.json", trace(1, 1'794'990'000'000'000)}};
  CHECK(refusal_of({{"ep0-ba4-rank0.json", trace(0, 1'795'000'000'000'000)},
                    {"ep0-ba5-rank0.json", trace(0, 1'795'000'050'000'000)},
                    {"node.json", merge_texts(rank1)},
                    rank1[1]}) ==
        "run/ep0-ba5-rank1.json: all of it is in node.json, and its events would count twice; "
        "leave one or the other out");
}

TEST_CASE("merger: a merged file beside one of its inputs is refused") {
  const auto trace = [](int rank, int ts) {
    return TraceText().composer_rank(rank, "1000").x("a", ts, 5).x("b", ts + 10, 5).array();
  };
  const NamedTexts inputs{{"run/rank0.json", trace(0, 1000)}, {"run/rank1.json", trace(1, 1000)}};
  const std::string merged = merge_texts(inputs);
  constexpr std::string_view kRefused =
      "run/rank1.json: all of it is in merged.json, and its events would count twice; leave one or "
      "the other out";
  CHECK(refusal_of({{"merged.json", merged}, {"run/rank1.json", inputs[1].second}}) == kRefused);
  // The present names of the file and its folder do not matter.
  CHECK(refusal_of({{"merged.json", merged}, {"torch/rank7.json", inputs[1].second}}) ==
        "torch/rank7.json: all of it is in merged.json, and its events would count twice; leave "
        "one or the other out");
  CHECK(refusal_of({{"merged.json", merged}, inputs[1], {"x/rank0.json", inputs[0].second}}) ==
        "merged.json: it is a merge of run/rank1.json and 1 more of the inputs, and its events "
        "would count twice; leave one or the other out");
  // The same is refused for two merges, but not for another cycle or another rank.
  CHECK(refusal_of({{"merged.json", merged}, {"node.json", merge_texts(inputs)}}) != "");
  CHECK(refusal_of({{"merged.json", merged}, {"run/rank1.json", trace(1, 2000)}}) == "");
  CHECK(refusal_of({{"merged.json", merged}, {"rank2.json", trace(2, 1000)}}) == "");
  // Composer's own merge does not name its inputs.
  const std::string by_composer = TraceText()
                                      .pid("0")
                                      .composer_rank(0, "1000")
                                      .x("a", 1000, 5)
                                      .x("b", 1010, 5)
                                      .pid("1")
                                      .composer_rank(1, "1000")
                                      .x("a", 1000, 5)
                                      .array();
  CHECK(refusal_of({{"merged.json", by_composer}, {"run/rank1.json", trace(1, 1000)}}) == kRefused);
  CHECK(refusal_of({{"merged.json", by_composer}, {"run/rank1.json", trace(1, 2000)}}) == "");
}

TEST_CASE("merger: hundreds of ranks of one file are compared, and told, as one is") {
  constexpr int kRanks = 500;
  const auto composer_merge = [](int first_rank) {
    TraceText text;
    for (int rank = first_rank; rank < first_rank + kRanks; ++rank)
      text.pid(std::to_string(rank)).composer_rank(rank, "1000").x("a", 1000 + rank % 10, 5);
    return text.array();
  };
  const std::string low = composer_merge(0);
  CHECK(refusal_of({{"a.json", low}, {"b.json", composer_merge(kRanks)}}) == "");
  CHECK(refusal_of({{"a.json", low}, {"b.json", composer_merge(kRanks - 1)}}) ==
        "b.json: a.json holds events of it as well, and neither holds all of the other; leave one "
        "of the two out");
  // A merge of ours is known by what it notes of its inputs.
  const std::string ours = merge_texts({{"run/a.json", low}});
  CHECK(refusal_of({{"ours.json", ours}, {"run/a.json", low}}) ==
        "run/a.json: all of it is in ours.json, and its events would count twice; leave one or the "
        "other out");
}
