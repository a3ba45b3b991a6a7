// The slow, obvious split of steps into roles: every microsecond is looked at by itself.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace traceloom::oracle {

// Times by role in the order of their claims: kernel, memcpy, memset, communication, runtime,
// dataloader, cpu, host code (there is none), other.
struct StepRoles {
  std::array<std::int64_t, 9> exclusive_ns{};
  std::array<std::int64_t, 9> raw_ns{};
};

// `trace` holds X events in whole microseconds with the categories of torch.profiler and steps
// ProfilerStep#N. No device work has a launch (there are no correlations).
std::vector<StepRoles> find_step_roles(const std::string& trace);

}  // namespace traceloom::oracle
