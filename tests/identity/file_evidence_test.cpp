#include "identity/evidence/file_reading.h"
#include "identity/survey_text.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

std::string metadata(const std::string& name, const std::string& args,
                     const std::string& pid = "3") {
  return R"({"name":")" + name + R"(","cat":"","ph":"M","ts":1,"pid":)" + pid +
         R"(,"tid":41,"args":)" + args + "}";
}

std::string rank_event(const std::string& value, const std::string& pid = "3") {
  return metadata("global_rank", R"({"value": )" + value + "}", pid);
}

std::string sync_event(const std::string& value, const std::string& pid = "3") {
  return metadata("clock_sync_timestamp_us", R"({"value": )" + value + "}", pid);
}

}  // namespace

TEST_CASE("file_evidence: takes rank, sync and error bound from metadata events") {
  const std::string rank = rank_event("3");
  const std::string sync = sync_event("1795202969005000");
  const FileEvidence evidence = evidence_of(
      rank + "," + sync + "," + metadata("clock_sync_error_bound", R"({"value":20})"), 50);
  REQUIRE(evidence.rank_marks.size() == 1);
  CHECK(evidence.rank_marks.front().value == 3);
  CHECK(evidence.rank_marks.front().pid == "3");
  CHECK(evidence.rank_marks.front().offset == 50);
  REQUIRE(evidence.syncs.size() == 1);
  CHECK(evidence.syncs.front().value == 1'795'202'969'005'000);
  CHECK(evidence.syncs.front().offset == 50 + rank.size() + 1);
  REQUIRE(evidence.error_bounds.size() == 1);
  CHECK(evidence.error_bounds.front().value == 20);
  CHECK(evidence.problems.empty());
  CHECK_FALSE(evidence.has_several_ranks());
}

TEST_CASE("file_evidence: other events tell nothing") {
  const FileEvidence evidence = evidence_of(
      R"({"name":"global_rank","ph":"X","ts":1,"args":{"value":3}},)"
      R"({"name":"clock_sync_timestamp_us","ph":"i","ts":1,"args":{"value":"no number"}},)"
      R"({"name":"process_name","ph":"M","args":{"name":"global_rank","value":4}},)"
      R"({"ph":"M","args":{"value":4}},)"
      R"({"name":7,"ph":"M","args":{"value":4}})");
  CHECK(evidence.rank_marks.empty());
  CHECK(evidence.syncs.empty());
  CHECK(evidence.error_bounds.empty());
  CHECK(evidence.problems.empty());
}

TEST_CASE("file_evidence: whole numbers may be written in several ways") {
  for (const char* value : {"12", "\"12\"", "12.0", "12e0", " \n12\n ", "\"12.0\""}) {
    CAPTURE(value);
    const FileEvidence evidence = evidence_of(sync_event(value));
    REQUIRE(evidence.syncs.size() == 1);
    CHECK(evidence.syncs.front().value == 12);
    CHECK(evidence.problems.empty());
  }
  CHECK(evidence_of(sync_event("-9223372036854775808")).syncs.front().value == INT64_MIN);
}

TEST_CASE("file_evidence: finds the value among others") {
  const std::string args = R"({"a":{"value":1},"b":["}",2],"c":"\"value\":3","nan":NaN,"value":4})";
  CHECK(evidence_of(metadata("global_rank", args)).rank_marks.front().value == 4);
}

TEST_CASE("file_evidence: a sync that is no whole number is counted and taken for missing") {
  for (const char* value :
       {"null", "\"soon\"", "\"\"", "1.5", "true", "[7]", "{}", "9223372036854775808"}) {
    CAPTURE(value);
    const FileEvidence evidence = evidence_of(rank_event("0") + "," + sync_event(value), 9);
    CHECK(evidence.syncs.empty());
    CHECK(evidence.problems.count(Problem::bad_sync) == 1);
    CHECK(evidence.problems.first_offset(Problem::bad_sync) == 9 + rank_event("0").size() + 1);
  }
  for (const char* args : {"{}", "null", "[]", "3", "\"value\""}) {
    CAPTURE(args);
    CHECK(
        evidence_of(metadata("clock_sync_timestamp_us", args)).problems.count(Problem::bad_sync) ==
        1);
    CHECK(evidence_of(metadata("clock_sync_error_bound", args)).problems.count(Problem::bad_sync) ==
          1);
  }
  CHECK(evidence_of(R"({"name":"clock_sync_timestamp_us","ph":"M"})")
            .problems.count(Problem::bad_sync) == 1);
}

TEST_CASE("file_evidence: a rank that is no whole number tells nothing") {
  for (const char* value : {"null", "\"three\"", "1.5", "[3]"}) {
    CAPTURE(value);
    const FileEvidence evidence = evidence_of(rank_event(value));
    CHECK(evidence.rank_marks.empty());
    CHECK(evidence.problems.empty());
  }
}

TEST_CASE("file_evidence: takes what stands around the events") {
  const FileEvidence evidence = evidence_around(
      R"({"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":5,"world_size":8},)"
      R"("traceEvents":[],"global_rank":6,"clock_sync_timestamp_us":"7",)"
      R"("baseTimeNanoseconds":1767189312000000000})");
  CHECK(evidence.distributed_rank == 5);
  CHECK(evidence.world_size == 8);
  CHECK(evidence.top_level_rank == 6);
  CHECK(evidence.top_level_sync_us == 7);
  CHECK(evidence.base_ns == 1'767'189'312'000'000'000);
  CHECK(evidence.merged_by.empty());
  CHECK(evidence.problems.empty());
}

