#include "record/host/host_sampler.h"

#include "record/names/session_place.h"
#include "record/recorder.h"
#include "record/support/c_calls.h"
#include "record/support/process_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <unistd.h>

namespace traceloom::record {
namespace {

constexpr double kGb = 1e9;

// A counter that went back (a device was taken out and put in again) has no rate.
double rate(std::uint64_t now, std::uint64_t before, double seconds) {
  return now < before ? 0 : static_cast<double>(now - before) / seconds;
}

// False for parts of the host's memory or of the machine itself, and for devices made of other
// disks.
bool is_disk_name(const std::string& name) {
  constexpr std::string_view kOther[] = {"loop", "ram", "zram", "dm-", "md", "sr", "fd"};
  return std::none_of(std::begin(kOther), std::end(kOther),
                      [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

HostReader::HostReader(const HostSamplerOptions& options)
    : block_devices_(options.block_devices),
      stat_(options.cpu ? options.proc + "/stat" : ""),
      meminfo_(options.memory ? options.proc + "/meminfo" : ""),
      diskstats_(options.disk ? options.proc + "/diskstats" : ""),
      net_dev_(options.network ? options.proc + "/net/dev" : ""),
      self_(options.process ? options.proc + "/self/stat" : ""),
      read_gpus_(options.gpu ? nvml_reader(options.nvml) : nullptr),
      ticks_per_second_(static_cast<double>(sysconf(_SC_CLK_TCK))),
      page_bytes_(static_cast<double>(sysconf(_SC_PAGESIZE))) {}

std::vector<std::string> HostReader::missing() const {
  std::vector<std::string> paths;
  for (const ProcFile* const file : {&stat_, &meminfo_, &diskstats_, &net_dev_, &self_})
    if (!file->path().empty() && !file->is_open()) paths.push_back(file->path());
  return paths;
}

void HostReader::read(std::int64_t now_ns, const HostSink& sink) {
  const double seconds = last_ns_ ? static_cast<double>(now_ns - *last_ns_) / 1e9 : 0;
  read_cpu(sink);
  read_memory(sink);
  read_disks(seconds, sink);
  read_network(seconds, sink);
  read_process(seconds, sink);
  if (read_gpus_) read_gpus_(sink);
  last_ns_ = now_ns;
}

void HostReader::read_cpu(const HostSink& sink) {
  const std::optional<CpuTimes> now = parse_cpu_times(stat_.read());
  const std::optional<CpuTimes> before = std::exchange(cpu_, now);
  if (!now || !before || now->total <= before->total) return;
  const double total = static_cast<double>(now->total - before->total);
  const double busy = rate(now->busy, before->busy, 1);
  sink({"cpu", "cpu", {{"cpu_percent", std::min(100.0, 100 * busy / total)}}});
}

void HostReader::read_memory(const HostSink& sink) {
  const std::optional<HostMemory> memory = parse_meminfo(meminfo_.read());
  if (!memory) return;
  const auto gb = [](std::uint64_t whole, std::uint64_t part) {
    return static_cast<double>(whole > part ? whole - part : 0) / kGb;
  };
  sink({"memory/virtual",
        "memory",
        {{"used_gb", gb(memory->total, memory->available)},
         {"available_gb", gb(memory->available, 0)}}});
  if (memory->swap_total > 0)
    sink({"memory/swap",
          "memory",
          {{"used_gb", gb(memory->swap_total, memory->swap_free)},
           {"free_gb", gb(memory->swap_free, 0)}}});
}

// Partitions have no folder in /sys/block.
bool HostReader::is_whole_disk(const std::string& device) {
  const auto known = whole_disks_.find(device);
  if (known != whole_disks_.end()) return known->second;
  std::string folder = device;
  std::replace(folder.begin(), folder.end(), '/', '!');  // the kernel does so: cciss/c0d0
  const bool is_whole =
      is_disk_name(device) && access((block_devices_ + "/" + folder).c_str(), F_OK) == 0;
  whole_disks_.emplace(device, is_whole);
  return is_whole;
}

void HostReader::emit_if_busy(const HostCounter& counter, const HostSink& sink) {
  const bool is_busy = std::any_of(counter.values.begin(), counter.values.end(),
                                   [](const auto& value) { return value.second != 0; });
  bool& was_busy = busy_[std::string(counter.name)];
  if (is_busy || was_busy) sink(counter);
  was_busy = is_busy;
}

void HostReader::read_disks(double seconds, const HostSink& sink) {
  for (const DiskCounters& now : parse_diskstats(diskstats_.read())) {
    if (!is_whole_disk(now.device)) continue;
    const auto [place, is_new] = disks_.try_emplace(now.device);
    const DiskCounters before = std::exchange(place->second, now);
    if (is_new || seconds <= 0) continue;
    const std::string name = "disk/" + now.device;
    emit_if_busy(
        {name,
         "disk",
         {{"read_mb_per_s", rate(now.read_bytes, before.read_bytes, seconds * kMb)},
          {"written_mb_per_s", rate(now.written_bytes, before.written_bytes, seconds * kMb)}}},
        sink);
    emit_if_busy({name + "/ops",
                  "disk",
                  {{"reads_per_s", rate(now.reads, before.reads, seconds)},
                   {"writes_per_s", rate(now.writes, before.writes, seconds)}}},
                 sink);
    const double busy = 100 * rate(now.busy_ms, before.busy_ms, seconds * 1000);
    emit_if_busy({name + "/busy", "disk", {{"busy_percent", std::min(100.0, busy)}}}, sink);
  }
}

void HostReader::read_network(double seconds, const HostSink& sink) {
  for (const NicCounters& now : parse_net_dev(net_dev_.read())) {
    const auto [place, is_new] = nics_.try_emplace(now.nic);
    const NicCounters before = std::exchange(place->second, now);
    if (is_new || seconds <= 0) continue;
    emit_if_busy(
        {"network/" + now.nic,
         "net",
         {{"sent_mb_per_s", rate(now.sent_bytes, before.sent_bytes, seconds * kMb)},
          {"received_mb_per_s", rate(now.received_bytes, before.received_bytes, seconds * kMb)}}},
        sink);
  }
}

void HostReader::read_process(double seconds, const HostSink& sink) {
  const std::optional<ProcessStat> process = parse_process_stat(self_.read());
  if (!process) return;
  const std::optional<std::uint64_t> before = std::exchange(process_ticks_, process->cpu_ticks);
  if (before && seconds > 0)
    sink({"cpu/process",
          "cpu",
          {{"cpu_percent", 100 * rate(process->cpu_ticks, *before, seconds * ticks_per_second_)}}});
  sink({"memory/rss",
        "memory",
        {{"rss_mb", static_cast<double>(process->rss_pages) * page_bytes_ / kMb}}});
  sink({"memory/vms", "memory", {{"vms_mb", static_cast<double>(process->vms_bytes) / kMb}}});
}

HostSampler::HostSampler(const HostSamplerOptions& options, HostSink sink)
    : interval_ns_(options.interval_ns),
      reader_(options),
      sink_(std::move(sink)),
      missing_(reader_.missing()),
      process_(getpid()),
      stop_(std::make_unique<Stop>()) {
  constexpr std::int64_t kLeastInterval = 1'000'000;
  if (interval_ns_ < kLeastInterval)
    throw std::invalid_argument(
        fmt::format("the host cannot be sampled every {} ns; 1 ms is the least", interval_ns_));
  thread_ = start_quiet_thread("host-sampler", [this] { run(); });
}

HostSampler::~HostSampler() {
  // In the child of a fork() there is no thread to wait for.
  if (getpid() != process_) {
    thread_.detach();
    keep_forever(stop_.release());  // destroying it would wait for the thread, too
    return;
  }
  {
    const std::lock_guard lock(stop_->mutex);
    stop_->is_wanted = true;
  }
  stop_->wake.notify_all();
  thread_.join();
}

void HostSampler::run() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  try {
    bool is_last = false;
    while (!is_last) {
      {
        const std::lock_guard lock(stop_->mutex);
        is_last = stop_->is_wanted;
      }
      const auto now = Clock::now();
      reader_.read(std::chrono::nanoseconds(now.time_since_epoch()).count(), sink_);
      const std::int64_t past = std::chrono::nanoseconds(Clock::now() - start).count();
      const auto next = start + std::chrono::nanoseconds((past / interval_ns_ + 1) * interval_ns_);
      std::unique_lock lock(stop_->mutex);
      if (!is_last) stop_->wake.wait_until(lock, next, [this] { return stop_->is_wanted; });
    }
  } catch (...) {
    // Samples are a by-product: the run goes on without them.
    return;
  }
}

void record_counter(const HostCounter& counter) {
  std::vector<std::string> keys;
  std::vector<double> values;
  for (const auto& [key, value] : counter.values) {
    keys.emplace_back(key);
    values.push_back(value);
  }
  Counter(std::string(counter.name), std::string(counter.category), keys)
      .record_all(values.data(), values.size());
}

}  // namespace traceloom::record

using namespace traceloom::record;

struct traceloom_host : HostSampler {
  explicit traceloom_host(const HostSamplerOptions& options)
      : HostSampler(options, record_counter) {}
};

int traceloom_host_share(traceloom_host_options* options, const traceloom_options* place) {
  if (options == nullptr || place == nullptr) return 0;
  return guarded([&] {
    traceloom_host_options all = complete(
        options, traceloom_host_options TRACELOOM_HOST_OPTIONS_INIT, "traceloom_host_options");
    const RunPlace of_this = known_place(given_place(complete(place)));
    const int first_of_node = of_this.local_rank <= 0 ? 1 : 0;
    all.cpu = all.memory = all.disk = all.network = all.gpu = first_of_node;
    all.process = 1;
    give_back(all, *options);
  });
}

traceloom_host* traceloom_host_start(const traceloom_host_options* options) {
  return made([&] {
    const traceloom_host_options from = complete(
        options, traceloom_host_options TRACELOOM_HOST_OPTIONS_INIT, "traceloom_host_options");
    HostSamplerOptions to;
    to.interval_ns = from.interval_ns;
    to.cpu = from.cpu != 0;
    to.memory = from.memory != 0;
    to.disk = from.disk != 0;
    to.network = from.network != 0;
    to.gpu = from.gpu != 0;
    to.process = from.process != 0;
    return new traceloom_host(to);
  });
}

const char* traceloom_host_missing(const traceloom_host* host, size_t i) {
  return host == nullptr || i >= host->missing().size() ? nullptr : host->missing()[i].c_str();
}

int traceloom_host_stop(traceloom_host* host) {
  return guarded([&] { const std::unique_ptr<traceloom_host> owned(host); });
}
