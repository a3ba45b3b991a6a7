#include "record/host/host_sampler.h"

#include "record/host_recorder.h"
#include "record/scratch.h"
#include "support/child_process.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Returns, for example, "cpu[cpu] cpu_percent=50".
std::string words(const HostCounter& counter) {
  std::string text = fmt::format("{}[{}]", counter.name, counter.category);
  for (const auto& [key, value] : counter.values) text += fmt::format(" {}={:g}", key, value);
  return text;
}

// A /proc of our own.
class Host {
 public:
  Host() {
    scratch_.write("sys/sda/size");
    cpu(0, 0);
    memory();
    disk(0, 0, 0, 0, 0);
    network(0, 0);
    process(0, 0);
  }
  void cpu(std::int64_t busy, std::int64_t idle) {
    scratch_.write("proc/stat", fmt::format("cpu  {} 0 0 {} 0 0 0 0 0 0\n", busy, idle));
  }
  void memory() {
    scratch_.write("proc/meminfo",
                   "MemTotal: 1000000 kB\nMemAvailable: 250000 kB\nSwapTotal: 2000 kB\n"
                   "SwapFree: 500 kB\n");
  }
  void disk(int reads, int read_sectors, int writes, int written_sectors, int busy_ms) {
    scratch_.write("proc/diskstats",
                   fmt::format("8 0 sda {} 0 {} 0 {} 0 {} 0 0 {} 0\n8 1 sda1 9 0 9 9 9 9 9 9 9 9 "
                               "9\n7 0 loop0 {} 0 0 0 0 0 0 0 0 0 0\n",
                               reads, read_sectors, writes, written_sectors, busy_ms, reads));
  }
  void network(std::int64_t received, std::int64_t sent) {
    scratch_.write("proc/net/dev",
                   fmt::format("head\neth0: {} 1 0 0 0 0 0 0 {} 1 0 0\n", received, sent));
  }
  void process(std::int64_t ticks, std::int64_t pages) {
    scratch_.write(
        "proc/self/stat",
        fmt::format("1 (x) R 0 0 0 0 0 0 0 0 0 0 {} 0 0 0 0 0 0 0 0 2000000 {} 0\n", ticks, pages));
  }

  HostSamplerOptions options() const {
    HostSamplerOptions options;
    options.proc = scratch_ / "proc";
    options.block_devices = scratch_ / "sys";
    options.nvml = "no-such-nvml.so";
    return options;
  }
  const Scratch& scratch() const { return scratch_; }

 private:
  Scratch scratch_;
};

