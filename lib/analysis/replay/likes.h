// StepLikes: how long each piece of a step takes on those that are like its rank, and each transfer
// between those that are like its ranks.
//
//   const StepLikes likes(network, job, stages);
//   if (const LikeTimes* of = likes.of_stage_mates(node)) use(of->median_ns);
//
// The same piece is the n-th of its kernel in the step. The others are those of the rank's stage;
// for a whole stage all ranks of the other stages, if all launch the kernel equally often. A stage
// that launches it more often has its part of it then, as if the work were spread evenly. The same
// transfer is the n-th of its kind and size in the step, in other groups of its axis; for a message
// any of its size on other links.
#pragma once

#include "analysis/replay/network.h"

#include <compare>
#include <cstdint>
#include <vector>

namespace traceloom {

struct LikeTimes {
  std::int64_t low_ns = kNotGiven;  // quartiles; not given if there are no others
  std::int64_t median_ns = kNotGiven;
  std::int64_t high_ns = kNotGiven;
};

// One of those that are the same (what, place), of one owner: a rank, a stage, a group or a link.
struct LikePiece {
  std::int64_t what = 0;
  std::int64_t place = 0;
  std::int64_t duration_ns = 0;
  std::int64_t owner = 0;
  std::uint32_t node = 0;

  auto operator<=>(const LikePiece&) const = default;
};

class StepLikes {
 public:
  StepLikes() = default;  // nobody has the same
  // `stages` has the stage of each rank of the run.
  StepLikes(const StepNetwork& network, const JobWork& job,
            const std::vector<std::int64_t>& stages);

  // The time of a rank's host beside waits for data and for devices, all of it in the step.
  struct HostTime {
    std::int64_t own_ns = 0;
    LikeTimes mates = {};
  };
  const HostTime& host_of(std::uint32_t rank) const { return hosts_[rank]; }
  // nullptr if nobody has the same.
  const LikeTimes* of_mates(std::uint32_t node) const { return at(mates_, node); }
  const LikeTimes* of_stages(std::uint32_t node) const { return at(stages_, node); }
  const LikeTimes* of_meetings(std::uint32_t node) const { return at(meetings_, node); }

 private:
  static const LikeTimes* at(const std::vector<LikeTimes>& of, std::uint32_t node) {
    return node < of.size() && of[node].median_ns != kNotGiven ? &of[node] : nullptr;
  }

  void compare_stages(const StepNetwork& network, const std::vector<std::int64_t>& stages,
                      const std::vector<LikePiece>& mates);

  std::vector<HostTime> hosts_;   // by rank
  std::vector<LikeTimes> mates_;  // by node
  std::vector<LikeTimes> stages_;
  std::vector<LikeTimes> meetings_;
};

}  // namespace traceloom
