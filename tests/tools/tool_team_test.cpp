#include "common/tool_team.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace traceloom;

namespace {

int launched(const std::map<std::string, const char*>& environment) {
  return launched_processes([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second;
  });
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
}

TEST_CASE("tool team: a tool is alone before it joins one") {
  CHECK(tool_team().is_alone());
  CHECK(tool_team().is_first());
}
