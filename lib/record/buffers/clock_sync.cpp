#include "record/buffers/clock_sync.h"

#include "event/trace_time.h"
#include "output/json_writer.h"
#include "record/slots.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

namespace traceloom::record {

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
  std::string text;
  JsonWriter json(text);
  const auto list = [&](const char* name, const std::vector<std::uint64_t>& ticks) {
    json.key(name);
    json.begin_array();
    for (const std::uint64_t tick : ticks) {
      std::string time;
      append_microseconds(time, line.ns(tick));
      json.raw(time);
    }
    json.end_array();
  };
  json.begin_object();
  json.key("group");
  json.value(group);
  list("enter", rounds.enter);
  list("exit", rounds.exit);
  json.end_object();
  return text;
}

std::string pair_json(const ClockPair& pair, const char* when) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("when");
  json.value(when);
  json.key("mono");
  json.value(pair.monotonic_ns);
  json.key("real");
  json.value(pair.realtime_ns);
  json.key("tsc");
  json.value(detail::clock_is_tsc.load(std::memory_order_relaxed) ? pair.ticks : 0);
  json.key("bracket_ns");
  json.value(pair.bracket_ns);
  json.end_object();
  return text;
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
  struct stat space {};
  const bool has_space = stat("/proc/self/ns/time", &space) == 0;
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("name");
  json.value(name.data());
  json.key("boot_id");
  json.value(boot_id());
  json.key("time_ns");  // a container may have a CLOCK_MONOTONIC of its own
  if (has_space)
    json.value(space.st_ino);
  else
    json.null();
  json.key("pid");
  json.value(getpid());
  json.end_object();
  return text;
}

std::string ntp_json() {
  timex state{};
  const int status = adjtimex(&state);
  constexpr double kScaledPpm = 65536;
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("synchronized");
  json.value(status >= 0 && status != TIME_ERROR);
  json.key("maxerror_us");
  json.value(state.maxerror);
  json.key("esterror_us");
  json.value(state.esterror);
  json.key("freq_ppm");
  json.value(static_cast<double>(state.freq) / kScaledPpm);
  json.end_object();
  return text;
}

}  // namespace traceloom::record
