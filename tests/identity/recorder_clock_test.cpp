#include "identity/evidence/recorder_evidence.h"
#include "identity/survey_text.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

std::string recorder_metadata(const std::string& name, const std::string& args,
                              const std::string& ts = "1700000000000000.250") {
  return R"({"name":")" + name + R"(","cat":"","ph":"M","ts":)" + ts +
         R"(,"pid":3,"tid":41,"args":)" + args + "}";
}

std::string rounds(const std::string& group, const std::string& enter, const std::string& exit) {
  return recorder_metadata("clock_sync_rounds", R"({"group":")" + group + R"(","enter":[)" + enter +
                                                    R"(],"exit":[)" + exit + "]}");
}

std::string host(const std::string& boot, const std::string& time_ns = "4026531834") {
  return recorder_metadata("host", R"({"name":"node7","boot_id":")" + boot + R"(","time_ns":)" +
                                       time_ns + R"(,"pid":4})");
}

std::string pair(const std::string& ts, const std::string& mono, const std::string& bracket) {
  return recorder_metadata(
      "clock_pairs",
      R"({"when":"start","mono":)" + mono + R"(,"real":1,"tsc":0,"bracket_ns":)" + bracket + "}",
      ts);
}

}  // namespace

TEST_CASE("recorder_clock: rounds of both ends, in nanoseconds") {
  const FileEvidence evidence =
      evidence_of(rounds("start", "1700000000000000.001,1700000000000002", "17e14,1.7e15") + "," +
                  rounds("end", "5", "7.5"));
  CHECK(evidence.problems.count(Problem::bad_rounds) == 1);  // left before they were entered
  CHECK(evidence.recorder.rounds().start.empty());
  CHECK(evidence.recorder.rounds().end == SyncRounds{{5'000}, {7'500}});
  const FileEvidence good = evidence_of(rounds("start", "1700000000000000.001,1700000000000002",
                                               "1700000000000001,1700000000000003.5"));
  CHECK(good.recorder.rounds().start ==
        SyncRounds{{1'700'000'000'000'000'001, 1'700'000'000'000'002'000},
                   {1'700'000'000'000'001'000, 1'700'000'000'000'003'500}});
  CHECK(good.problems.empty());
}

TEST_CASE("recorder_clock: rounds that are none are counted where they stand") {
  const std::string first = host("b");
  for (const std::string& bad :
       {rounds("start", "1,2", "3"), rounds("start", "1,null", "3,4"), rounds("middle", "1", "3"),
        rounds("start", "1", "9e18"), rounds("start", "2", "1"),
        recorder_metadata("clock_sync_rounds", R"({"group":"start","enter":1,"exit":[]})"),
        recorder_metadata("clock_sync_rounds", R"({"group":"start"})"),
        recorder_metadata("clock_sync_rounds",
                          "{\"group\":\"start\",\"enter\":[\x01],\"exit\":[1]}")}) {
    CAPTURE(bad);
    const FileEvidence evidence = evidence_of(first + "," + bad, 9);
    CHECK(evidence.problems.count(Problem::bad_rounds) == 1);
    CHECK(evidence.problems.first_offset(Problem::bad_rounds) == 10 + first.size());
    CHECK(evidence.recorder.rounds().start.empty());
  }
}

TEST_CASE(
    "recorder_clock: the file's clock is ahead of its machine's by all that pairs allow for") {
  const FileEvidence evidence = evidence_of(host("b-1") + "," + pair("100.5", "500", "41"));
  REQUIRE(evidence.recorder.machine());
  CHECK(evidence.recorder.machine()->id == "b-1/4026531834");
  CHECK(evidence.recorder.machine()->ahead == ClockRange{99'979, 100'021});
  CHECK(evidence.recorder.opened_ns() == 100'500);
  FileEvidence more = evidence;
  more.append(
      evidence_of(pair("200.5", "100490", "0") + "," +
                  recorder_metadata("recorder", R"({"events":3,"dropped":0,"clock_error_ns":7})")));
  CHECK(more.recorder.machine()->ahead == ClockRange{99'972, 100'028});
  more.append(evidence_of(pair("200.5", "99490", "0")));
  CHECK(more.recorder.machine()->ahead == ClockRange{99'972, 101'017});
  CHECK(more.recorder.opened_ns() == 100'500);
}

TEST_CASE("recorder_clock: a boot in another time namespace is another machine") {
  const std::string at = "," + pair("1", "1", "0");
  CHECK(evidence_of(host("b", "1") + at).recorder.machine()->id == "b/1");
  CHECK(evidence_of(host("b", "null") + at).recorder.machine()->id == "b/null");
}

TEST_CASE("recorder_clock: without the boot's id or a pair no machine is known") {
  CHECK_FALSE(evidence_of(host("b")).recorder.machine());
  CHECK_FALSE(evidence_of(pair("1", "1", "0")).recorder.machine());
  CHECK_FALSE(evidence_of(host("") + "," + pair("1", "1", "0")).recorder.machine());
  for (const std::string& bad : {pair("1", "null", "0"), pair("1", "1", "-1"), pair("1", "1", "{}"),
                                 pair("\"x\"", "1", "0"), pair("1", "9000000000000000000", "0")}) {
    CAPTURE(bad);
    CHECK_FALSE(evidence_of(host("b") + "," + bad).recorder.machine());
  }
}

TEST_CASE("recorder_clock: what comes first counts, in whichever part of the file it is") {
  FileEvidence evidence = evidence_of(rounds("start", "1", "2"));
  evidence.append(evidence_of(rounds("start", "5", "6") + "," + rounds("end", "8", "9") + "," +
                              host("b") + "," + pair("1", "1", "0")));
  evidence.append(evidence_of(host("other")));
  CHECK(evidence.recorder.rounds().start == SyncRounds{{1'000}, {2'000}});
  CHECK(evidence.recorder.rounds().end == SyncRounds{{8'000}, {9'000}});
  CHECK(evidence.recorder.machine()->id == "b/4026531834");
}
