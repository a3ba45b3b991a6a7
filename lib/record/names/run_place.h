// RunPlace: which process of a distributed run this is, as its launcher says.
//
//   RunPlace place = find_place({});               // from RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID
//   RunPlace place = find_place({.rank = 3});      // what is given wins
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace traceloom::record {

inline constexpr std::int64_t kFromEnvironment = -1;

struct RunPlace {
  std::int64_t rank = kFromEnvironment;
  std::int64_t local_rank = kFromEnvironment;        // rank among the processes of its node
  std::int64_t world_size = kFromEnvironment;        // number of processes of the run
  std::int64_t local_world_size = kFromEnvironment;  // number of processes of the node
  std::int64_t node_rank = kFromEnvironment;
};

// Returns the value of an environment variable, or nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> process_environment(const char* name);

// Fills in what is not given. All numbers come from the first of these launchers that says a rank:
//
// 1. torchrun (RANK; Composer's and other launchers set the same),
// 2. Open MPI,
// 3. MPICH and its kin,
// 4. Slurm.
//
// This order is right, because each is also started by the next and then sees its variables. What
// none of them says is as in a run of one process: rank 0 of 1 on node 0. MPI does not say the
// node; it is counted from the ranks if they fill node by node.
//
// Throws std::invalid_argument that names the variable if one is no number, or if a rank is not
// below its world size.
RunPlace find_place(const RunPlace& given, const Environment& environment = process_environment);

// Does the same, but a number that is neither given nor said by a launcher stays kFromEnvironment:
// there may be other processes that this one does not know of.
RunPlace known_place(const RunPlace& given, const Environment& environment = process_environment);

// Returns a name that all processes of the run find by themselves: TRACELOOM_RUN_NAME, RUN_NAME
// (Composer's), the job of Slurm ("slurm-4711"), torchrun's --rdzv-id; else "run".
std::string default_run_name(const Environment& environment = process_environment);

}  // namespace traceloom::record
