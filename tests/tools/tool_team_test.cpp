#include "common/run_tool.h"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <string>

using namespace traceloom;

namespace {

using Environment = std::map<std::string, const char*>;

std::function<const char*(const char*)> reader_of(const Environment& environment) {
  return [&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second;
  };
}

int launched(const Environment& environment) {
  return launched_processes(reader_of(environment));
}

bool apart(const Environment& environment) {
  return lacks_mpi(reader_of(environment));
}

}  // namespace

TEST_CASE("tool team: launchers are known by the environment of their processes") {
  CHECK(launched({}) == 1);
  CHECK(launched({{"OMPI_COMM_WORLD_SIZE", "4"}}) == 4);
  CHECK(launched({{"PMI_SIZE", "2"}}) == 2);
  CHECK(launched({{"SLURM_STEP_NUM_TASKS", "8"}}) == 8);
  CHECK(launched({{"OMPI_COMM_WORLD_SIZE", "1"}}) == 1);
  CHECK(launched({{"PMI_SIZE", "many"}}) == 1);
  // A batch script runs once, however many tasks its job may start.
  CHECK(launched({{"SLURM_NTASKS", "8"}}) == 1);
  CHECK(launched({{"OMPI_COMM_WORLD_SIZE", "4"}, {"TRACELOOM_ALONE", "1"}}) == 1);
  // A shell that mpirun started alone has started four by srun.
  CHECK(launched({{"OMPI_COMM_WORLD_SIZE", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}}) == 4);
  CHECK(launched({{"OMPI_COMM_WORLD_SIZE", ""}, {"PMI_SIZE", "2"}}) == 2);
  CHECK(launched({{"PMI_SIZE", "8"}, {"SLURM_STEP_NUM_TASKS", "4"}}) == 8);
}

TEST_CASE("tool team: processes of srun that cannot find each other are known") {
  CHECK(apart({{"SLURM_STEP_NUM_TASKS", "2"}}));
  CHECK_FALSE(apart({}));
  CHECK_FALSE(apart({{"SLURM_STEP_NUM_TASKS", "1"}}));
  CHECK_FALSE(apart({{"SLURM_STEP_NUM_TASKS", "2"}, {"TRACELOOM_ALONE", "1"}}));
  for (const char* const sign :
       {"SLURM_MPI_TYPE", "PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_SIZE", "PALS_RANKID"}) {
    CAPTURE(sign);
    CHECK_FALSE(apart({{"SLURM_STEP_NUM_TASKS", "2"}, {sign, "2"}}));
  }
}

TEST_CASE("tool team: a tool is alone before it joins one") {
  CHECK(tool_team().is_alone());
  CHECK(tool_team().is_first());
}
