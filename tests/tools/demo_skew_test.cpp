#include "trace_record/demo_team.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;

namespace {

// A second ahead, and 10 % too fast since the Unix time of 1 s.
const ClockSkew kSkew{.offset_ns = 1'000'000'000,
                      .drift_ppm = 100'000,
                      .since_ns = 1'000'000'000,
                      .machine = "elsewhere"};

}  // namespace

TEST_CASE("demo_skew: a clock is off by an offset, and by a drift since it was right") {
  CHECK(kSkew.shown(1'000'000'000) == 2'000'000'000);
  CHECK(kSkew.shown(2'000'000'000) == 3'100'000'000);
  CHECK(ClockSkew{}.shown(1'795'202'033'316'240'001) == 1'795'202'033'316'240'001);
  DemoOptions options;
  options.clock_skew_ns = 5;
  options.clock_drift_ppm = -2;
  CHECK(skew_of(options, 3).offset_ns == 15);
  CHECK(skew_of(options, 3).drift_ppm == -6);
  CHECK(skew_of(options, 3).machine != skew_of(options, 2).machine);
}

TEST_CASE("demo_skew: events have the times that the clock would have shown") {
  CHECK(skew_line(R"({"name":"a","ph":"X","ts":2000000.000,"dur":1000.000,"pid":0},)", kSkew) ==
        R"({"name":"a","ph":"X","ts":3100000,"dur":1100,"pid":0},)");
  CHECK(skew_line(R"({"name":"real","ph":"i","ts":1000000.500,"args":{"value":7}})", kSkew) ==
        R"({"name":"real","ph":"i","ts":2000000.55,"args":{"value":7}})");
  CHECK(skew_line("[", kSkew) == "[");
}

TEST_CASE("demo_skew: so do clock syncs, and the machine is another one") {
  CHECK(skew_line(R"({"name":"clock_sync_timestamp_us","ph":"M","ts":1000000.000,)"
                  R"("args":{"value":2000000}})",
                  kSkew) == R"({"name":"clock_sync_timestamp_us","ph":"M","ts":2000000,)"
                            R"("args":{"value":3100000}})");
  CHECK(skew_line(R"({"name":"clock_sync_error_bound","ph":"M","ts":1000000.000,)"
                  R"("args":{"value":12}})",
                  kSkew) == R"({"name":"clock_sync_error_bound","ph":"M","ts":2000000,)"
                            R"("args":{"value":12}})");
  CHECK(skew_line(R"({"name":"clock_sync_rounds","ph":"M","args":{"group":"start",)"
                  R"("enter":[1000000.000,2000000.000],"exit":[1000001,2000001]}})",
                  kSkew) == R"({"name":"clock_sync_rounds","ph":"M","args":{"group":"start",)"
                            R"("enter":[2000000,3100000],"exit":[2000001.1,3100001.1]}})");
  CHECK(
      skew_line(R"({"name":"clock_pairs","ph":"M","args":{"mono":5,"real":2000000000}})", kSkew) ==
      R"({"name":"clock_pairs","ph":"M","args":{"mono":5,"real":3100000000}})");
  CHECK(skew_line(R"({"name":"host","ph":"M","args":{"boot_id":"1-2","pid":4}})", kSkew) ==
        R"({"name":"host","ph":"M","args":{"boot_id":"elsewhere","pid":4}})");
}
