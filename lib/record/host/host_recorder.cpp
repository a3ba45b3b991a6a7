#include "record/host/host_recorder.h"

#include <memory>
#include <mutex>

namespace traceloom::record {

void CounterTable::record(const HostCounter& counter) {
  auto found = counters_.find(counter.name);
  if (found == counters_.end()) {
    std::vector<std::string> keys;
    keys.reserve(counter.count);
    for (std::size_t i = 0; i < counter.count; ++i) keys.emplace_back(counter.keys[i]);
    found = counters_
                .try_emplace(std::string(counter.name), std::string(counter.name),
                             std::string(counter.category), keys)
                .first;
  }
  found->second.record_all(counter.values.data(), counter.count);
}

std::function<void(const MemorySnapshot&)> memory_counters() {
  struct Shared {
    std::mutex mutex;  // scopes may be in several threads
    CounterTable table;
  };
  return [shared = std::make_shared<Shared>()](const MemorySnapshot& snapshot) {
    constexpr double kMb = 1e6;
    const std::lock_guard lock(shared->mutex);
    const auto record = [&](std::string_view name, std::string_view key, double value) {
      shared->table.record({name, "memory", {key, {}}, {value, 0}, 1});
    };
    record("memory/rss", "rss_mb", static_cast<double>(snapshot.rss) / kMb);
    record("memory/vms", "vms_mb", static_cast<double>(snapshot.vms) / kMb);
    for (const auto& [name, bytes] : snapshot.bytes)
      record("memory/bytes/" + name, "bytes", static_cast<double>(bytes));
  };
}

}  // namespace traceloom::record
