// These tests check which process of the run a session belongs to.
#include "record/names/session_place.h"

#include "record/host_recorder.h"
#include "record/recorded.h"
#include "record/traceloom.h"
#include "support/child_process.h"

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <utility>

using namespace traceloom;
using namespace traceloom::record;

namespace {

using LauncherVariables = std::map<std::string, std::string>;

const LauncherVariables kTorchrunOfRank3{{"RANK", "3"},
                                         {"LOCAL_RANK", "1"},
                                         {"WORLD_SIZE", "4"},
                                         {"GROUP_RANK", "1"},
                                         {"LOCAL_WORLD_SIZE", "2"}};
const LauncherVariables kSlurmOfRank3{
    {"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"},
    {"SLURM_NODEID", "1"}, {"SLURM_NTASKS", "4"},  {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}};
const LauncherVariables kOpenMpiOfRank3{{"OMPI_COMM_WORLD_RANK", "3"},
                                        {"OMPI_COMM_WORLD_SIZE", "4"},
                                        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
const LauncherVariables kMpichOfRank3{
    {"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};

void set_all(const LauncherVariables& variables) {
  for (const char* const name : {"RANK", "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID", "SLURM_PROCID"})
    unsetenv(name);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  setenv("TRACELOOM_RUN_NAME", "run7", 1);
}

constexpr char kFolder[] = "{run_name}/{world_size}ranks/node{node_rank}";

SessionOptions settled_from(const Options& options) {
  detail::OptionsForC given(options);  // what it points to is read until it is settled
  SessionOptions settled(&given.get());
  settled.settle();
  return settled;
}

}  // namespace

TEST_CASE("session: rank, sizes and node come from the launcher, in C++ and C") {
  for (const auto& [launcher, variables] :
       {std::pair("torchrun", kTorchrunOfRank3), std::pair("Slurm", kSlurmOfRank3),
        std::pair("Open MPI", kOpenMpiOfRank3), std::pair("MPICH", kMpichOfRank3)}) {
    for (const bool is_c : {false, true}) {
      CAPTURE(launcher);
      CAPTURE(is_c);
      const TemporaryFolder folder;
      CHECK(run_child([&, &variables = variables] {
              set_all(variables);
              const std::string path = folder.path(kFolder);
              if (is_c) {
                traceloom_options options = TRACELOOM_OPTIONS_INIT;
                options.folder = path.c_str();
                if (traceloom_close(traceloom_open(&options)) != 0) _exit(1);
              } else {
                Options options;
                options.folder = path;
                Session(std::move(options)).close();
              }
            }) == 0);
      const std::string trace = folder.path("run7/4ranks/node1/ep0-ba0-rank3.json");
      REQUIRE(std::filesystem::exists(trace));
      const Events events = Events::of_file(trace);
      CHECK(events.of("global_rank", "M").with("\"pid\":3,").with("{\"value\":3}").size() == 1);
    }
  }
}

TEST_CASE("session: what the program says itself stands against the launcher") {
  CHECK(run_child([] {
          set_all(kTorchrunOfRank3);
          Options options;
          // A rank of another numbering, to which nothing of the launcher belongs.
          options.rank = 7;
          options.node_rank = 2;
          options.folder = "r{rank}-n{node_rank}-l{local_rank}-{local_world_size}";
          const SessionOptions settled = settled_from(options);
          if (settled.rank != 7 || settled.node_rank != 2 || settled.local_rank != 0) _exit(1);
          if (settled.world_size != 0 || settled.local_world_size != 0) _exit(2);
          if (settled.folder != std::string("r7-n2-l0-1")) _exit(3);
          options.rank = 3;  // the launcher's
          const SessionOptions same = settled_from(options);
          if (same.world_size != 4 || same.local_rank != 1 || same.node_rank != 2) _exit(4);
          options.world_size = 0;
          if (settled_from(options).world_size != 0) _exit(5);
        }) == 0);
}

// The writer's thread must not read the environment either: another thread may change it.
TEST_CASE("session: what the environment says after it was opened changes no name") {
  const TemporaryFolder folder;
  CHECK(run_child([&] {
          set_all(kTorchrunOfRank3);
          Options options;
          options.folder = folder.path();
          options.name_template = "{run_name}-rank{rank}.json";
          Session session(options);
          setenv("RANK", "none", 1);
          setenv("TRACELOOM_RUN_NAME", "other", 1);
          if (!session.close().last_error.empty()) _exit(1);
        }) == 0);
  CHECK(files_in(folder.path()) == std::vector<std::string>{"run7-rank3.json"});
}

TEST_CASE("session: one process of a node samples the machine, as the launcher says") {
  CHECK(run_child([] {
          set_all(kTorchrunOfRank3);
          if (host_options_for({}).cpu != 0) _exit(1);
          setenv("LOCAL_RANK", "0", 1);
          if (host_options_for({}).cpu != 1) _exit(2);
        }) == 0);
}

TEST_CASE("session: without a launcher it is rank 0, and says nothing of how many there are") {
  const TemporaryFolder folder;
  CHECK(run_child([&] {
          set_all({});
          Options options;
          options.folder = folder.path("{rank}of{world_size}");
          const SessionOptions settled = settled_from(options);
          if (settled.rank != 0 || settled.world_size != 0 || settled.node_rank != 0) _exit(1);
          Session(std::move(options)).close();
        }) == 0);
  const Events events = Events::of_file(folder.path("0of1/ep0-ba0-rank0.json"));
  CHECK(events.count("global_rank", "M") == 1);
  // Ranks that do not know of each other would all stamp a sync of their own.
  CHECK(events.count("clock_sync_timestamp_us", "M") == 0);
}

TEST_CASE("session: a place that cannot be is refused") {
  const auto problem = [](const LauncherVariables& variables, const Options& options) {
    const TemporaryFolder folder;
    run_child([&] {
      set_all(variables);
      try {
        const Session session(options);
      } catch (const std::runtime_error& error) {
        static_cast<void>(folder.write("problem", error.what()));
      }
    });
    return read_file(folder.path("problem"));
  };
  CHECK(problem({{"RANK", "three"}}, {}) ==
        "environment variable RANK is 'three', which is no rank or number of processes");
  Options options;
  options.rank = 4;
  options.world_size = 4;
  CHECK(problem({}, options) == "rank 4 is not from 0 to 3 (world size 4)");
}
