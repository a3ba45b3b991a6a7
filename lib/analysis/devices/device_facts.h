// DeviceFacts: facts about a run that keep advice from recommending what the run already does.
//
//   const DeviceFacts facts = find_device_facts(run, basis.ranks);
//   if (facts.has_graphs && !facts.replays_graphs && !facts.captures_graphs) advise("CUDA graphs");
#pragma once

#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

struct DeviceFacts {
  bool has_graphs = false;       // a call of CUDA or HIP, which have graphs
  bool replays_graphs = false;   // a call launches a graph
  bool captures_graphs = false;  // calls or functions capture one
  bool has_torch = false;        // operators of torch
  bool compiles = false;         // torch.compile is in use
  std::int64_t kernel_ns = 0;    // time of kernels that compute
  std::int64_t fp8_ns = 0;       // time of those whose names mean numbers of at most 8 bits
  // Time of kernels that multiply, convolve or attend: with tensor cores, and without, by their
  // names.
  std::int64_t tensor_ns = 0;
  std::int64_t plain_ns = 0;
  std::int64_t eligible_ns = 0;  // time of these, and of those whose names do not show it
};

// Looks at these ranks (indices into Run::ranks), and at the names of kernels only if `kernels`.
DeviceFacts find_device_facts(const Run& run, const std::vector<std::size_t>& ranks, bool kernels);

// Whether names tell of a backward pass or an optimizer: else there are no gradients.
bool is_training(const Run& run);

}  // namespace traceloom
