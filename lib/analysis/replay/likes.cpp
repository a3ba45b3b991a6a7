#include "analysis/replay/likes.h"

#include <algorithm>
#include <compare>
#include <map>
#include <tuple>

namespace traceloom {
namespace {

// One of those that are the same, in the class of those that are like each other, from one owner:
// a rank, a stage, a group or a link.
struct Same {
  std::int64_t what = 0;
  std::int64_t place = 0;
  std::int64_t duration_ns = 0;
  std::int64_t owner = 0;
  std::uint32_t node = 0;

  auto operator<=>(const Same&) const = default;
};

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
void compare_same(const std::vector<Same>& all, std::size_t from, std::size_t to,
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

void compare_owners(std::vector<Same>& all, std::vector<LikeTimes>& times) {
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
    : mates_(network.nodes.size()), stages_(network.nodes.size()), meetings_(network.nodes.size()) {
  std::vector<Same> mates;
  std::vector<Same> across;
  std::vector<Same> met;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> counts;  // by label and rank
  std::map<std::tuple<std::uint32_t, std::string_view, std::int64_t>, std::int64_t> places;
  const std::int64_t stage_count = 1 + *std::ranges::max_element(stages);
  std::map<std::string_view, std::int64_t> names;
  for (std::uint32_t i = 0; i < network.nodes.size(); ++i) {
    const NetworkNode& node = network.nodes[i];
    if (node.kind == NodeKind::compute) {
      const std::int64_t stage = stages[node.rank];
      mates.push_back({node.label * stage_count + stage, node.place, node.duration_ns, node.rank, i});
      ++counts[{node.label, node.rank}];
    } else if (node.kind == NodeKind::loader) {
      mates.push_back({-1 - stages[node.rank], node.place, node.duration_ns, node.rank, i});
    } else if (node.kind == NodeKind::meeting) {
      const Meeting& meeting = job.meetings[node.place];
      const std::int64_t name = names.try_emplace(meeting.name, static_cast<std::int64_t>(names.size())).first->second;
      const std::int64_t kind = name * 16 + static_cast<std::int64_t>(meeting.axis);
      const std::int64_t place = meeting.is_message ? 0 : places[{meeting.group, meeting.name, meeting.bytes}]++;
      met.push_back({kind, meeting.is_message ? meeting.bytes : place, node.duration_ns,
                     meeting.group, i});
    }
  }
  if (stage_count > 1) {
    // Kernels that all ranks launch equally often.
    std::map<std::uint32_t, std::pair<std::int64_t, std::size_t>> even;  // count, ranks
    for (const auto& [key, count] : counts) {
      auto& [first, ranks] = even.try_emplace(key.first, count, 0).first->second;
      if (first == count) ++ranks;
    }
    for (const Same& one : mates)
      if (one.what >= 0 && even[network.nodes[one.node].label].second == stages.size())
        across.push_back({network.nodes[one.node].label, one.place, one.duration_ns,
                          stages[network.nodes[one.node].rank], one.node});
    compare_owners(across, stages_);
  }
  compare_owners(mates, mates_);
  compare_owners(met, meetings_);
}

}  // namespace traceloom
