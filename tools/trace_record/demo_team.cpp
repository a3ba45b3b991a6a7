#include "trace_record/demo_team.h"

#include "base/problems.h"
#include "event/event_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <sys/mman.h>

namespace traceloom {
namespace {

constexpr std::size_t kLine = 64;  // bytes of a cache line

}  // namespace

DemoTeam::DemoTeam(std::size_t ranks, std::size_t values) : ranks_(ranks), values_(values) {
  constexpr std::size_t kHead = (sizeof(pthread_barrier_t) + kLine - 1) / kLine * kLine;
  bytes_ = kHead + (ranks + 1) * values * sizeof(float);
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) throw system_error("shared memory of the ranks", errno);
  barrier_ = static_cast<pthread_barrier_t*>(memory_);
  parts_ = reinterpret_cast<float*>(static_cast<char*>(memory_) + kHead);
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  const int error = pthread_barrier_init(barrier_, &attributes, static_cast<unsigned>(ranks));
  pthread_barrierattr_destroy(&attributes);
  if (error != 0) {
    munmap(memory_, bytes_);
    throw system_error("barrier of the ranks", error);
  }
}

// The barrier is not destroyed: pthread_barrier_destroy() waits for ranks in it, even killed ones.
DemoTeam::~DemoTeam() {
  munmap(memory_, bytes_);
}

void DemoTeam::barrier() {
  pthread_barrier_wait(barrier_);
}

// Each rank adds up a share of the values of all ranks. It adds in the order of ranks, so that the
// sum does not depend on which rank comes first.
void DemoTeam::all_reduce(std::size_t rank, std::span<float> values) {
  std::copy(values.begin(), values.end(), part_of(rank));
  barrier();
  const std::size_t share = (values.size() + ranks_ - 1) / ranks_;
  const std::size_t begin = std::min(rank * share, values.size());
  const std::size_t end = std::min(begin + share, values.size());
  float* const mean = part_of(ranks_);
  for (std::size_t i = begin; i < end; ++i) {
    float sum = 0;
    for (std::size_t other = 0; other < ranks_; ++other) sum += part_of(other)[i];
    mean[i] = sum / static_cast<float>(ranks_);
  }
  // After this barrier all have read the parts, so the next call may overwrite them.
  barrier();
  std::copy(mean, mean + values.size(), values.begin());
}

namespace {

constexpr std::string_view kTimeCharacters = "-0123456789.";

// The form of a value: microseconds with decimals, whole microseconds, or nanoseconds.
enum class Unit { us, whole_us, ns };

std::string shown_text(std::string_view text, Unit unit, const ClockSkew& skew) {
  std::int64_t ns = 0;
  if (unit == Unit::ns)
    std::from_chars(text.data(), text.data() + text.size(), ns);
  else
    parse_plain_time(text, ns);
  ns = skew.shown(ns);
  if (unit == Unit::ns) return std::to_string(ns);
  if (unit == Unit::whole_us) return std::to_string(ns / 1000);
  std::string out;
  append_microseconds(out, ns);
  return out;
}

// Skews every time after `key`: one, or a list of them.
void skew_values(std::string& line, std::string_view key, Unit unit, const ClockSkew& skew) {
  std::size_t at = line.find(key);
  if (at == std::string::npos) return;
  at += key.size();
  const bool is_list = line[at] == '[';
  do {
    if (line[at] == '[' || line[at] == ',') ++at;
    const std::size_t end = line.find_first_not_of(kTimeCharacters, at);
    const std::string text = shown_text(line.substr(at, end - at), unit, skew);
    line.replace(at, end - at, text);
    at += text.size();
  } while (is_list && line[at] == ',');
}

// Skews the duration: it is the difference between the end and the begin as the clock shows them.
void skew_duration(std::string& line, const ClockSkew& skew) {
  const std::size_t begin = line.find("\"ts\":");
  const std::size_t duration = line.find("\"dur\":");
  if (begin == std::string::npos || duration == std::string::npos) return;
  const auto time_at = [&](std::size_t at) {
    std::int64_t ns = 0;
    parse_plain_time(
        std::string_view(line).substr(at, line.find_first_not_of(kTimeCharacters, at) - at), ns);
    return ns;
  };
  const std::size_t value = duration + 6;
  const std::int64_t begin_ns = time_at(begin + 5);
  const std::int64_t end_ns = begin_ns + time_at(value);
  std::string text;
  append_microseconds(text, skew.shown(end_ns) - skew.shown(begin_ns));
  line.replace(value, line.find_first_not_of(kTimeCharacters, value) - value, text);
}

}  // namespace

std::int64_t ClockSkew::shown(std::int64_t true_ns) const {
  __extension__ typedef __int128 Wide;
  const Wide drift = Wide{drift_ppm} * (true_ns - since_ns) / 1'000'000;
  return true_ns + offset_ns + static_cast<std::int64_t>(drift);
}

ClockSkew skew_of(const DemoOptions& options, std::int64_t rank) {
  ClockSkew skew;
  skew.offset_ns = rank * options.clock_skew_ns;
  skew.drift_ppm = rank * options.clock_drift_ppm;
  skew.since_ns = options.started_ns;
  skew.machine = fmt::format("demo-machine-{}", rank);
  return skew;
}

std::string skew_line(std::string_view line, const ClockSkew& skew) {
  std::string text(line);
  skew_duration(text, skew);
  skew_values(text, "\"ts\":", Unit::us, skew);
  if (text.find("\"ph\":\"M\"") == std::string::npos) return text;
  if (text.find("\"clock_sync_timestamp_us\"") != std::string::npos)
    skew_values(text, "\"value\":", Unit::whole_us, skew);
  skew_values(text, "\"enter\":", Unit::us, skew);
  skew_values(text, "\"exit\":", Unit::us, skew);
  skew_values(text, "\"real\":", Unit::ns, skew);
  constexpr std::string_view kBoot = "\"boot_id\":\"";
  if (const std::size_t at = text.find(kBoot); at != std::string::npos) {
    const std::size_t begin = at + kBoot.size();
    text.replace(begin, text.find('"', begin) - begin, skew.machine);
  }
  return text;
}

// Writes into the same file, since --keep identifies traces by their inodes.
void skew_trace(const std::string& path, const ClockSkew& skew) {
  std::ifstream in(path);
  if (!in) throw system_error(path, errno);
  std::string skewed;
  for (std::string line; std::getline(in, line);) skewed += skew_line(line, skew) + "\n";
  std::ofstream out(path, std::ios::trunc);
  if (!out.write(skewed.data(), static_cast<std::streamsize>(skewed.size())).flush())
    throw system_error(path, errno);
}

}  // namespace traceloom
