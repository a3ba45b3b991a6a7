// Mesh: how the ranks of a job share its work: tensor, context, expert and data parallel groups,
// and the stages of a pipeline.
//
//   const Mesh& mesh = find_mesh(run);
//   if (const MeshPlace* place = mesh.place_of(run.ranks[i].rank)) use(place->stage);
//
// The rows of a coarse time line name the stage of each rank. Elsewhere, what a group is for comes
// from the first of these:
// 1. the sizes that a user gives (Run::mesh_sizes). Ranks are then numbered as Megatron does:
//    tensor parallel ranks are neighbours, then context, then data parallel ones, then stages;
//    expert parallel ranks are neighbours among the data parallel ones
// 2. the description of the group, in the header of a file or in an event
// 3. what happens in it: messages (pipeline), all-to-alls (expert), collectives between the kernels
//    of a layer (tensor), few and large ones behind the backward pass (data), one element among all
//    ranks (world)
// A group is known by its name, its description and its ranks together. A list of ranks that is cut
// short in events is completed from a header.
#pragma once

#include "analysis/collectives/collectives.h"
#include "base/by_enum.h"
#include "run/run.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

enum class Axis : std::uint8_t {
  tensor,
  context,
  expert,
  data,
  pipeline,
  embedding,
  world,
  other,
  count_
};
constexpr std::string_view to_string(Axis axis) {
  return name_in({"tp", "cp", "ep", "dp", "pp", "embd", "world", "other"}, axis);
}
static_assert(to_string(Axis::other) == "other");

// The place of a rank; 0 along axes that the job does not have.
struct MeshPlace {
  std::int64_t tensor = 0;
  std::int64_t context = 0;
  std::int64_t expert = 0;  // a part of `data`
  std::int64_t data = 0;
  std::int64_t stage = 0;

  friend auto operator<=>(const MeshPlace&, const MeshPlace&) = default;
};

struct JobGroup {
  Axis axis = Axis::other;
  std::string name;
  std::string description;
  std::vector<std::int64_t> ranks;  // ascending
};

struct Mesh {
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t expert = 1;
  std::int64_t data = 1;
  std::int64_t stages = 1;
  std::int64_t world = 1;
  std::map<std::int64_t, MeshPlace> places;  // of all ranks of the job, recorded or not
  std::vector<JobGroup> groups;              // by axis, then by ranks
  std::vector<std::int64_t> missing;         // ranks of the job without a file
  std::string source;               // what the axes are known from, in words; empty: no mesh
  std::vector<std::string> doubts;  // why it is no product of its axes, in sentences
  std::map<ProcessGroup, std::size_t> numbers;  // of the groups that events name, in `groups`

  const MeshPlace* place_of(std::int64_t rank) const {
    const auto found = places.find(rank);
    return found == places.end() ? nullptr : &found->second;
  }
  // Returns the stage of a rank; one without a place is in the first.
  std::int64_t stage_of(std::int64_t rank) const {
    const MeshPlace* const place = place_of(rank);
    return place == nullptr ? 0 : place->stage;
  }
  // Returns a group as events name it, or nullptr.
  const JobGroup* group_of(const ProcessGroup& group) const {
    const auto found = numbers.find(group);
    return found == numbers.end() ? nullptr : &groups[found->second];
  }
  // Returns the axis of a group as events name it.
  Axis axis_of(const ProcessGroup& group) const {
    const JobGroup* const found = group_of(group);
    return found == nullptr ? Axis::other : found->axis;
  }
  // True if ranks do different parts of a model, so that they are not all alike.
  bool splits_model() const { return stages > 1 || tensor > 1 || context > 1 || expert > 1; }
};

// The run keeps it (RunMemo). Throws Error if the sizes that the user gives do not make the world.
const Mesh& find_mesh(const Run& run);

// find_nodes: the machine of each rank, as far as files name it.
std::map<std::int64_t, std::string> find_nodes(const Run& run);

// find_job_groups: the groups of a job, with the axis of each as far as its description and what
// happens in it show it. Mesh is made of them.
//
//   JobGroups found = find_job_groups(run);
//   if (found.groups[i].axis == Axis::tensor) use(found.groups[i].ranks);

struct DescribedGroup : JobGroup {
  bool defines = true;         // the places along its axis follow from it
  bool spans_context = false;  // its ranks also differ along the context axis
  bool is_described = true;    // false: its axis is known from what happens in it
};

struct JobGroups {
  std::int64_t world = 1;
  std::vector<DescribedGroup> groups;
  std::map<ProcessGroup, std::size_t> numbers;  // of the groups that events name
};

JobGroups find_job_groups(const Run& run);

}  // namespace traceloom