std::vector<std::string> read(HostReader& reader, std::int64_t now_ns) {
  std::vector<std::string> counters;
  reader.read(now_ns, [&](const HostCounter& counter) { counters.push_back(words(counter)); });
  return counters;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("host_sampler: the first read has what is no rate") {
  const Host host;
  HostReader reader(host.options());
  CHECK(reader.missing().empty());
  CHECK(read(reader, kSecond) == Words{"memory/virtual[memory] used_gb=0.768 available_gb=0.256",
                                       "memory/swap[memory] used_gb=0.001536 free_gb=0.000512",
                                       "memory/rss[memory] rss_mb=0",
                                       "memory/vms[memory] vms_mb=2"});
}

TEST_CASE("host_sampler: rates are of the time between two reads, in units as named") {
  Host host;
  HostReader reader(host.options());
  read(reader, kSecond);
  host.cpu(150, 50);
  host.disk(10, 4000, 30, 8000, 500);
  host.network(3'000'000, 1'000'000);
  host.process(sysconf(_SC_CLK_TCK), 0);
  const Words counters = read(reader, 3 * kSecond);
  CHECK(counters == Words{"cpu[cpu] cpu_percent=75",
                          "memory/virtual[memory] used_gb=0.768 available_gb=0.256",
                          "memory/swap[memory] used_gb=0.001536 free_gb=0.000512",
                          "disk/sda[disk] read_mb_per_s=1.024 written_mb_per_s=2.048",
                          "disk/sda/ops[disk] reads_per_s=5 writes_per_s=15",
                          "disk/sda/busy[disk] busy_percent=25",
                          "network/eth0[net] sent_mb_per_s=0.5 received_mb_per_s=1.5",
                          "cpu/process[cpu] cpu_percent=50", "memory/rss[memory] rss_mb=0",
                          "memory/vms[memory] vms_mb=2"});
}

TEST_CASE("host_sampler: a device that stops is told once, and not while it rests") {
  Host host;
  HostSamplerOptions options = host.options();
  options.cpu = options.memory = options.process = options.disk = false;
  HostReader reader(options);
  CHECK(read(reader, 1 * kSecond).empty());
  CHECK(read(reader, 2 * kSecond).empty());
  host.network(2'000'000, 0);
  CHECK(read(reader, 3 * kSecond) ==
        Words{"network/eth0[net] sent_mb_per_s=0 received_mb_per_s=2"});
  CHECK(read(reader, 4 * kSecond) ==
        Words{"network/eth0[net] sent_mb_per_s=0 received_mb_per_s=0"});
  CHECK(read(reader, 5 * kSecond).empty());
}

TEST_CASE("host_sampler: counters that go back have no rate, and nothing is divided by no time") {
  Host host;
  host.network(5'000'000, 5'000'000);
  HostReader reader(host.options());
  read(reader, kSecond);
  host.network(1'000'000, 7'000'000);
  host.cpu(0, 0);
  const Words again = read(reader, kSecond);
  CHECK(std::none_of(again.begin(), again.end(), [](const std::string& text) {
    return text.starts_with("network") || text.starts_with("cpu");
  }));
  host.network(0, 8'000'000);
  const Words later = read(reader, 2 * kSecond);
  CHECK(std::count(later.begin(), later.end(),
                   "network/eth0[net] sent_mb_per_s=1 received_mb_per_s=0") == 1);
}

TEST_CASE("host_sampler: files that a container hides are named, and the rest is read") {
  const Host host;
  host.scratch().remove("proc/diskstats");
  host.scratch().remove("proc/net/dev");
  HostReader reader(host.options());
  CHECK(reader.missing() ==
        Words{host.scratch() / "proc/diskstats", host.scratch() / "proc/net/dev"});
  CHECK(read(reader, kSecond).size() == 4);
}

TEST_CASE("host_sampler: the first process of a node samples the host, the others themselves") {
  Options place;
  place.local_rank = 0;
  const HostOptions first = host_options_for(place);
  CHECK((first.cpu && first.memory && first.disk && first.network && first.process));
  place.local_rank = 3;
  const HostOptions other = host_options_for(place);
  CHECK_FALSE((other.cpu || other.memory || other.disk || other.network));
  CHECK(other.process);
}

TEST_CASE("host_sampler: reads the real /proc") {
  HostReader reader({});
  CHECK(reader.missing().empty());
  std::map<std::string, double> values;
  reader.read(kSecond, [&](const HostCounter& counter) {
    for (const auto& [key, value] : counter.values) values[std::string(key)] = value;
  });
  CHECK(values.at("rss_mb") > 0.5);
  CHECK(values.at("vms_mb") >= values.at("rss_mb"));
  CHECK(values.at("available_gb") > 0);
}

TEST_CASE("host_sampler: the thread samples at once, at its interval, and when it ends") {
  const Host host;
  HostSamplerOptions options = host.options();
  options.interval_ns = 3600 * kSecond;
  std::atomic<int> samples = 0;
  const auto count = [&](const HostCounter& counter) { samples += counter.name == "memory/rss"; };
  {
    const HostSampler sampler(options, count);
    while (samples < 1) std::this_thread::yield();
  }
  CHECK(samples == 2);
  options.interval_ns = 1'000'000;
  {
    const HostSampler sampler(options, count);
    while (samples < 6) std::this_thread::yield();
  }
  CHECK(samples >= 7);
}

TEST_CASE("host_sampler: what its sink throws ends the sampling alone") {
  const Host host;
  std::atomic<int> calls = 0;
  const HostSampler sampler(host.options(), [&](const HostCounter&) {
    ++calls;
    throw std::runtime_error("full");
  });
  while (calls == 0) std::this_thread::yield();
  CHECK(calls == 1);
}

TEST_CASE("host_sampler: a child made by fork() can leave it without waiting for a thread") {
  if (TRACELOOM_CHECKS_THREADS) {
    MESSAGE("skipped: in a child, clang's thread sanitizer knows no thread of the parent");
    return;
  }
  const Host host;
  auto sampler = std::make_unique<HostSampler>(host.options(), [](const HostCounter&) {});
  CHECK(run_child([&] {
          alarm(10);
          sampler.reset();
        }) == 0);
}

TEST_CASE("host_sampler: signals are for the threads of the program") {
  const Host host;
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  sigset_t of_thread;
  sigemptyset(&of_thread);
  std::atomic<bool> is_told = false;
  const HostSampler sampler(host.options(), [&](const HostCounter&) {
    if (is_told) return;
    pthread_sigmask(SIG_SETMASK, nullptr, &of_thread);
    is_told = true;
  });
  while (!is_told) std::this_thread::yield();
  CHECK(sigismember(&of_thread, SIGTERM) == 1);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  CHECK(sigismember(&after, SIGTERM) == sigismember(&before, SIGTERM));
}

// tests/record/played/nvml.cpp plays three GPUs: the second has no power and no clocks, the third
// is lost.
TEST_CASE("host_sampler: GPUs by the library of their driver") {
  std::vector<std::string> counters;
  const auto sink = [&](const HostCounter& counter) { counters.push_back(words(counter)); };
  const auto read_gpus = nvml_reader(TRACELOOM_PLAYED_NVML);
  REQUIRE(read_gpus);
  read_gpus(sink);
  const Words wanted{"gpu/0/memory[gpu] used_gb=30 free_gb=50",
                     "gpu/0/busy[gpu] busy_percent=97 memory_percent=41",
                     "gpu/0/power[gpu] watts=612.5",
                     "gpu/0/clock[gpu] sm_mhz=1980 memory_mhz=2619",
                     "gpu/1/memory[gpu] used_gb=1 free_gb=79",
                     "gpu/1/busy[gpu] busy_percent=0 memory_percent=0"};
  CHECK(counters == wanted);
  CHECK_FALSE(nvml_reader("no-such-nvml.so"));
  CHECK_FALSE(nvml_reader("libm.so.6"));  // it is a library, but not that one
  const Host host;
  HostSamplerOptions options = host.options();
  options.nvml = TRACELOOM_PLAYED_NVML;
  options.cpu = options.memory = options.disk = options.network = options.process = false;
  HostReader reader(options);
  CHECK(read(reader, kSecond) == wanted);
  CHECK(reader.missing().empty());
  options.gpu = false;
  HostReader without(options);
  CHECK(read(without, kSecond).empty());
}

TEST_CASE("host_sampler: an interval that would load the host is refused") {
  HostSamplerOptions options;
  options.interval_ns = 999'999;
  CHECK_THROWS_WITH_AS(HostSampler(options, [](const HostCounter&) {}),
                       "the host cannot be sampled every 999999 ns; 1 ms is the least",
                       std::invalid_argument);
}
