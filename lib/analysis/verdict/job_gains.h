// JobGains: what the whole job would gain, by replay, where its traces show all of it.
//
//   const JobGains& job = find_job_gains(run, "nvjet_mlp_backward");
//   if (job.is_known) use(job.loader_ns, job.oddest);
#pragma once

#include "analysis/replay/what_if.h"
#include "run/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

struct JobGains {
  // False for a single rank, without devices, if not all ranks, partners and launches are known,
  // and if the replay of the recorded times is off by more than 2 %, or has no reason for more than
  // 2 % of the step.
  bool is_known = false;
  // Of a mean step.
  std::int64_t step_ns = 0;
  std::int64_t loader_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t launch_ns = 0;
  std::int64_t kernel_ns = 0;       // without that kernel
  std::optional<Gain> oddest = {};  // the rank, stage, link or group that gains most
};

JobGains find_job_gains(const Run& run, const std::string& kernel);

// Returns "rank 5", "stage 3", "the link of ranks 2 and 4", "the group of ranks 6 and 7".
std::string odd_words(const Repair& repair);

}  // namespace traceloom
