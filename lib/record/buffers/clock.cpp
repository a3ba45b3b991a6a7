#include "record/buffers/clock.h"

#include "event/event_timing.h"
#include "output/json_writer.h"
#include "record/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace traceloom::record {

namespace detail {

std::atomic<bool> clock_is_tsc{false};

}  // namespace detail

namespace {

// A try is spoiled if the thread is moved to another processor while it reads; of seven tries, one
// is whole.
constexpr int kTries = 7;
// A clock that is off by more was set, or stood still.
constexpr std::int64_t kStepNs = 10'000'000;
// The most segments: ring buffers keep events for long, and an old event may still be written.
constexpr std::size_t kMaxSegments = 4096;

std::atomic<bool> is_distrusted{false};

std::int64_t read(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

bool has_invariant_tsc() {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kPowerLeaf = 0x80000007U;
  constexpr unsigned kInvariantTsc = 1U << 8;
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantTsc) != 0;
#elif defined(__aarch64__)
  return true;  // the generic timer is one by definition
#else
  return false;
#endif
}

}  // namespace

ClockCosts measure_clock_costs() {
  constexpr int kMeasurements = 100;
  timespec time{};
  const auto least = [](const auto& call) {
    std::uint64_t least_ticks = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < kMeasurements; ++i) {
      const std::uint64_t before = detail::read_counter();
      call();
      least_ticks = std::min(least_ticks, detail::read_counter() - before);
    }
    return least_ticks;
  };
  return {least([&] { clock_gettime(CLOCK_MONOTONIC, &time); }),
          least([&] { syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time); })};
}

bool is_kept_by_counter(const std::string& source, const ClockCosts& costs) {
  if (source == "tsc" || source == "arch_sys_counter") return true;
  // If the page is of no use, clock_gettime() looks at it and then makes the call, so it costs more
  // than the call. If the page is used, it costs less than half: a call takes more time than
  // reading a counter.
  constexpr std::uint64_t kShareOfCall = 2;
  return costs.page_ticks > 0 && costs.page_ticks < costs.call_ticks / kShareOfCall;
}

bool is_tsc_reliable() {
  if (!has_invariant_tsc()) return false;
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  file >> source;  // stays "" if the file cannot be read
  static const ClockCosts costs = measure_clock_costs();
  return is_kept_by_counter(source, costs);
}

void choose_clock(ClockChoice choice) {
  const bool is_tsc = choice == ClockChoice::automatic
                          ? !is_distrusted.load() && is_tsc_reliable()
                          : choice == ClockChoice::tsc && has_invariant_tsc();
  detail::clock_is_tsc.store(is_tsc, std::memory_order_relaxed);
}

void distrust_counter() {
  is_distrusted.store(true);
}

ClockPair read_clock_pair() {
  ClockPair best;
  best.bracket_ns = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kTries; ++i) {
    ClockPair pair;
    const std::int64_t before_ns = read(CLOCK_MONOTONIC);
    pair.ticks = detail::now();
    pair.realtime_ns = read(CLOCK_REALTIME);
    const std::int64_t after_ns = read(CLOCK_MONOTONIC);
    pair.bracket_ns = after_ns - before_ns;
    pair.monotonic_ns = before_ns + pair.bracket_ns / 2;
    if (!detail::clock_is_tsc.load(std::memory_order_relaxed))
      pair.ticks = static_cast<std::uint64_t>(pair.monotonic_ns);
    if (pair.bracket_ns < best.bracket_ns) best = pair;
  }
  return best;
}

TimeLine::TimeLine(const ClockPair& start)
    : start_(start),
      last_(start),
      is_tsc_(detail::clock_is_tsc.load(std::memory_order_relaxed)),
      is_ready_(!is_tsc_),
      segments_{{start.ticks, start.realtime_ns, 1}} {}

TimeLine::TimeLine(const ClockPair& start, std::vector<Segment> segments)
    : start_(start), last_(start), is_tsc_(true), is_ready_(true), segments_(std::move(segments)) {}

void TimeLine::add(const ClockPair& pair) {
  last_ = pair;
  const std::int64_t passed_ns = pair.monotonic_ns - start_.monotonic_ns;
  if (!is_tsc_ || passed_ns < kLeastBaselineNs || pair.ticks <= segments_.back().ticks) return;
  const double speed =
      static_cast<double>(passed_ns) / static_cast<double>(pair.ticks - start_.ticks);
  if (!is_ready_) {
    segments_.back().ns_per_tick = speed;
    is_ready_ = true;
    return;
  }
  const std::int64_t line_ns = ns(pair.ticks);
  const std::int64_t error_ns = check(pair);
  // The line makes up for an error within a second, by no more than 500 ppm; it follows a jump
  // forward at once.
  constexpr double kSecondNs = 1e9;
  constexpr double kMostBend = 500e-6;
  const double bend = std::clamp(static_cast<double>(error_ns) / kSecondNs, -kMostBend, kMostBend);
  const bool jumps = error_ns > kStepNs;
  segments_.push_back(
      {pair.ticks, jumps ? line_ns + error_ns : line_ns, jumps ? speed : speed * (1 + bend)});
  if (segments_.size() > kMaxSegments) segments_.erase(segments_.begin());
}

