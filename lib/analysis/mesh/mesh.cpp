#include "analysis/mesh/mesh.h"

#include "base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace traceloom {
namespace {

using Ranks = std::vector<std::int64_t>;

constexpr std::int64_t kMostRanks = std::int64_t{1} << 20;

// The axes whose sizes make the world, in the order in which Megatron numbers ranks.
constexpr Axis kFactors[] = {Axis::tensor, Axis::context, Axis::data, Axis::pipeline};

std::int64_t& size_of(Mesh& mesh, Axis axis) {
  if (axis == Axis::tensor) return mesh.tensor;
  if (axis == Axis::context) return mesh.context;
  if (axis == Axis::expert) return mesh.expert;
  return axis == Axis::data ? mesh.data : mesh.stages;
}

std::int64_t& place_on(MeshPlace& place, Axis axis) {
  if (axis == Axis::tensor) return place.tensor;
  if (axis == Axis::context) return place.context;
  if (axis == Axis::expert) return place.expert;
  return axis == Axis::data ? place.data : place.stage;
}

// How a place along an axis follows from the number of a rank: rank / stride % size.
struct Digit {
  Axis axis = Axis::other;
  std::int64_t stride = 1;
  std::int64_t size = 1;
};

MeshPlace place_by(const std::vector<Digit>& digits, std::int64_t rank) {
  MeshPlace place;
  for (const Digit& digit : digits) place_on(place, digit.axis) = rank / digit.stride % digit.size;
  return place;
}

// Returns the distance between the members, if it is the same for all of them.
std::optional<std::int64_t> stride_of(const Ranks& block) {
  const std::int64_t stride = block[1] - block[0];
  for (std::size_t i = 1; i < block.size(); ++i)
    if (block[i] - block[i - 1] != stride) return std::nullopt;
  return stride;
}

// The ranks that share an axis: a group, or groups that have ranks in common (replicas of shards).
std::vector<Ranks> unite_groups(const std::vector<const DescribedGroup*>& groups) {
  std::vector<std::set<std::int64_t>> blocks;
  std::map<std::int64_t, std::size_t> block_of;
  for (const DescribedGroup* const group : groups) {
    std::set<std::size_t> touched;
    for (const std::int64_t rank : group->ranks)
      if (const auto found = block_of.find(rank); found != block_of.end())
        touched.insert(found->second);
    const std::size_t block = touched.empty() ? blocks.size() : *touched.begin();
    if (touched.empty()) blocks.emplace_back();
    for (const std::size_t other : touched)
      if (other != block) blocks[block].merge(blocks[other]);
    blocks[block].insert(group->ranks.begin(), group->ranks.end());
    for (const std::int64_t rank : blocks[block]) block_of[rank] = block;
  }
  std::vector<Ranks> united;
  for (const std::set<std::int64_t>& block : blocks)
    if (block.size() > 1) united.emplace_back(block.begin(), block.end());
  return united;
}

class MeshMaker {
 public:
  explicit MeshMaker(const Run& run) : run_(run), found_(find_job_groups(run)) {}

  Mesh make() {
    mesh_.world = found_.world;
    place_by_rows();
    if (!mesh_.places.empty())
      check_product();
    else if (mesh_.world > kMostRanks)
      mesh_.doubts.push_back(fmt::format("the files name a world of {} ranks", mesh_.world));
    else if (run_.mesh_sizes != MeshSizes{})
      take_sizes();
    else if (mesh_.world > 1)
      find_axes();
    take_groups();
    find_missing();
    return std::move(mesh_);
  }

 private:
  // Uses the stages of a coarse time line, whose rows name them; replicas are numbered by rank.
  void place_by_rows() {
    std::map<std::int64_t, std::int64_t> replicas;  // by stage
    for (const RankEvents& rank : run_.ranks) {
      if (rank.stage < 0) continue;
      MeshPlace& place = mesh_.places[rank.rank];
      place.stage = rank.stage;
      place.data = replicas[rank.stage]++;
      mesh_.stages = std::max(mesh_.stages, saturating_add(place.stage, 1));
      mesh_.data = std::max(mesh_.data, place.data + 1);
    }
    if (mesh_.places.empty()) return;
    mesh_.world = std::ssize(mesh_.places);
    mesh_.source = "the names of rows";
  }

