#include "merge/rows/track_plan.h"

#include "support/print_texts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace traceloom;

namespace {

// Makes a list of surveys, which an initializer list cannot do: a FileSurvey can be moved only.
template <typename... Files>
std::vector<FileSurvey> surveys_to_plan(Files&&... files) {
  std::vector<FileSurvey> surveys;
  (surveys.push_back(std::forward<Files>(files)), ...);
  return surveys;
}

TrackFacts track(std::string pid, std::string tid, std::uint64_t events = 1) {
  TrackFacts facts;
  facts.pid = std::move(pid);
  facts.tid = std::move(tid);
  facts.events = events;
  return facts;
}

TrackFacts gpu_track(std::string pid, std::string tid) {
  TrackFacts facts = track(std::move(pid), std::move(tid));
  facts.is_gpu = true;
  return facts;
}

FileSurvey file_of(std::vector<TrackFacts> tracks) {
  FileSurvey survey;
  survey.tracks = std::move(tracks);
  return survey;
}

FileRank rank_of(std::int64_t number) {
  FileRank rank;
  rank.rank = number;
  return rank;
}

FileRank merged_ranks(std::map<std::string, std::int64_t, std::less<>> rank_of_pid) {
  FileRank rank;
  rank.source = RankSource::merged;
  rank.rank_of_pid = std::move(rank_of_pid);
  return rank;
}

// Returns "pid/tid" of each track of a file.
std::vector<std::string> targets(const TrackPlan& plan, const std::vector<FileSurvey>& surveys,
                                 std::size_t file = 0) {
  std::vector<std::string> found;
  std::string scratch;
  for (const TrackFacts& facts : surveys[file].tracks) {
    const TrackTarget& target = *plan.target(file, facts.pid, facts.tid, scratch);
    found.push_back(target.pid + "/" + target.tid);
  }
  return found;
}

std::vector<std::string> names(const OutputProcess& process) {
  std::vector<std::string> found;
  for (const OutputTrack& one : process.tracks)
    found.push_back(std::to_string(one.tid) + " " + one.name);
  return found;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("track_plan: all processes of a Kineto file become one, and no two threads meet") {
  FileSurvey survey = file_of(
      {track("1166", "1166", 100), track("1166", "7", 50), gpu_track("0", "7"), gpu_track("1", "7"),
       track("\"Spans\"", "\"PyTorch Profiler\""),
       track("\"Traces\"", "\"Trace PyTorch Profiler\""), track("\"\"", "\"\""), track("-1", "0")});
  survey.processes = {{"1166", {"python3", "CPU"}}, {"0", {"python3", "GPU 0"}}};
  const std::vector<FileSurvey> surveys = surveys_to_plan(std::move(survey));
  const TrackPlan plan(surveys, {rank_of(3)});
  CHECK(targets(plan, surveys) == Texts{"3/1166", "3/7", "3/10000001", "3/10000002", "3/10000004",
                                        "3/10000005", "3/10000003", "3/10000000"});
  REQUIRE(plan.processes().size() == 1);
  CHECK(plan.processes()[0].name == "rank 3 · python3 (pid 1166)");
  CHECK(plan.processes()[0].labels == "CPU,GPU 0");
  CHECK(names(plan.processes()[0]) ==
        Texts{"1166 thread 1166", "7 thread 7", "10000001 GPU 0 · stream 7",
              "10000002 pid 1 · stream 7", "10000000 pid -1 · thread 0", "10000003 no thread",
              "10000004 Spans · PyTorch Profiler", "10000005 Traces · Trace PyTorch Profiler"});
}

TEST_CASE("track_plan: tid 0 gets a number, and only the main thread may be called like the rank") {
  const std::vector<FileSurvey> surveys = surveys_to_plan(file_of(
      {track("50", "50", 10), track("50", "8", 90), gpu_track("2", "0"), track("50", "0")}));
  const TrackPlan plan(surveys, {rank_of(8)});
  CHECK(targets(plan, surveys) == Texts{"8/50", "8/10000001", "8/10000002", "8/10000000"});
}

TEST_CASE("track_plan: a main thread whose tid is the rank keeps it") {
  const std::vector<FileSurvey> surveys =
      surveys_to_plan(file_of({track("2", "2", 10), track("2", "9", 90)}));
  const TrackPlan plan(surveys, {rank_of(2)});
  CHECK(targets(plan, surveys) == Texts{"2/2", "2/9"});
}

TEST_CASE("track_plan: tids that viewers cannot tell apart get numbers of their own") {
  const std::vector<FileSurvey> surveys = surveys_to_plan(
      file_of({track("1", "139987654321984"), track("1", "139987654321000"),
               track("1", "-1107294656"), track("1", "4294967296"), track("1", "4294967295"),
               track("1", "\"worker\""), track("1", "")}));
  const TrackPlan plan(surveys, {rank_of(0)});
  CHECK(targets(plan, surveys) == Texts{"0/10000003", "0/10000002", "0/10000000", "0/10000001",
                                        "0/4294967295", "0/10000005", "0/10000004"});
}

TEST_CASE("track_plan: 7, 7.0 and \"7\" are one thread, in one process however its pid is spelt") {
  const std::vector<FileSurvey> surveys = surveys_to_plan(
      file_of({track("1166", "7", 9), track("\"1166\"", "\"7\""), track("1166.0", "7e0")}));
  const TrackPlan plan(surveys, {rank_of(0)});
  CHECK(targets(plan, surveys) == Texts{"0/7", "0/7", "0/7"});
  CHECK(plan.processes()[0].tracks.size() == 1);
}

TEST_CASE("track_plan: a number that is taken is passed over") {
  const std::vector<FileSurvey> surveys =
      surveys_to_plan(file_of({track("1", "10000000", 2), track("\"Spans\"", "1")}));
  const TrackPlan plan(surveys, {rank_of(10'000'001)});
  CHECK(targets(plan, surveys) == Texts{"10000001/10000000", "10000001/10000002"});
}

TEST_CASE("track_plan: the cycles of a rank share its threads, whatever the pid was") {
  const std::vector<FileSurvey> surveys =
      surveys_to_plan(file_of({track("1166", "1166", 9), gpu_track("0", "7")}),
                      file_of({gpu_track("0", "20"), gpu_track("0", "7"), track("3", "1166", 9)}));
  const TrackPlan plan(surveys, {rank_of(3), rank_of(3)});
  CHECK(targets(plan, surveys, 0) == Texts{"3/1166", "3/10000000"});
  CHECK(targets(plan, surveys, 1) == Texts{"3/10000001", "3/10000000", "3/1166"});
  CHECK(plan.processes().size() == 1);
}

TEST_CASE("track_plan: two processes of a rank do not change places from file to file") {
  const std::vector<FileSurvey> surveys = surveys_to_plan(
      file_of({track("100", "1", 2), track("200", "1", 1)}),
      file_of({track("100", "1", 2), track("200", "1", 3)}), file_of({track("200", "1")}));
  const TrackPlan plan(surveys, {rank_of(0), rank_of(0), rank_of(0)});
  CHECK(targets(plan, surveys, 0) == Texts{"0/10000000", "0/1"});  // 200 has more in all
  CHECK(targets(plan, surveys, 1) == Texts{"0/10000000", "0/1"});
  CHECK(targets(plan, surveys, 2) == Texts{"0/1"});
}

TEST_CASE(
    "track_plan: a process in a file of its own is beside the main one if threads would meet") {
  const std::vector<FileSurvey> surveys = surveys_to_plan(
      file_of({track("100", "1", 9)}), file_of({track("200", "1", 5), track("200", "2")}),
      file_of({track("300", "300", 5), track("300", "301")}));
  const TrackPlan plan(surveys, {rank_of(0), rank_of(0), rank_of(0)});
  CHECK(targets(plan, surveys, 0) == Texts{"0/1"});
  CHECK(targets(plan, surveys, 1) == Texts{"0/10000000", "0/10000001"});
  CHECK(targets(plan, surveys, 2) == Texts{"0/300", "0/301"});  // the job was started once more
  CHECK(plan.processes()[0].tracks.size() == 5);
}

TEST_CASE("track_plan: a process of a rank has one place in all files, whichever has what of it") {
  // Process 20 has a thread that would meet one of 10, if not in each file.
  std::vector<FileSurvey> surveys = surveys_to_plan(
      file_of({track("10", "10", 100), track("10", "21")}), file_of({track("20", "20", 5)}),
      file_of({track("20", "20", 5), track("20", "21")}));
  TrackPlan plan(surveys, {rank_of(0), rank_of(0), rank_of(0)});
  CHECK(targets(plan, surveys, 1) == Texts{"0/10000000"});
  CHECK(targets(plan, surveys, 2) == Texts{"0/10000000", "0/10000001"});
  // The process stands next to the main one in another file.
  surveys = surveys_to_plan(file_of({track("10", "10", 100), track("20", "20", 5)}),
                            file_of({track("20", "20", 5)}));
  plan = TrackPlan(surveys, {rank_of(0), rank_of(0)});
  CHECK(targets(plan, surveys, 0) == Texts{"0/10", "0/10000000"});
  CHECK(targets(plan, surveys, 1) == Texts{"0/10000000"});
  // The job was started again; its worker is busier later.
  surveys = surveys_to_plan(file_of({track("10", "10", 100)}), file_of({track("20", "20", 5)}),
                            file_of({track("20", "20", 2), track("30", "30", 10)}));
  plan = TrackPlan(surveys, {rank_of(0), rank_of(0), rank_of(0)});
  CHECK(targets(plan, surveys, 1) == Texts{"0/20"});
  CHECK(targets(plan, surveys, 2) == Texts{"0/20", "0/10000000"});
}

TEST_CASE("track_plan: a process is the main one where another file is sure of it") {
  FileSurvey labelled = file_of({track("200", "1", 1), track("100", "1", 9)});
  labelled.processes["200"].labels = "CPU";
  const std::vector<FileSurvey> surveys =
      surveys_to_plan(file_of({track("100", "1", 9), track("200", "1", 1)}), std::move(labelled));
  const TrackPlan plan(surveys, {rank_of(0), rank_of(0)});
  CHECK(targets(plan, surveys, 0) == Texts{"0/10000000", "0/1"});
  CHECK(targets(plan, surveys, 1) == Texts{"0/1", "0/10000000"});
}

TEST_CASE("track_plan: a process beside the main one is called alike, whichever file names it") {
  FileSurvey naming = file_of({track("100", "1", 9), track("200", "5")});
  naming.processes["200"].name = "worker";
  const std::vector<FileSurvey> surveys = surveys_to_plan(
      file_of({track("100", "1", 9), track("200", "5"), track("200", "6")}), std::move(naming));
  const std::vector<FileRank> ranks{rank_of(0), rank_of(0)};
  const TrackPlan plan(surveys, ranks);
  CHECK(plan.processes()[0].tracks[1].name == "worker 200 · thread 5");
  CHECK(plan.processes()[0].tracks[2].name == "worker 200 · thread 6");
  CHECK(plan.process(0, "200")->title == "worker 200");
  CHECK(plan.process(1, "200")->title == "worker 200");
  CHECK(TrackPlan(surveys, ranks, PidLayout::split).processes()[1].name ==
        "rank 0 · worker (pid 200)");
}

TEST_CASE("track_plan: equal threads of two ranks stay in their ranks") {
  const std::vector<FileSurvey> surveys =
      surveys_to_plan(file_of({track("1", "7")}), file_of({track("1", "7")}));
  const TrackPlan plan(surveys, {rank_of(5), rank_of(2)});
  CHECK(targets(plan, surveys, 0) == Texts{"5/7"});
  CHECK(targets(plan, surveys, 1) == Texts{"2/7"});
  REQUIRE(plan.processes().size() == 2);
  CHECK(plan.processes()[0].rank == 2);
  CHECK(plan.processes()[1].rank == 5);
}

TEST_CASE("track_plan: what has no events makes no row; its metadata goes to the main thread") {
  const std::vector<FileSurvey> surveys =
      surveys_to_plan(file_of({track("1", "7", 9), track("0", "0", 0), track("15", "20", 0)}));
  const TrackPlan plan(surveys, {rank_of(1)});
  CHECK(targets(plan, surveys) == Texts{"1/7", "1/7", "1/7"});
  CHECK(plan.processes()[0].tracks.size() == 1);
}

TEST_CASE("track_plan: a rank without events is there and has no rows") {
  const std::vector<FileSurvey> surveys = surveys_to_plan(file_of({}));
  const TrackPlan plan(surveys, {rank_of(4)});
  REQUIRE(plan.processes().size() == 1);
  CHECK(plan.processes()[0].name == "rank 4");
  CHECK(plan.processes()[0].tracks.empty());
}

TEST_CASE("track_plan: the thread of the backward pass comes behind the main one") {
  FileSurvey survey =
      file_of({track("50", "51"), track("50", "60"), track("50", "50", 9), track("50", "70")});
  survey.tracks[1].name = "thread 60 (pt_autograd_0)";
  survey.tracks[3].name = "worker";
  const std::vector<FileSurvey> surveys = surveys_to_plan(std::move(survey));
  CHECK(names(TrackPlan(surveys, {rank_of(0)}).processes()[0]) ==
        Texts{"50 thread 50", "60 thread 60 (pt_autograd_0)", "51 thread 51", "70 worker"});
}

TEST_CASE("track_plan: a merged file keeps its tids and their order") {
  FileSurvey survey = file_of(
      {track("0", "10000000", 9), track("0", "7"), track("1", "1", 5), track("1", "10000000")});
  survey.tracks[0].name = "GPU 0 · stream 7";
  survey.tracks[0].sort_index = 1;
  survey.tracks[1].name = "loop";
  survey.tracks[1].sort_index = 0;
  survey.tracks[2].sort_index = 0;
  survey.tracks[3].sort_index = 1;
  survey.processes = {{"0", {"rank 0 · python3 (pid 50)", "CPU, GPU 0"}}, {"1", {"rank 1", ""}}};
  const std::vector<FileSurvey> surveys = surveys_to_plan(std::move(survey));
  const TrackPlan plan(surveys, {merged_ranks({{"0", 0}, {"1", 1}})});
  CHECK(targets(plan, surveys) == Texts{"0/10000000", "0/7", "1/1", "1/10000000"});
  REQUIRE(plan.processes().size() == 2);
  CHECK(plan.processes()[0].name == "rank 0 · python3 (pid 50)");
  CHECK(plan.processes()[0].labels == "CPU,GPU 0");
  CHECK(names(plan.processes()[0]) == Texts{"7 loop", "10000000 GPU 0 · stream 7"});
}

TEST_CASE("track_plan: the process that Composer marked with the rank is the main one") {
  FileSurvey survey = file_of({track("2", "100", 1), track("77", "100", 500)});
  survey.evidence.rank_marks.add({2, "2", 0});
  const std::vector<FileSurvey> surveys = surveys_to_plan(std::move(survey));
  const TrackPlan plan(surveys, {rank_of(2)});
  CHECK(targets(plan, surveys) == Texts{"2/100", "2/10000000"});
}

TEST_CASE("track_plan: a GPU row in the main process is not its main thread") {
  TrackFacts gpu = gpu_track("0", "7");
  gpu.events = 100;
  const std::vector<FileSurvey> surveys = surveys_to_plan(file_of({gpu, track("0", "60", 1)}));
  const TrackPlan plan(surveys, {rank_of(0)});
  CHECK(names(plan.processes()[0]) == Texts{"60 thread 60", "7 stream 7"});
}

TEST_CASE("track_plan: a rank that a process names itself after is not named twice") {
  FileSurvey survey = file_of({track("2", "100")});
  survey.processes = {{"2", {"Rank 2 training loop process", ""}}};
  const std::vector<FileSurvey> surveys = surveys_to_plan(std::move(survey));
  CHECK(TrackPlan(surveys, {rank_of(2)}).processes()[0].name == "Rank 2 training loop process");
  CHECK(TrackPlan(surveys, {rank_of(21)}).processes()[0].name ==
        "rank 21 · Rank 2 training loop process (pid 2)");
}
