#include "merge/frame/frame.h"

#include "oracle/json_value.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace traceloom;

namespace {

FileRank rank_of(std::int64_t number, RankSource source) {
  FileRank rank;
  rank.rank = number;
  rank.source = source;
  return rank;
}

MergePlan plan_of(std::vector<FileSurvey> files, const std::vector<FileRank>& ranks) {
  TrackPlan tracks(files, ranks);
  MergePlan plan{std::move(files), {}, std::move(tracks), 1'700'000'000'000'001'000, false};
  const std::vector<FileSurvey>& surveys = plan.surveys;
  for (std::size_t i = 0; i < surveys.size(); ++i) {
    FileClock clock;
    clock.method = ClockMethod::sync;
    clock.offset_ns = -2'676'000;
    clock.error_ns = 12'000;
    plan.files.push_back({{.flow_ids = IdMap(surveys[i].flow_ids, 0, 0),
                           .bind_ids = IdMap(surveys[i].bind_ids, 0, 0),
                           .async_ids = {IdMap(surveys[i].async_ids.ids, 0, 0)},
                           .object_ids = {IdMap(surveys[i].object_ids.ids, 0, 0)}},
                          "rank" + std::to_string(i) + ".json",
                          ranks[i],
                          clock,
                          {}});
  }
  return plan;
}

// Makes a list of surveys, which an initializer list cannot do: a FileSurvey can be moved only.
template <typename... Files>
std::vector<FileSurvey> surveys_of(Files&&... files) {
  std::vector<FileSurvey> surveys;
  (surveys.push_back(std::forward<Files>(files)), ...);
  return surveys;
}

TrackFacts track(std::string pid, std::string tid, std::string name) {
  TrackFacts facts;
  facts.pid = std::move(pid);
  facts.tid = std::move(tid);
  facts.events = 1;
  facts.name = std::move(name);
  return facts;
}

std::string head_of(const MergePlan& plan) {
  std::string head;
  write_head_of_trace(plan, [&](std::string_view piece) { head += piece; });
  return head;
}

}  // namespace