TEST_CASE("file_evidence: bytes that are no UTF-8 do not hide what stands beside them") {
  FileEvidence evidence = evidence_of(
      "{\"name\":\"global_rank\",\"ph\":\"M\",\"pid\":3,\"tid\":1,"
      "\"args\":{\"host\":\"M\xfcnchen\",\"value\":3}}");
  add_top_level(evidence,
                "{\"traceEvents\":[],\"otherData\":{\"host\":\"M\xfcnchen\","
                "\"traceloom\":{\"version\":\"7\"}}}");
  REQUIRE(evidence.rank_marks.size() == 1);
  CHECK(evidence.merged_by == "7");
}

TEST_CASE("file_evidence: a base time that is no number is missing, and told") {
  for (const char* base :
       {R"("baseTimeNanoseconds":"?")", R"("baseTimeNanoseconds":1.7e18)",
        R"("baseTimeNanoseconds":99999999999999999999)",
        R"("viztracer_metadata":{"baseTimeNanoseconds":true})", R"("beginningOfTime":"noon")"}) {
    CAPTURE(base);
    const FileEvidence evidence =
        evidence_around(R"({"traceEvents":[],)" + std::string(base) + "}");
    CHECK_FALSE(evidence.base_ns.has_value());
    CHECK(evidence.problems.count(Problem::bad_base) == 1);
  }
}

TEST_CASE("file_evidence: what is not there is unknown") {
  for (
      const char* text :
      {R"({"traceEvents":[]})", R"({"traceEvents":[],"distributedInfo":{},"otherData":{}})",
       R"({"traceEvents":[],"distributedInfo":null,"otherData":[],"viztracer_metadata":7})",
       R"({"traceEvents":[],"global_rank":null,"baseTimeNanoseconds":null,"beginningOfTime":null})",
       R"({"traceEvents":[],"distributedInfo":{"rank":"r","world_size":null}})"}) {
    CAPTURE(text);
    const FileEvidence evidence = evidence_around(text);
    CHECK_FALSE(evidence.distributed_rank.has_value());
    CHECK_FALSE(evidence.world_size.has_value());
    CHECK_FALSE(evidence.top_level_rank.has_value());
    CHECK_FALSE(evidence.top_level_sync_us.has_value());
    CHECK_FALSE(evidence.base_ns.has_value());
    CHECK(evidence.merged_by.empty());
    CHECK(evidence.problems.empty());
  }
}

TEST_CASE("file_evidence: a top-level sync that is no whole number is counted") {
  const FileEvidence evidence =
      evidence_around(R"({"clock_sync_timestamp_us":"soon","traceEvents":[]})");
  CHECK_FALSE(evidence.top_level_sync_us.has_value());
  CHECK(evidence.problems.count(Problem::bad_sync) == 1);
}

TEST_CASE("file_evidence: the base time of other producers") {
  CHECK(evidence_around(R"({"traceEvents":[],"viztracer_metadata":{"version":"1.0",)"
                        R"("baseTimeNanoseconds":1767325615896926966}})")
            .base_ns == 1'767'325'615'896'926'966);
  CHECK(evidence_around(R"({"traceEvents":[],"beginningOfTime":1691836962897550})").base_ns ==
        1'691'836'962'897'550'000);
  CHECK(evidence_around(R"({"beginningOfTime":1.5,"traceEvents":[],"baseTimeNanoseconds":7})")
            .base_ns == 7);
  CHECK(evidence_around(R"({"traceEvents":[],"baseTimeNanoseconds":0})").base_ns == 0);
}

TEST_CASE("file_evidence: knows what a merge of ours wrote") {
  CHECK(evidence_around(R"({"otherData":{"traceloom":{"version":"0.1.0"}},"traceEvents":[]})")
            .merged_by == "0.1.0");
  CHECK(evidence_around(R"({"otherData":{"traceloom":"yes"},"traceEvents":[]})").merged_by.empty());
}

TEST_CASE("file_evidence: a record of cycles that is damaged is counted, and is none") {
  const auto with = [](const std::string& cycles) {
    return evidence_around(
        R"({"traceEvents":[],"otherData":{"traceloom":{"version":"1","cycles":)" + cycles + "}}}");
  };
  const std::string cycle = R"({"cycle":"a","sync_us":17,"first_ns":18000,"last_ns":18500})";
  CHECK(with("[" + cycle + "]").cycles.size() == 1);
  CHECK(with("[" + cycle + "]").problems.empty());
  const FileEvidence damaged = with("[" + cycle + ",{}]");
  CHECK(damaged.cycles.empty());
  CHECK(damaged.problems.count(Problem::bad_cycles) == 1);
}

TEST_CASE("file_evidence: parts of a file add up") {
  FileEvidence evidence = evidence_of(rank_event("0", "0") + "," + sync_event("100", "0"), 1);
  CHECK_FALSE(evidence.has_several_ranks());
  const FileEvidence later = evidence_of(rank_event("0", "0") + "," + rank_event("1", "1") + "," +
                                             sync_event("null", "1") + "," +
                                             metadata("clock_sync_error_bound", R"({"value":8})"),
                                         1000);
  evidence.append(later);
  REQUIRE(evidence.rank_marks.size() == 2);
  CHECK(evidence.rank_marks.front().offset == 1);
  CHECK(evidence.has_several_ranks());
  CHECK(evidence.syncs.size() == 1);
  CHECK(evidence.error_bounds.front().value == 8);
  CHECK(evidence.problems.count(Problem::bad_sync) == 1);
}

TEST_CASE("file_evidence: one rank under two pids is not merged, two ranks under one pid are") {
  CHECK_FALSE(evidence_of(rank_event("4", "1") + "," + rank_event("4", "2")).has_several_ranks());
  CHECK(evidence_of(rank_event("4", "1") + "," + rank_event("5", "1")).has_several_ranks());
  CHECK_FALSE(FileEvidence{}.has_several_ranks());
}