  std::int64_t product() {
    std::int64_t product = 1;
    for (const Axis axis : kFactors)
      if (__builtin_mul_overflow(product, size_of(mesh_, axis), &product)) return 0;
    return product;
  }

  void take_sizes() {
    const MeshSizes& given = run_.mesh_sizes;
    const auto or_one = [](std::int64_t size) { return std::max<std::int64_t>(size, 1); };
    mesh_.tensor = or_one(given.tensor);
    mesh_.context = or_one(given.context);
    mesh_.expert = or_one(given.expert);
    mesh_.stages = or_one(given.stages);
    mesh_.data = or_one(given.data);
    if (const std::int64_t others = product(); given.data == 0 && others > 0)
      mesh_.data = or_one(mesh_.world / others);
    const std::string sizes = fmt::format("tp {} x cp {} x dp {} x pp {}", mesh_.tensor,
                                          mesh_.context, mesh_.data, mesh_.stages);
    if (product() != mesh_.world)
      throw Error("--mesh",
                  fmt::format("{} are {}, and the job has {}: give sizes whose product "
                              "is that",
                              sizes, count_of(static_cast<std::uint64_t>(product()), "rank"),
                              count_of(static_cast<std::uint64_t>(mesh_.world), "rank")));
    if (mesh_.data * mesh_.context % mesh_.expert != 0)
      throw Error("--mesh", fmt::format("ep {} does not divide dp {} x cp {}", mesh_.expert,
                                        mesh_.data, mesh_.context));
    std::vector<Digit> digits;
    std::int64_t stride = 1;
    for (const Axis axis : kFactors) {
      digits.push_back({axis, stride, size_of(mesh_, axis)});
      stride *= digits.back().size;
    }
    digits.push_back({Axis::expert, mesh_.tensor * mesh_.context, mesh_.expert});
    for (std::int64_t rank = 0; rank < mesh_.world; ++rank)
      mesh_.places[rank] = place_by(digits, rank);
    mesh_.source = "--mesh";
    for (DescribedGroup& group : found_.groups) {
      const Axis said = std::exchange(group.axis, axis_along(group));
      if (group.is_described && said != group.axis && std::ranges::count(kFactors, said) > 0 &&
          mesh_.doubts.empty())
        mesh_.doubts.push_back(fmt::format("--mesh makes {} of the group '{}'",
                                           to_string(group.axis), group.description));
    }
  }

  // Returns the one axis along which the members of a group differ.
  Axis axis_along(const DescribedGroup& group) const {
    if (group.ranks.size() < 2) return group.axis;
    if (std::cmp_equal(group.ranks.size(), mesh_.world) && group.axis == Axis::world)
      return Axis::world;
    std::vector<Axis> axes;
    for (const Axis axis : {Axis::tensor, Axis::context, Axis::pipeline, Axis::data}) {
      std::set<std::int64_t> places;
      for (const std::int64_t rank : group.ranks)
        if (const auto found = mesh_.places.find(rank); found != mesh_.places.end()) {
          MeshPlace place = found->second;
          places.insert(place_on(place, axis));
        }
      if (places.size() > 1) axes.push_back(axis);
    }
    if (axes.size() != 1) return Axis::other;
    const bool is_part = axes.front() == Axis::data && group.axis == Axis::expert;
    return is_part ? Axis::expert : axes.front();
  }

  void find_axes() {
    for (const Axis axis : {Axis::tensor, Axis::context, Axis::expert, Axis::data, Axis::pipeline})
      find_blocks(axis);
    const bool any =
        std::ranges::any_of(blocks_, [](const auto& axis) { return !axis.second.empty(); });
    if (!any) return;
    set_source();
    const std::int64_t others = mesh_.tensor * mesh_.context * mesh_.stages;
    if (blocks_[Axis::data].empty() && others > 0 && mesh_.world % others == 0)
      mesh_.data = mesh_.world / others;
    if (spans_context_ && mesh_.data % mesh_.context == 0) mesh_.data /= mesh_.context;
    check_product();
    if (!place_by_numbers()) place_by_blocks();
    place_experts();
  }

