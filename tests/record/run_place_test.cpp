#include "record/names/run_place.h"

#include <doctest/doctest.h>

#include <map>
#include <stdexcept>
#include <string>

using namespace traceloom;
using namespace traceloom::record;

namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

// Returns "rank/world_size local_rank/local_world_size node_rank".
std::string words(const RunPlace& place) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  return number(place.rank) + "/" + number(place.world_size) + " " + number(place.local_rank) +
         "/" + number(place.local_world_size) + " " + number(place.node_rank);
}

std::string place_of(const Variables& variables, const RunPlace& given = {}) {
  try {
    return words(find_place(given, environment_of(variables)));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

const Variables kSlurm{{"SLURM_PROCID", "5"},         {"SLURM_LOCALID", "1"},
                       {"SLURM_NTASKS", "7"},         {"SLURM_NODEID", "1"},
                       {"SLURM_JOB_ID", "4711"},      {"SLURM_TASKS_PER_NODE", "4,3"},
                       {"SLURM_STEP_NUM_TASKS", "7"}, {"SLURM_STEP_TASKS_PER_NODE", "4,3"}};

Variables with(Variables variables, const Variables& more) {
  variables.insert(more.begin(), more.end());
  return variables;
}

}  // namespace

TEST_CASE("run_place: a process without a launcher is rank 0 of 1") {
  CHECK(place_of({}) == "0/1 0/1 0");
}

TEST_CASE("run_place: torchrun, and Composer's launcher") {
  const Variables torchrun{{"RANK", "11"},
                           {"LOCAL_RANK", "3"},
                           {"WORLD_SIZE", "16"},
                           {"LOCAL_WORLD_SIZE", "8"},
                           {"GROUP_RANK", "1"}};
  CHECK(place_of(torchrun) == "11/16 3/8 1");
  CHECK(place_of(with(torchrun, {{"NODE_RANK", "4"}})) == "11/16 3/8 4");
}

TEST_CASE("run_place: Open MPI, whose NODE_RANK is not that of the node") {
  Variables mpi{{"OMPI_COMM_WORLD_RANK", "5"},
                {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                {"OMPI_COMM_WORLD_SIZE", "8"},
                {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                {"OMPI_COMM_WORLD_NODE_RANK", "1"}};
  CHECK(place_of(mpi) == "5/8 1/4 1");
  mpi["OMPI_COMM_WORLD_LOCAL_RANK"] = "2";  // ranks are dealt round to the nodes
  CHECK(place_of(mpi) == "5/8 2/4 0");
}

TEST_CASE("run_place: MPICH, whose ranks Slurm numbers as well where it starts them") {
  Variables mpich{{"PMI_RANK", "5"},
                  {"PMI_SIZE", "8"},
                  {"MPI_LOCALRANKID", "1"},
                  {"MPI_LOCALNRANKS", "4"},
                  {"SLURM_PROCID", "1"}};  // the number of mpiexec's own process on the node
  CHECK(place_of(mpich) == "5/8 1/4 1");
  Variables slurm = kSlurm;
  slurm["PMI_RANK"] = "5";
  CHECK(place_of(slurm) == "5/7 1/3 1");
}

TEST_CASE("run_place: Slurm, with nodes of several sizes") {
  CHECK(place_of(kSlurm) == "5/7 1/3 1");
  Variables many = kSlurm;
  many["SLURM_STEP_TASKS_PER_NODE"] = "2(x3),1";
  many["SLURM_NODEID"] = "2";
  CHECK(place_of(many) == "5/7 1/2 2");
  many["SLURM_STEP_TASKS_PER_NODE"] = "3(y3)";
  CHECK(place_of(many) ==
        "environment variable SLURM_STEP_TASKS_PER_NODE is '3(y3)', which is no rank or number of "
        "processes");
}

TEST_CASE("run_place: a launcher inside another one wins, and all comes from it") {
  const Variables mpi{{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
  CHECK(place_of(with(kSlurm, mpi)) == "2/4 0/1 0");
  CHECK(place_of(with(with(kSlurm, mpi), {{"RANK", "1"}, {"WORLD_SIZE", "2"}})) == "1/2 0/1 0");
}

TEST_CASE("run_place: what is given wins") {
  CHECK(place_of(kSlurm, {.world_size = 9, .node_rank = 3}) == "5/9 1/3 3");
  CHECK(place_of(kSlurm, {.rank = 2, .world_size = 4}) == "2/4 0/1 0");
  // The same rank, as MPI_Comm_rank() says, too.
  CHECK(place_of(kSlurm, {.rank = 5}) == "5/7 1/3 1");
  CHECK(place_of({}, {.rank = 3}) == "3/4 0/1 0");
}

TEST_CASE("run_place: refuses what cannot be") {
  CHECK(place_of({{"RANK", "two"}}) ==
        "environment variable RANK is 'two', which is no rank or number of processes");
  CHECK(place_of({{"RANK", "-1"}}) ==
        "environment variable RANK is '-1', which is no rank or number of processes");
  CHECK(place_of({{"RANK", "4"}, {"WORLD_SIZE", "4"}}) ==
        "rank 4 is not from 0 to 3 (world size 4)");
  CHECK(place_of({{"RANK", "1"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "1"}}) ==
        "local rank 1 is not from 0 to 0 (local world size 1)");
  CHECK(place_of({}, {.rank = -5}) == "rank -5 is below 0");
  CHECK(place_of({}, {.rank = 5, .local_rank = -3}) == "local rank -3 is below 0");
  CHECK(place_of({}, {.node_rank = -2}) == "node rank -2 is below 0");
}

TEST_CASE("run_place: a run has a name that all its processes find") {
  CHECK(default_run_name(environment_of({})) == "run");
  CHECK(default_run_name(environment_of({{"TORCHELASTIC_RUN_ID", "none"}})) == "run");
  CHECK(default_run_name(environment_of({{"TORCHELASTIC_RUN_ID", "job7"}})) == "job7");
  CHECK(default_run_name(environment_of(kSlurm)) == "slurm-4711");
  CHECK(default_run_name(environment_of(with(kSlurm, {{"RUN_NAME", "gpt"}}))) == "gpt");
  CHECK(default_run_name(environment_of({{"RUN_NAME", "gpt"}, {"TRACELOOM_RUN_NAME", "mine"}})) ==
        "mine");
}
