#include "common/terminal.h"
#include "tools/child.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

}  // namespace

TEST_CASE("progress: percent, bar, bytes, rate and the time that is left") {
  CHECK(progress_line("merging", 0, 100 * kMiB, 0, 120) ==
        "merging   0 %  ░░░░░░░░░░░░░░░░░░░░  0 B of 100.0 MiB  0 B/s");
  CHECK(progress_line("merging", 40 * kMiB, 100 * kMiB, 20 * kMiB, 120) ==
        "merging  40 %  ████████░░░░░░░░░░░░  40.0 MiB of 100.0 MiB  20.0 MiB/s  3 s left");
  CHECK(progress_line("merging", 100 * kMiB, 100 * kMiB, 25 * kMiB, 120) ==
        "merging 100 %  ████████████████████  100.0 MiB of 100.0 MiB  25.0 MiB/s  0 s left");
}

TEST_CASE("progress: the rate is that of the last three seconds") {
  RecentRate rate;
  CHECK(rate.after(1000, 100 * kMiB) == 100 * kMiB);
  CHECK(rate.after(2000, 110 * kMiB) == 55 * kMiB);
  CHECK(rate.after(3000, 120 * kMiB) == 40 * kMiB);
  CHECK(rate.after(4000, 130 * kMiB) == 10 * kMiB);
  CHECK(rate.after(5000, 140 * kMiB) == 10 * kMiB);
  CHECK(rate.after(60'000, 140 * kMiB) == 0);
}

TEST_CASE("progress: long times are shown in minutes and hours") {
  CHECK(progress_line("m", kMiB, 126 * kMiB, kMiB, 120).ends_with("  2 min 05 s left"));
  CHECK(progress_line("m", kMiB, 7381 * kMiB, kMiB, 120).ends_with("  2 h 03 min left"));
}

TEST_CASE("progress: a file that grew while it was read is not more than done") {
  CHECK(progress_line("merging", 3 * kMiB, 2 * kMiB, 3 * kMiB, 120) ==
        "merging 100 %  ████████████████████  2.0 MiB of 2.0 MiB  3.0 MiB/s  0 s left");
}

TEST_CASE("progress: without a total there are bytes and rate") {
  CHECK(progress_line("reading", 3 * kMiB, 0, 3 * kMiB / 2, 120) == "reading  3.0 MiB  1.5 MiB/s");
}

TEST_CASE("progress: the line fits the terminal") {
  CHECK(progress_line("reading", 3 * kMiB, 0, 3 * kMiB / 2, 12) == "readin…MiB/s");
  const auto line = [](std::size_t width) {
    return progress_line("merging", 40 * kMiB, 100 * kMiB, 20 * kMiB, width);
  };
  CHECK(line(79) == "merging  40 %  ████░░░░░░  40.0 MiB of 100.0 MiB  20.0 MiB/s  3 s left");
  CHECK(line(69) == "merging  40 %  ██░░░  40.0 MiB of 100.0 MiB  20.0 MiB/s  3 s left");
  CHECK(line(60) == "merging  40 %  40.0 MiB of 100.0 MiB  20.0 MiB/s  3 s left");
  CHECK(line(57) == "merging  40 %  20.0 MiB/s  3 s left");
  CHECK(line(35) == "merging  40 %  20.0 MiB/s  3 s left");
  CHECK(line(34) == "merging  40 %  3 s left");
  CHECK(line(22) == "merging  40 %");
  CHECK(line(12) == "mergin… 40 %");
}

TEST_CASE("progress: says nothing where stderr is no terminal") {
  const Ended ended = run_in_child([] {
    Progress progress("merging");
    progress.show(50, 100);
    return 0;
  });
  CHECK(ended.both == "");
}