  // Uses the groups that have ranks along this axis alone; of data parallel groups also those that
  // have context parallel ranks, if there are no others.
  void find_blocks(Axis axis) {
    std::vector<const DescribedGroup*> own;
    std::vector<const DescribedGroup*> wider;
    for (const DescribedGroup& group : found_.groups)
      if (group.axis == axis && group.defines && group.ranks.size() > 1)
        (group.spans_context ? wider : own).push_back(&group);
    spans_context_ = spans_context_ || (own.empty() && !wider.empty());
    check_disjoint(axis, own);
    std::vector<Ranks>& blocks = blocks_[axis] = unite_groups(own.empty() ? wider : own);
    std::map<std::size_t, std::size_t> sizes;  // and their number
    for (const Ranks& block : blocks) ++sizes[block.size()];
    if (sizes.empty()) return;
    const auto most =
        std::ranges::max_element(sizes, {}, [](const auto& one) { return one.second; });
    size_of(mesh_, axis) = static_cast<std::int64_t>(most->first);
    if (sizes.size() > 1)
      mesh_.doubts.push_back(fmt::format("{} groups have {} to {} ranks", to_string(axis),
                                         sizes.begin()->first, sizes.rbegin()->first));
  }

  // Groups of one kind have no rank in common.
  void check_disjoint(Axis axis, const std::vector<const DescribedGroup*>& groups) {
    std::map<std::pair<std::string_view, std::int64_t>, const Ranks*> group_of;
    for (const DescribedGroup* const group : groups)
      for (const std::int64_t rank : group->ranks) {
        const auto [known, is_new] =
            group_of.try_emplace({group->description, rank}, &group->ranks);
        if (is_new || *known->second == group->ranks) continue;
        mesh_.doubts.push_back(fmt::format("rank {} is in two {} groups: [{}] and [{}]", rank,
                                           to_string(axis), fmt::join(*known->second, ", "),
                                           fmt::join(group->ranks, ", ")));
        return;
      }
  }

  void set_source() {
    bool described = false;
    bool seen = false;
    for (const DescribedGroup& group : found_.groups) {
      if (group.axis == Axis::other || group.axis == Axis::world || group.ranks.size() < 2)
        continue;
      (group.is_described ? described : seen) = true;
    }
    mesh_.source = !seen       ? "the descriptions of process groups"
                   : described ? "the descriptions of process groups, and what happens in them"
                               : "what happens in process groups";
  }

  void check_product() {
    if (product() == mesh_.world) return;
    mesh_.doubts.push_back(fmt::format(
        "tp {} x cp {} x dp {} x pp {} are {} ranks, and the job has {}: --mesh gives the sizes",
        mesh_.tensor, mesh_.context, mesh_.data, mesh_.stages, product(), mesh_.world));
  }

  // Returns the digits of ranks, if the members of all groups are numbered in such a way.
  std::vector<Digit> find_digits() {
    std::vector<Digit> digits;
    Axis filled = Axis::other;
    for (const Axis axis : kFactors) {
      if (size_of(mesh_, axis) < 2) continue;
      const std::vector<Ranks>& blocks = blocks_[axis];
      if (blocks.empty() || (axis == Axis::data && spans_context_)) {
        filled = axis;
        continue;
      }
      const std::optional<std::int64_t> stride = stride_of(blocks.front());
      if (!stride) return {};
      digits.push_back({axis, *stride, size_of(mesh_, axis)});
    }
    std::ranges::sort(digits, {}, &Digit::stride);
    std::int64_t next = 1;
    for (std::size_t i = 0; i <= digits.size(); ++i) {
      const bool is_gap = i == digits.size() ? next != mesh_.world : digits[i].stride != next;
      if (is_gap && filled != Axis::other) {
        digits.insert(digits.begin() + static_cast<std::ptrdiff_t>(i),
                      {filled, next, size_of(mesh_, filled)});
        filled = Axis::other;
      }
      if (i == digits.size()) break;
      if (digits[i].stride != next) return {};
      next *= digits[i].size;
    }
    return next == mesh_.world ? digits : std::vector<Digit>{};
  }

