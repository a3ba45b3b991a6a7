#include "record/names/run_place.h"

#include "base/ascii.h"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace traceloom::record {
namespace {

std::int64_t read_number(std::string_view name, std::string_view text) {
  const auto number = whole_number<std::int64_t>(text);
  if (!number || *number < 0)
    throw std::invalid_argument(fmt::format(
        "environment variable {} is '{}', which is no rank or number of processes", name, text));
  return *number;
}

// Returns the number in the first of `names` that is set.
std::int64_t number_of(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* const name : names)
    if (const std::optional<std::string> text = environment(name)) return read_number(name, *text);
  return kFromEnvironment;
}

// Returns 3 for "4(x2),3" on node 2: the text says four tasks on each of two nodes, and three on
// the next.
std::int64_t tasks_on_node(const char* name, std::string_view list, std::int64_t node) {
  const std::string_view whole = list;
  while (!list.empty()) {
    std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(part.size() + 1, list.size()));
    std::int64_t nodes = 1;
    const std::size_t times = part.find("(x");
    const std::int64_t tasks = read_number(name, part.substr(0, times));
    if (times != std::string_view::npos && part.ends_with(')'))
      nodes = read_number(name, part.substr(times + 2, part.size() - times - 3));
    else if (times != std::string_view::npos)
      read_number(name, whole);  // throws, and says what is wrong with it
    if (node < nodes) return tasks;
    node -= nodes;
  }
  return kFromEnvironment;
}

RunPlace torch_place(const Environment& environment) {
  return {.rank = number_of(environment, {"RANK"}),
          .local_rank = number_of(environment, {"LOCAL_RANK"}),
          .world_size = number_of(environment, {"WORLD_SIZE"}),
          .local_world_size = number_of(environment, {"LOCAL_WORLD_SIZE"}),
          .node_rank = number_of(environment, {"NODE_RANK", "GROUP_RANK"})};
}

// Counts the node from the rank, if ranks fill node by node.
std::int64_t counted_node(const RunPlace& place) {
  const bool fills =
      place.local_world_size > 0 && place.rank % place.local_world_size == place.local_rank;
  return fills ? place.rank / place.local_world_size : kFromEnvironment;
}

RunPlace open_mpi_place(const Environment& environment) {
  RunPlace place{.rank = number_of(environment, {"OMPI_COMM_WORLD_RANK"}),
                 .local_rank = number_of(environment, {"OMPI_COMM_WORLD_LOCAL_RANK"}),
                 .world_size = number_of(environment, {"OMPI_COMM_WORLD_SIZE"}),
                 .local_world_size = number_of(environment, {"OMPI_COMM_WORLD_LOCAL_SIZE"}),
                 .node_rank = kFromEnvironment};
  // OMPI_COMM_WORLD_NODE_RANK is a rank among the processes of the node, not that of the node.
  place.node_rank = counted_node(place);
  return place;
}

// Reads the variables of the mpiexec of MPICH, Intel MPI and MVAPICH. Slurm sets PMI_RANK as well,
// and says more itself.
RunPlace mpich_place(const Environment& environment) {
  if (!environment("MPI_LOCALRANKID")) return {};
  RunPlace place{.rank = number_of(environment, {"PMI_RANK"}),
                 .local_rank = number_of(environment, {"MPI_LOCALRANKID"}),
                 .world_size = number_of(environment, {"PMI_SIZE"}),
                 .local_world_size = number_of(environment, {"MPI_LOCALNRANKS"}),
                 .node_rank = kFromEnvironment};
  place.node_rank = counted_node(place);
  return place;
}

RunPlace slurm_place(const Environment& environment) {
  RunPlace place{.rank = number_of(environment, {"SLURM_PROCID"}),
                 .local_rank = number_of(environment, {"SLURM_LOCALID"}),
                 .world_size = number_of(environment, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}),
                 .local_world_size = kFromEnvironment,
                 .node_rank = number_of(environment, {"SLURM_NODEID"})};
  for (const char* const name :
       {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE", "SLURM_NTASKS_PER_NODE"}) {
    const std::optional<std::string> tasks = environment(name);
    if (!tasks) continue;
    place.local_world_size =
        tasks_on_node(name, *tasks, std::max<std::int64_t>(0, place.node_rank));
    break;
  }
  return place;
}

RunPlace launched_place(const Environment& environment) {
  for (const auto find : {torch_place, open_mpi_place, mpich_place, slurm_place}) {
    const RunPlace place = find(environment);
    if (place.rank != kFromEnvironment) return place;
  }
  return {};
}

std::int64_t known(std::int64_t given, std::int64_t otherwise) {
  return given != kFromEnvironment ? given : otherwise;
}

void check_not_negative(std::string_view what, std::int64_t rank) {
  if (rank < 0) throw std::invalid_argument(fmt::format("{} {} is below 0", what, rank));
}

void check_below(std::string_view what, std::int64_t rank, std::string_view size_name,
                 std::int64_t size) {
  check_not_negative(what, rank);
  if (rank >= size)
    throw std::invalid_argument(
        fmt::format("{} {} is not from 0 to {} ({} {})", what, rank, size - 1, size_name, size));
}

}  // namespace

std::optional<std::string> process_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

RunPlace known_place(const RunPlace& given, const Environment& environment) {
  RunPlace found = launched_place(environment);
  // A rank other than the launcher's belongs to another numbering, so nothing else of the
  // launcher's fits it.
  if (given.rank != kFromEnvironment && given.rank != found.rank) found = {};
  return {.rank = known(given.rank, found.rank),
          .local_rank = known(given.local_rank, found.local_rank),
          .world_size = known(given.world_size, found.world_size),
          .local_world_size = known(given.local_world_size, found.local_world_size),
          .node_rank = known(given.node_rank, found.node_rank)};
}

RunPlace find_place(const RunPlace& given, const Environment& environment) {
  RunPlace place = known_place(given, environment);
  place.rank = known(place.rank, 0);
  place.world_size = known(place.world_size, place.rank + 1);
  place.local_rank = known(place.local_rank, 0);
  place.local_world_size = known(place.local_world_size, place.local_rank + 1);
  place.node_rank = known(place.node_rank, 0);
  check_below("rank", place.rank, "world size", place.world_size);
  check_below("local rank", place.local_rank, "local world size", place.local_world_size);
  check_not_negative("node rank", place.node_rank);
  return place;
}

std::string default_run_name(const Environment& environment) {
  for (const char* const name : {"TRACELOOM_RUN_NAME", "RUN_NAME"})
    if (const std::optional<std::string> run = environment(name); run && !run->empty()) return *run;
  if (const std::optional<std::string> job = environment("SLURM_JOB_ID"); job && !job->empty())
    return "slurm-" + *job;
  // torchrun says "none" if no id was given.
  const std::optional<std::string> id = environment("TORCHELASTIC_RUN_ID");
  return id && !id->empty() && *id != "none" ? *id : "run";
}

}  // namespace traceloom::record
