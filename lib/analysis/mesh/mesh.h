// Mesh: how the ranks of a job share its work: tensor, context, expert and data parallel groups, and
// the stages of a pipeline.
//
//   const Mesh& mesh = find_mesh(run);
//   if (const MeshPlace* place = mesh.place_of(run.ranks[i].rank)) use(place->stage);
//
// What a group is for comes from the first of these:
// 1. the sizes that a user gives (--mesh tp=2,pp=4)
// 2. the description of the group, in the header of a file or in an event
// 3. what happens in it: messages (pipeline), all-to-alls (expert), collectives between the kernels
//    of a layer (tensor), few and large ones behind the backward pass (data), one element among all
//    ranks (world)
// A group is known by its name, its description and its ranks together.
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

enum class Axis : std::uint8_t { tensor, context, expert, data, pipeline, embedding, world, other };
constexpr std::string_view to_string(Axis axis) {
  return name_in({"tp", "cp", "ep", "dp", "pp", "embd", "world", "other"}, axis);
}
static_assert(to_string(Axis::other) == "other");

// The place of a rank; 0 along axes that the job does not have.
struct MeshPlace {
  std::int64_t tensor = 0;
  std::int64_t context = 0;
  std::int64_t expert = 0;
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
  std::vector<std::int64_t> missing;         // ranks of the job without events
  std::string source;               // what the axes are known from, in words; empty: no mesh
  std::vector<std::string> doubts;  // why it is no product of its axes, in sentences

  const MeshPlace* place_of(std::int64_t rank) const {
    const auto found = places.find(rank);
    return found == places.end() ? nullptr : &found->second;
  }
  // The axis of a group as events name it.
  Axis axis_of(const ProcessGroup& group) const;
};

// The run keeps it (RunMemo).
const Mesh& find_mesh(const Run& run);

}  // namespace traceloom
