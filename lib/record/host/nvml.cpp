#include "record/host/host_sampler.h"

#include <dlfcn.h>

namespace traceloom::record {
namespace {

// What is used of the library; a call returns 0 on success.
struct Nvml {
  struct Memory {
    unsigned long long total, free, used;
  };
  struct Use {
    unsigned gpu, memory;
  };
  int (*init)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, void**) = nullptr;
  int (*memory)(void*, Memory*) = nullptr;
  int (*use)(void*, Use*) = nullptr;
  int (*power)(void*, unsigned* milliwatts) = nullptr;
  int (*clock)(void*, int which, unsigned* mhz) = nullptr;  // 1: SM, 2: memory
};

void read_gpu(const Nvml& nvml, void* gpu, const std::string& name, const HostSink& sink) {
  Nvml::Memory memory{};
  Nvml::Use use{};
  unsigned power = 0;
  unsigned sm = 0;
  unsigned of_memory = 0;
  const auto emit = [&](const char* what, std::vector<std::pair<std::string_view, double>> values) {
    sink({name + what, "gpu", std::move(values)});
  };
  if (nvml.memory(gpu, &memory) == 0)
    emit("/memory", {{"used_gb", static_cast<double>(memory.used) / 1e9},
                     {"free_gb", static_cast<double>(memory.free) / 1e9}});
  if (nvml.use(gpu, &use) == 0)
    emit("/busy", {{"busy_percent", use.gpu}, {"memory_percent", use.memory}});
  if (nvml.power(gpu, &power) == 0) emit("/power", {{"watts", power / 1e3}});
  if (nvml.clock(gpu, 1, &sm) == 0 && nvml.clock(gpu, 2, &of_memory) == 0)
    emit("/clock", {{"sm_mhz", sm}, {"memory_mhz", of_memory}});
}

}  // namespace

std::function<void(const HostSink&)> nvml_reader(const std::string& library) {
  void* const opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return {};
  bool has_all = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(opened, name));
    has_all &= function != nullptr;
  };
  Nvml nvml;
  find(nvml.init, "nvmlInit_v2");
  find(nvml.count, "nvmlDeviceGetCount_v2");
  find(nvml.handle, "nvmlDeviceGetHandleByIndex_v2");
  find(nvml.memory, "nvmlDeviceGetMemoryInfo");
  find(nvml.use, "nvmlDeviceGetUtilizationRates");
  find(nvml.power, "nvmlDeviceGetPowerUsage");
  find(nvml.clock, "nvmlDeviceGetClockInfo");
  unsigned count = 0;
  if (!has_all || nvml.init() != 0 || nvml.count(&count) != 0) return {};
  return [nvml, count](const HostSink& sink) {
    for (unsigned i = 0; i < count; ++i)
      if (void* gpu = nullptr; nvml.handle(i, &gpu) == 0)
        read_gpu(nvml, gpu, "gpu/" + std::to_string(i), sink);
  };
}

}  // namespace traceloom::record
