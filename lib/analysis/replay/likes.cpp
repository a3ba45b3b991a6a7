#include "analysis/replay/likes.h"

#include "analysis/numbers.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace traceloom {
namespace {

// The value at a quarter, the half or three quarters of a sorted list.
template <typename ValueAt>
std::int64_t quartile(std::size_t size, std::size_t quarter, ValueAt value_at) {
  const std::size_t at = (size - 1) * quarter;
  const std::int64_t low = value_at(at / 4);
  const std::int64_t high = value_at(std::min(at / 4 + 1, size - 1));
  return low + (high - low) * static_cast<std::int64_t>(at % 4) / 4;
}

template <typename ValueAt>
LikeTimes quartiles(std::size_t size, ValueAt value_at) {
  if (size == 0) return {};
  return {quartile(size, 1, value_at), quartile(size, 2, value_at), quartile(size, 3, value_at)};
}

// Fills in the times of the others for the same pieces [from, to), which ascend by duration.
void compare_same(const std::vector<LikePiece>& all, std::size_t from, std::size_t to,
                  std::vector<LikeTimes>& times) {
  std::map<std::int64_t, LikeTimes> owners;
  for (std::size_t i = from; i < to; ++i) owners.try_emplace(all[i].owner);
  // Without a copy where each has one, because a stage may have thousands of ranks.
  if (owners.size() == to - from) {
    for (std::size_t i = from; i < to; ++i)
      times[all[i].node] = quartiles(to - from - 1, [&](std::size_t at) {
        return all[from + at < i ? from + at : from + at + 1].duration_ns;
      });
    return;
  }
  std::vector<std::int64_t> others;
  for (auto& [owner, found] : owners) {
    others.clear();
    for (std::size_t i = from; i < to; ++i)
      if (all[i].owner != owner) others.push_back(all[i].duration_ns);
    found = quartiles(others.size(), [&](std::size_t at) { return others[at]; });
  }
  for (std::size_t i = from; i < to; ++i) times[all[i].node] = owners[all[i].owner];
}

void compare_owners(std::vector<LikePiece>& all, std::vector<LikeTimes>& times) {
  std::ranges::sort(all);
  for (std::size_t from = 0; from < all.size();) {
    std::size_t to = from;
    while (to < all.size() && all[to].what == all[from].what && all[to].place == all[from].place)
      ++to;
    compare_same(all, from, to, times);
    from = to;
  }
}

}  // namespace

StepLikes::StepLikes(const StepNetwork& network, const JobWork& job,
                     const std::vector<std::int64_t>& stages)
    : hosts_(stages.size()),
      mates_(network.nodes.size()),
      stages_(network.nodes.size()),
      meetings_(network.nodes.size()) {
  std::vector<LikePiece> mates;
  std::vector<LikePiece> met;
  std::map<std::tuple<std::uint32_t, std::string_view, std::int64_t>, std::int64_t> places;
  const std::int64_t stage_count = 1 + *std::ranges::max_element(stages);
  std::map<std::string_view, std::int64_t> names;
  for (std::uint32_t i = 0; i < network.nodes.size(); ++i) {
    const NetworkNode& node = network.nodes[i];
    if (node.kind == MomentKind::compute) {
      const std::int64_t stage = stages[node.rank];
      mates.push_back(
          {node.label * stage_count + stage, node.place, node.duration_ns, node.rank, i});
    } else if (node.kind == MomentKind::host) {
      hosts_[node.rank].own_ns += node.duration_ns;
    } else if (node.kind == MomentKind::loader) {
      mates.push_back({-1 - stages[node.rank], node.place, node.duration_ns, node.rank, i});
    } else if (node.kind == MomentKind::meeting) {
      const Meeting& meeting = job.meetings[node.place];
      const std::int64_t name =
          names.try_emplace(meeting.name, static_cast<std::int64_t>(names.size())).first->second;
      const std::int64_t kind = name * 16 + static_cast<std::int64_t>(meeting.axis);
      const std::int64_t place =
          meeting.is_message ? 0 : places[{meeting.group, meeting.name, meeting.bytes}]++;
      met.push_back(
          {kind, meeting.is_message ? meeting.bytes : place, node.duration_ns, meeting.group, i});
    }
  }
  std::vector<LikePiece> hosts;
  for (std::uint32_t rank = 0; rank < stages.size(); ++rank)
    hosts.push_back({stages[rank], 0, hosts_[rank].own_ns, rank, rank});
  std::vector<LikeTimes> host_times(stages.size());
  compare_owners(hosts, host_times);
  for (std::size_t rank = 0; rank < stages.size(); ++rank) hosts_[rank].mates = host_times[rank];
  compare_owners(mates, mates_);
  if (stage_count > 1) compare_stages(network, stages, mates);
  compare_owners(met, meetings_);
}

// Kernels that all ranks launch equally often are the same in all stages. Of others (the loss, an
// embedding, more layers) a stage has more than its part, if its ranks launch them equally often.
void StepLikes::compare_stages(const StepNetwork& network, const std::vector<std::int64_t>& stages,
                               const std::vector<LikePiece>& mates) {
  struct Kernel {
    std::vector<std::int64_t> counts;  // by rank
    std::int64_t sum = 0;
    bool is_even = true;  // among the ranks of each stage
    bool is_even_everywhere = true;
  };
  std::map<std::uint32_t, Kernel> kernels;  // by label
  for (const LikePiece& one : mates) {
    const NetworkNode& node = network.nodes[one.node];
    if (node.kind != MomentKind::compute) continue;
    Kernel& kernel = kernels[node.label];
    kernel.counts.resize(stages.size());
    ++kernel.counts[node.rank];
    ++kernel.sum;
  }
  for (auto& [label, kernel] : kernels) {
    std::map<std::int64_t, std::int64_t> of_stages;
    for (std::size_t rank = 0; rank < stages.size(); ++rank) {
      const std::int64_t count = kernel.counts[rank];
      kernel.is_even &= of_stages.try_emplace(stages[rank], count).first->second == count;
      kernel.is_even_everywhere &= count == kernel.counts.front();
    }
  }
  std::vector<LikePiece> across;
  for (const LikePiece& one : mates) {
    const NetworkNode& node = network.nodes[one.node];
    if (node.kind != MomentKind::compute) continue;
    const Kernel& kernel = kernels[node.label];
    const std::int64_t part = kernel.counts[node.rank] * static_cast<std::int64_t>(stages.size());
    if (kernel.is_even_everywhere) {
      across.push_back({node.label, one.place, one.duration_ns, stages[node.rank], one.node});
    } else if (kernel.is_even && part > kernel.sum) {
      const std::int64_t mates_ns = mates_[one.node].median_ns;
      const std::int64_t ns = mates_ns == kNotGiven ? one.duration_ns : mates_ns;
      const auto evenly_ns =
          static_cast<std::int64_t>(ratio(kernel.sum, part) * static_cast<double>(ns));
      stages_[one.node] = {evenly_ns, evenly_ns, evenly_ns};
    }
  }
  compare_owners(across, stages_);
}

}  // namespace traceloom
