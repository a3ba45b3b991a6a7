// Bubbles: what the ranks and stages of a job spend their steps on.
//
//   const Bubbles found = find_bubbles(run, find_mesh(run), find_main_roles(run));
//   use(found.stages[3].bubble_share(), found.stages[3].waiting_share());
//
// Each instant of a step that counts goes to the first part that has it. A piece of communication
// moves data in its last part, which is as long as the piece that waited least for the others.
#pragma once

#include "analysis/mesh/mesh.h"
#include "analysis/numbers.h"
#include "analysis/waits/step_roles.h"
#include "base/by_enum.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace traceloom {

enum class StepPart : std::uint8_t {
  compute,  // kernels, copies and fills of memory; without devices, work of the host
  collective_moving,
  collective_waiting,
  collective_unknown,  // it moves or waits: some of its ranks are not here
  message_moving,
  message_waiting,
  message_unknown,  // it moves or waits: its other end is not known
  loader,
  idle,
  count_
};
constexpr std::string_view to_string(StepPart part) {
  return name_in({"compute", "collective_moving", "collective_waiting", "collective_unknown",
                  "message_moving", "message_waiting", "message_unknown", "loader", "idle"},
                 part);
}
static_assert(to_string(StepPart::idle) == "idle");

// The steps of a rank, or of all ranks of a stage.
struct PartTimes {
  std::int64_t steps = 0;
  std::int64_t total_ns = 0;
  ByEnum<StepPart, std::int64_t> ns;

  void add(const PartTimes& more);
  std::int64_t step_ns() const { return steps == 0 ? 0 : rounded_mean(total_ns, steps); }
  double share(StepPart part) const { return ratio(ns[part], total_ns); }
  bool has_communication() const;
  // The time that no device work but messages fills.
  double bubble_share() const;
  // The time that better balance could save. There is none without communication, and it is not
  // known if more than a thousandth of the steps is in communication that moves or waits.
  std::optional<double> waiting_share() const;
  // The share of the communication of which some rank is not known.
  double unknown_share() const;
};

struct RankParts : PartTimes {
  std::int64_t rank = 0;
};
struct StageParts : PartTimes {
  std::int64_t stage = 0;
  std::int64_t ranks = 0;
};

struct Bubbles {
  std::vector<RankParts> ranks;               // ascending, those with steps
  std::vector<StageParts> stages;             // ascending, of ranks whose place is known
  std::vector<std::int64_t> without_devices;  // left out, as others have device work
  PartTimes all;
};

// `roles` has one entry for each rank of the run.
Bubbles find_bubbles(const Run& run, const Mesh& mesh, const std::vector<RankRoles>& roles);

}  // namespace traceloom