TEST_CASE("frame: the head names processes and threads once, without ts") {
  FileSurvey survey;
  survey.tracks = {track("50", "50", "say \"hi\""), track("0", "7", "stream 7")};
  survey.processes = {{"50", {"python3", "CPU"}}, {"0", {"python3", "GPU 0"}}};
  std::vector<FileSurvey> surveys = surveys_of(std::move(survey));
  CHECK(head_of(plan_of(std::move(surveys), {rank_of(3, RankSource::argument)})) ==
        R"json({"displayTimeUnit": "ms",
"baseTimeNanoseconds": 1700000000000001000,
"traceEvents": [
{"name":"process_name","cat":"__metadata","ph":"M","pid":3,"tid":50,"args":{"name":"rank 3 · python3 (pid 50)"}},
{"name":"process_labels","cat":"__metadata","ph":"M","pid":3,"tid":50,"args":{"labels":"CPU,GPU 0"}},
{"name":"process_sort_index","cat":"__metadata","ph":"M","pid":3,"tid":50,"args":{"sort_index":3}},
{"name":"global_rank","cat":"__metadata","ph":"M","pid":3,"tid":50,"args":{"value":3}},
{"name":"thread_name","cat":"__metadata","ph":"M","pid":3,"tid":50,"args":{"name":"say \"hi\""}},
{"name":"thread_sort_index","cat":"__metadata","ph":"M","pid":3,"tid":50,"args":{"sort_index":0}},
{"name":"thread_name","cat":"__metadata","ph":"M","pid":3,"tid":10000000,"args":{"name":"GPU 0 · stream 7","process":"GPU 0","source_pid":0,"is_gpu":true,"source_tid":7}},
{"name":"thread_sort_index","cat":"__metadata","ph":"M","pid":3,"tid":10000000,"args":{"sort_index":1}})json");
}

TEST_CASE("frame: a long head is written piece by piece") {
  FileSurvey survey;
  for (int tid = 1; tid <= 5000; ++tid)
    survey.tracks.push_back(track("0", std::to_string(tid), ""));
  std::vector<FileSurvey> surveys = surveys_of(std::move(survey));
  const MergePlan plan = plan_of(std::move(surveys), {rank_of(0, RankSource::argument)});
  std::size_t longest = 0;
  write_head_of_trace(plan,
                      [&](std::string_view piece) { longest = std::max(longest, piece.size()); });
  const std::string head = head_of(plan);
  CHECK(head.size() > 2 * longest);
  const oracle::Json trace = oracle::parse_json(head + "]}");
  CHECK(trace.find("traceEvents")->items.size() == 3 + 2 * 5000);
}

TEST_CASE("frame: heads are the same when their texts are") {
  FileSurvey survey;
  survey.tracks = {track("0", "1", "main"), track("0", "2", "other")};
  std::vector<FileSurvey> surveys = surveys_of(std::move(survey));
  FileSurvey shorter;
  shorter.tracks = {track("0", "1", "main")};
  std::vector<FileSurvey> fewer = surveys_of(std::move(shorter));
  const MergePlan plan = plan_of(std::move(surveys), {rank_of(0, RankSource::argument)});
  const MergePlan less = plan_of(std::move(fewer), {rank_of(0, RankSource::argument)});
  CHECK(have_same_head(plan, plan));
  CHECK_FALSE(have_same_head(plan, less));
  CHECK_FALSE(have_same_head(less, plan));
}

TEST_CASE("frame: the time unit is ns when some time has digits below the microsecond") {
  std::vector<FileSurvey> surveys(1);
  MergePlan plan = plan_of(std::move(surveys), {rank_of(0, RankSource::position)});
  plan.sub_microsecond = true;
  CHECK(head_of(plan).starts_with("{\"displayTimeUnit\": \"ns\",\n"));
}

TEST_CASE("frame: a rank without events has a name and a place") {
  std::vector<FileSurvey> surveys(1);
  const std::string head = head_of(plan_of(std::move(surveys), {rank_of(0, RankSource::position)}));
  CHECK(head.ends_with(
      R"("traceEvents": [
{"name":"process_name","cat":"__metadata","ph":"M","pid":0,"tid":1,"args":{"name":"rank 0"}},
{"name":"process_sort_index","cat":"__metadata","ph":"M","pid":0,"tid":1,"args":{"sort_index":0}},
{"name":"global_rank","cat":"__metadata","ph":"M","pid":0,"tid":1,"args":{"value":0}})"));
}

TEST_CASE("frame: the tail says what was done, and what the inputs said beside their events") {
  std::vector<FileSurvey> surveys(2);
  surveys[0].events = 5;
  surveys[0].top_level = {{"schemaVersion", "1"},
                          {"traceEvents", "x"},
                          {"displayTimeUnit", "\"ms\""},
                          {"otherData", R"({"version":"M1"})"}};
  surveys[1].top_level = {{"schemaVersion", "1"}, {"schemaVersion", "2"}};
  const MergePlan plan = plan_of(std::move(surveys), {rank_of(0, RankSource::argument),
                                                      rank_of(0, RankSource::metadata_event)});
  std::vector<ProblemCounts> problems(2);
  problems[1].add(Problem::cut_event, 812);
  const auto events_of = [](std::size_t file, std::int64_t rank) {
    return rank != 0 || file == 1 ? MergedRankEvents{} : MergedRankEvents{9, 5, 4};
  };
  std::string tail;
  write_tail(plan, events_of, problems, {{"x.json", "x.json: is empty"}},
             [&](std::string_view text) { tail += text; });
  CHECK(tail.starts_with("\n],\n\"otherData\": {\"traceloom\":{\"version\":\""));
  const oracle::Json document = oracle::parse_json("{\"traceEvents\": [" + tail);
  const oracle::Json* const ours = document.find("otherData")->find("traceloom");
  CHECK(
      canonical_text(*ours->find("ranks")) ==
      R"([{"files":[{"error_ns":12000,"events":5,"evidence":"RANK= argument","method":"sync","offset_ns":-2676000,"path":"rank0.json"},{"error_ns":12000,"events":null,"evidence":"global_rank event","method":"sync","offset_ns":-2676000,"path":"rank1.json"}],"rank":0}])");
  CHECK(canonical_text(*ours->find("problems")) ==
        R"([{"count":1,"file":"rank1.json","first_offset":812,"kind":"cut_event"}])");
  CHECK(canonical_text(*ours->find("left_out")) ==
        R"([{"error":"x.json: is empty","path":"x.json"}])");
  CHECK(ours->find("origin_ns")->text == "1700000000000001000");
  CHECK(canonical_text(*document.find("otherData")->find("ranks")) ==
        R"({"0":{"otherData":{"version":"M1"},"schemaVersion":[1,2]}})");
}
