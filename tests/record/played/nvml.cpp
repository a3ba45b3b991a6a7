// A library that plays NVIDIA's (NVML) for tests of the host's sampler.
#include <cstdint>

namespace {

// GPU i is the i-th of these.
struct Gpu {
  unsigned number = 0;
};
Gpu gpus[3] = {{0}, {1}, {2}};

unsigned number_of(void* gpu) {
  return static_cast<Gpu*>(gpu)->number;
}
constexpr int kNotSupported = 3;
constexpr int kGpuIsLost = 15;

}  // namespace

// Names as the library has them. NOLINTBEGIN(readability-identifier-naming)
extern "C" {

__attribute__((visibility("default"))) int nvmlInit_v2() {
  return 0;
}
__attribute__((visibility("default"))) int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return 0;
}
__attribute__((visibility("default"))) int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** gpu) {
  *gpu = &gpus[i];
  return i == 2 ? kGpuIsLost : 0;
}
__attribute__((visibility("default"))) int nvmlDeviceGetMemoryInfo(void* gpu,
                                                                   unsigned long long* memory) {
  memory[0] = 80'000'000'000;  // total, free, used
  memory[2] = number_of(gpu) == 0 ? 30'000'000'000 : 1'000'000'000;
  memory[1] = memory[0] - memory[2];
  return 0;
}
__attribute__((visibility("default"))) int nvmlDeviceGetUtilizationRates(void* gpu, unsigned* use) {
  use[0] = number_of(gpu) == 0 ? 97 : 0;
  use[1] = number_of(gpu) == 0 ? 41 : 0;
  return 0;
}
__attribute__((visibility("default"))) int nvmlDeviceGetPowerUsage(void* gpu, unsigned* power) {
  *power = 612'500;
  return number_of(gpu) == 0 ? 0 : kNotSupported;
}
__attribute__((visibility("default"))) int nvmlDeviceGetClockInfo(void* gpu, int which,
                                                                  unsigned* clock) {
  *clock = which == 1 ? 1980 : 2619;
  return number_of(gpu) == 0 ? 0 : kNotSupported;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
