#include "identity/ranks/ranks.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("trace_name: the rank is the number behind the last rank") {
  CHECK(rank_in_name("ep1-ba42-rank3.json") == 3);
  CHECK(rank_in_name("rank-0.Apr_03_20_31_33.pt.trace.json") == 0);
  CHECK(rank_in_name("rank_2.trace.json") == 2);
  CHECK(rank_in_name("traces/run7/rank0012.json.gz") == 12);
  CHECK(rank_in_name("rank1-of-rank9.json") == 9);
  CHECK(rank_in_name("rank4-ranking.json") == 4);
  CHECK(rank_in_name("rank5") == 5);
  CHECK(rank_in_name("rank2147483647.json") == 2'147'483'647);
}

TEST_CASE("trace_name: there may be no rank") {
  for (const char* path :
       {"", "-", "trace.json", "rank.json", "rank", "rank-", "rank--1.json", "rank_-1.json",
        "ranks3.json", "rank+3.json", "rank3/trace.json", "worker3.json", "rank2147483648.json",
        "rank99999999999999999999.json"}) {
    CAPTURE(path);
    CHECK_FALSE(rank_in_name(path).has_value());
  }
  CHECK(rank_in_name("rank3-rank4294967296.json") == 3);
}

TEST_CASE("trace_name: the cycle is what is left without rank and endings") {
  CHECK(cycle_of_name("traces/ep1-ba42-rank3.json") == "ep1-ba42");
  CHECK(cycle_of_name("ep0-ba12-rank3.json.gz") == "ep0-ba12");
  CHECK(cycle_of_name("rank0.4.pt.trace.json") == "4");
  CHECK(cycle_of_name("rank-17_ep2_ba3.json") == "ep2_ba3");
  CHECK(cycle_of_name("ep2-rank3-ba5.json") == "ep2-ba5");
  CHECK(cycle_of_name("ep2_rank3_ba5.json") == "ep2-ba5");
  CHECK(cycle_of_name("node_trace.2.log") == "node_trace.2");
  CHECK(cycle_of_name("merged.json") == "merged");
  CHECK(cycle_of_name("_ep1_.json") == "ep1");
}

TEST_CASE("trace_name: the cycle may be empty") {
  for (const char* path : {"", "-", "rank3.json", "rank_3.trace.json", "traces/rank0.json.gz",
                           "ep0-ba4/rank0.pt.trace.json.gz", ".json", "worker2.json", "a/"}) {
    CAPTURE(path);
    CHECK(cycle_of_name(path).empty());
  }
}

TEST_CASE("trace_name: workers are ranks only where no rank is named") {
  CHECK(cycle_of_name("worker3-step4.json") == "step4");
  CHECK(cycle_of_name("worker3-rank1-step4.json") == "worker3-step4");
}

TEST_CASE("trace_name: time stamps are no part of the cycle") {
  CHECK(cycle_of_name("worker0_step_12.1694128201545.pt.trace.json.gz") == "step_12");
  CHECK(cycle_of_name("worker3_step_12.1694128201557.pt.trace.json.gz") == "step_12");
  CHECK(cycle_of_name("rank0-1694128201.json").empty());
  CHECK(cycle_of_name("1694128201545.7.rank0.1694128201545000.json") == "7");
  CHECK(cycle_of_name("a---1694128201-.-5.rank1.json") == "a-5");
  CHECK(cycle_of_name("ba169412820-rank0.json") == "ba169412820");
}