  // Places all ranks by their numbers, also those of which no group is known. Returns false, and
  // places none, if the groups are not numbered in such a way.
  bool place_by_numbers() {
    if (product() != mesh_.world) return false;
    const std::vector<Digit> digits = find_digits();
    if (digits.empty()) return false;
    for (const auto& [axis, blocks] : blocks_)
      for (const Ranks& block : blocks) {
        if (axis == Axis::expert || (axis == Axis::data && spans_context_)) continue;
        for (std::size_t i = 0; i < block.size(); ++i) {
          MeshPlace expected = place_by(digits, block.front());
          place_on(expected, axis) = static_cast<std::int64_t>(i);
          if (place_by(digits, block[i]) != expected) return false;
        }
      }
    for (std::int64_t rank = 0; rank < mesh_.world; ++rank)
      mesh_.places[rank] = place_by(digits, rank);
    return true;
  }

  // Places each rank by its place in its groups.
  void place_by_blocks() {
    std::map<std::int64_t, std::size_t> in_groups;
    std::size_t axes = 0;
    for (const Axis axis : {Axis::tensor, Axis::context, Axis::pipeline, Axis::data}) {
      if (blocks_[axis].empty()) continue;
      ++axes;
      for (const Ranks& block : blocks_[axis]) {
        std::map<std::int64_t, std::int64_t> next;  // by context
        for (const std::int64_t rank : block) {
          MeshPlace& place = mesh_.places[rank];
          const std::int64_t part = axis == Axis::data && spans_context_ ? place.context : 0;
          place_on(place, axis) = next[part]++;
          ++in_groups[rank];
        }
      }
    }
    Ranks without;
    for (std::int64_t rank = 0; rank < mesh_.world; ++rank)
      if (in_groups[rank] < axes) without.push_back(rank);
    for (const std::int64_t rank : without) mesh_.places.erase(rank);
    if (!without.empty())
      mesh_.doubts.push_back(fmt::format("{} {} not in a group along each axis",
                                         ranks_words(without, RankStyle::sentence),
                                         without.size() == 1 ? "is" : "are"));
  }

  void place_experts() {
    for (auto& [rank, place] : mesh_.places) place.expert = place.data % mesh_.expert;
    for (const Ranks& block : blocks_[Axis::expert])
      for (std::size_t i = 0; i < block.size(); ++i)
        if (const auto found = mesh_.places.find(block[i]); found != mesh_.places.end())
          found->second.expert = static_cast<std::int64_t>(i);
  }

  // Sorts the groups.
  void take_groups() {
    std::vector<std::size_t> order(found_.groups.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      const DescribedGroup& group = found_.groups[i];
      return std::tie(group.axis, group.ranks, group.name, group.description);
    });
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      mesh_.groups.push_back(std::move(found_.groups[order[i]]));
    }
    for (const auto& [group, number] : found_.numbers) mesh_.numbers[group] = place[number];
  }

  void find_missing() {
    const Ranks known = run_.ranks_of_files();
    Ranks all;
    for (const auto& [rank, place] : mesh_.places) all.push_back(rank);
    // Without places all that the files tell is how many there are.
    if (all.empty() && mesh_.world <= kMostRanks)
      for (std::int64_t rank = 0; rank < mesh_.world; ++rank) all.push_back(rank);
    std::ranges::set_difference(all, known, std::back_inserter(mesh_.missing));
  }

  const Run& run_;
  JobGroups found_;
  Mesh mesh_;
  std::map<Axis, std::vector<Ranks>> blocks_;
  bool spans_context_ = false;  // data parallel groups have context parallel ranks, too
};

}  // namespace

const Mesh& find_mesh(const Run& run) {
  return run.memo.get<Mesh>([&] { return MeshMaker(run).make(); });
}

std::map<std::int64_t, std::string> find_nodes(const Run& run) {
  std::map<std::int64_t, std::string> nodes;
  for (const RunFile& file : run.files) nodes.insert(file.hosts.begin(), file.hosts.end());
  return nodes;
}

}  // namespace traceloom