std::int64_t TimeLine::check(const ClockPair& pair) {
  if (!is_tsc_ || !is_ready_) return 0;
  const std::int64_t passed_ns = pair.monotonic_ns - start_.monotonic_ns;
  const std::int64_t error_ns = start_.realtime_ns + passed_ns - ns(pair.ticks);
  worst_error_ns_ = std::max(worst_error_ns_, std::abs(error_ns));
  return error_ns;
}

const TimeLine::Segment& TimeLine::segment_of(std::uint64_t ticks) const {
  auto segment = std::upper_bound(segments_.begin(), segments_.end(), ticks,
                                  [](std::uint64_t t, const Segment& s) { return t < s.ticks; });
  if (segment != segments_.begin()) --segment;
  return *segment;
}

bool TimeLine::has(std::uint64_t ticks) const {
  constexpr double kMostTicks = 4e18;  // a signed number of 64 bits can hold it
  constexpr double kMostNs = 4e18;
  const Segment& segment = segment_of(ticks);
  const double passed = ticks >= segment.ticks ? static_cast<double>(ticks - segment.ticks)
                                               : -static_cast<double>(segment.ticks - ticks);
  const double ns = static_cast<double>(segment.ns) + passed * segment.ns_per_tick;
  return std::abs(passed) < kMostTicks && ns >= 0 && ns < kMostNs;
}

SyncRounds meet(const std::function<void()>& barrier, unsigned rounds) {
  SyncRounds stamps;
  stamps.enter.reserve(rounds);
  stamps.exit.reserve(rounds);
  for (unsigned i = 0; i < rounds; ++i) {
    stamps.enter.push_back(detail::now());
    barrier();
    stamps.exit.push_back(detail::now());
  }
  return stamps;
}

SyncValue sync_value(const SyncRounds& rounds, const TimeLine& line) {
  const std::size_t count = rounds.enter.size();
  if (count == 0) return {};
  const std::size_t first = count > 1 ? 1 : 0;
  // The sums count from the first stamp: sums of Unix times in nanoseconds would not fit.
  const std::int64_t origin_ns = line.ns(rounds.enter[first]);
  std::int64_t middles_ns = 0;
  std::int64_t halves_ns = 0;
  for (std::size_t i = first; i < count; ++i) {
    const std::int64_t enter_ns = line.ns(rounds.enter[i]) - origin_ns;
    const std::int64_t half_ns = (line.ns(rounds.exit[i]) - origin_ns - enter_ns) / 2;
    middles_ns += enter_ns + half_ns;
    halves_ns += half_ns;
  }
  const auto used = static_cast<std::int64_t>(count - first);
  constexpr std::int64_t kNsPerUs = 1000;
  return {(origin_ns + middles_ns / used) / kNsPerUs, halves_ns / used / kNsPerUs + 1};
}

std::string rounds_json(const SyncRounds& rounds, const TimeLine& line, const char* group) {
  const auto times_of = [&](const std::vector<std::uint64_t>& ticks) {
    std::string times;
    for (const std::uint64_t tick : ticks) {
      if (!times.empty()) times += ',';
      append_microseconds(times, line.ns(tick));
    }
    return times;
  };
  return fmt::format(R"({{"group":"{}","enter":[{}],"exit":[{}]}})", group, times_of(rounds.enter),
                     times_of(rounds.exit));
}

std::string pair_json(const ClockPair& pair, const char* when) {
  const bool is_tsc = detail::clock_is_tsc.load(std::memory_order_relaxed);
  return json_object("when", when, "mono", pair.monotonic_ns, "real", pair.realtime_ns, "tsc",
                     is_tsc ? pair.ticks : 0, "bracket_ns", pair.bracket_ns);
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

std::string host_json() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  // A container may have a CLOCK_MONOTONIC of its own.
  struct stat space {};
  std::optional<ino_t> time_space;
  if (stat("/proc/self/ns/time", &space) == 0) time_space = space.st_ino;
  return json_object("name", name.data(), "boot_id", boot_id(), "time_ns", time_space, "pid",
                     getpid());
}

std::string ntp_json() {
  timex ntp{};
  const int status = adjtimex(&ntp);
  constexpr double kScaledPpm = 65536;
  return json_object("synchronized", status >= 0 && status != TIME_ERROR, "maxerror_us",
                     ntp.maxerror, "esterror_us", ntp.esterror, "freq_ppm",
                     static_cast<double>(ntp.freq) / kScaledPpm);
}

}  // namespace traceloom::record
