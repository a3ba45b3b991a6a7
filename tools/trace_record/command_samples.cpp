#include "trace_record/command_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <unistd.h>

namespace traceloom {
namespace {

// A build has thousands of processes, and each would be a row of the trace.
constexpr std::size_t kMostShown = 256;

std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

record::HostSamplerOptions host_only() {
  record::HostSamplerOptions options;
  options.process = false;  // trace-record itself does not matter
  return options;
}

}  // namespace

CommandSamples::CommandSamples(std::int64_t interval_ns)
    : interval_ns_(interval_ns), start_ns_(now_ns()), host_(host_only()), tree_(getpid()) {}

std::int64_t CommandSamples::ns_to_next() const {
  return interval_ns_ - (now_ns() - start_ns_) % interval_ns_;
}

void CommandSamples::take() {
  const std::int64_t now = now_ns();
  host_.read(now, [&](const record::HostCounter& counter) { table_.record(counter); });
  take_processes(now);
  is_first_ = false;
}

void CommandSamples::record(const std::string& name, std::string_view category,
                            std::string_view key, double value) {
  table_.record({name, category, {key, {}}, {value, 0}, 1});
}

void CommandSamples::take_processes(std::int64_t now_ns) {
  double cpu_percent = 0;
  double rss_mb = 0;
  for (auto& [name, is_there] : shown_) is_there = false;
  const std::vector<record::ProcessTree::Process>& processes = tree_.read(now_ns);
  for (const record::ProcessTree::Process& process : processes) {
    cpu_percent += process.cpu_percent.value_or(0);
    rss_mb += process.rss_mb;
    if (!process.is_new) show(process);
  }
  if (!is_first_) record("command/cpu", "cpu", "cpu_percent", cpu_percent);
  record("command/rss", "memory", "rss_mb", rss_mb);
  record("command/processes", "cpu", "count", static_cast<double>(processes.size()));
  peak_mb_ = std::max(peak_mb_, rss_mb);
  // The counters of processes that have ended get a last value of 0.
  std::erase_if(shown_, [&](const auto& entry) {
    if (entry.second) return false;
    record(entry.first + "/cpu", "cpu", "cpu_percent", 0);
    record(entry.first + "/rss", "memory", "rss_mb", 0);
    return true;
  });
}

void CommandSamples::show(const record::ProcessTree::Process& process) {
  std::string name = fmt::format("process/{} {}", process.pid, process.name);
  const auto known = shown_.find(name);
  if (known == shown_.end() && shown_.size() >= kMostShown) return;
  if (process.cpu_percent) record(name + "/cpu", "cpu", "cpu_percent", *process.cpu_percent);
  record(name + "/rss", "memory", "rss_mb", process.rss_mb);
  shown_[std::move(name)] = true;
}

}  // namespace traceloom
