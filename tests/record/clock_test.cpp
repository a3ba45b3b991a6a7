// These tests check which clock a session uses, and how it is checked.
#include "record/buffers/clock.h"

#include "record/recorded.h"
#include "record/slots.h"
#include "support/child_process.h"
#include "support/small_disk.h"

#include <doctest/doctest.h>

#include <string>
#include <sys/mount.h>
#include <unistd.h>

using namespace traceloom;
using namespace traceloom::record;

namespace {

constexpr const char* kSourceFile =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource";

// The thread sanitizer's wrapper doubles the cost of reading the page, to 0.42 of a call on one
// machine and to more than half on another.
constexpr bool kDoublesCosts = TRACELOOM_CHECKS_THREADS;

std::string clock_of(ClockChoice choice) {
  Options options;
  options.write_json = false;
  options.clock = choice;
  Session session(options);
  return session.close().clock;
}

// Returns a line of the counter that has a tick a nanosecond.
TimeLine line_of(std::int64_t start_ns) {
  detail::clock_is_tsc = true;
  TimeLine line({1000, 1000, start_ns, 20});
  line.add({1000 + 20'000'000, 1000 + 20'000'000, 0, 20});
  detail::clock_is_tsc = false;
  return line;
}

}  // namespace

TEST_CASE("clock: the kernel keeps time by the counter when it says so, or when a page is enough") {
  CHECK(is_kept_by_counter("tsc", {}));
  CHECK(is_kept_by_counter("arch_sys_counter", {}));
  // Reading a page costs as much as reading the counter, and less than half of a call.
  CHECK(is_kept_by_counter("kvm-clock", {70, 330}));
  CHECK(is_kept_by_counter("hyperv_clocksource_tsc_page", {70, 330}));
  CHECK(is_kept_by_counter("", {70, 330}));  // where nothing of it can be read
  // The page says that the counter is not stable, or there is none: the call is made after a look
  // at the page.
  CHECK_FALSE(is_kept_by_counter("kvm-clock", {350, 330}));
  CHECK_FALSE(is_kept_by_counter("hpet", {3350, 3330}));
  CHECK_FALSE(is_kept_by_counter("acpi_pm", {170, 330}));
  CHECK_FALSE(is_kept_by_counter("kvm-clock", {}));
}

TEST_CASE("clock: by the counter, too, where the kernel goes by kvm-clock and a page says how") {
  if (!is_tsc_reliable()) {
    MESSAGE("skipped: this machine has no counter that can be trusted");
    return;
  }
  if (kDoublesCosts) {
    MESSAGE("skipped: the thread sanitizer hides how cheap reading the page is");
    return;
  }
  const TemporaryFolder folder;
  const std::string source = folder.write("source", "kvm-clock\n");
  const int code = run_child([&] {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount(source.c_str(), kSourceFile, nullptr, MS_BIND, nullptr) != 0)
      _exit(kNoSmallDisk);
    if (read_file(kSourceFile) != "kvm-clock\n") _exit(91);
    const ClockCosts costs = measure_clock_costs();
    if (!is_kept_by_counter("kvm-clock", costs)) _exit(92);
    _exit(clock_of(ClockChoice::automatic) == "tsc" ? 0 : 93);
  });
  if (code == kNoSmallDisk)
    MESSAGE("skipped: nothing may be mounted here");
  else
    CHECK(code == 0);
}

TEST_CASE("clock: a program may choose") {
  CHECK(clock_of(ClockChoice::monotonic) == "monotonic");
  if (is_tsc_reliable()) CHECK(clock_of(ClockChoice::tsc) == "tsc");
}

TEST_CASE("clock: one that was wrong is not chosen again, but where a program does") {
  if (!is_tsc_reliable()) return;
  CHECK(run_child([&] {
          distrust_counter();
          choose_clock(ClockChoice::automatic);
          if (detail::clock_is_tsc) _exit(91);
          choose_clock(ClockChoice::tsc);
          _exit(detail::clock_is_tsc ? 0 : 92);
        }) == 0);
}

TEST_CASE("clock: a check tells how far the line is from the clock, and does not bend it") {
  constexpr std::int64_t kStartNs = 1'700'000'000'000'000'000;
  TimeLine line = line_of(kStartNs);
  const std::uint64_t ticks = 1000 + 50'000'000;
  CHECK(line.check({ticks, 1000 + 50'000'000, 0, 20}) == 0);
  CHECK(line.check({ticks, 1000 + 50'000'700, 0, 20}) == 700);
  CHECK(line.check({ticks, 1000 + 48'000'000, 0, 20}) == -2'000'000);
  CHECK(line.worst_error_ns() == 2'000'000);
  CHECK(line.ns(ticks) == kStartNs + 50'000'000);
}

TEST_CASE("clock: ticks that are none of the session's time are known") {
  constexpr std::int64_t kStartNs = 1'700'000'000'000'000'000;
  const TimeLine line = line_of(kStartNs);
  CHECK(line.has(1000));
  CHECK(line.has(1000 + (std::uint64_t{1} << 40)));
  CHECK_FALSE(line.has(std::uint64_t{1} << 62));
  CHECK_FALSE(line.has(~std::uint64_t{0}));
}
