#include "analysis/mesh/mesh.h"
#include "analysis/waits/step_roles.h"
#include "analysis/work/work_names.h"
#include "base/ascii.h"
#include "per_rank/per_rank.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

struct AxisWords {
  Axis axis;
  std::initializer_list<std::string_view> words;
};
// The names that Megatron gives to its groups, and those of the dimensions of a DeviceMesh.
const AxisWords kAxisWords[] = {
    {Axis::tensor, {"tp", "tensor"}},
    {Axis::context, {"cp", "context", "sp", "sequence", "ulysses"}},
    {Axis::expert, {"ep", "expert", "moe"}},
    {Axis::data, {"dp", "ddp", "data", "fsdp", "hsdp", "shard", "replicate"}},
    {Axis::pipeline, {"pp", "pipeline", "pipe"}},
    {Axis::embedding, {"embd", "embedding"}},
    {Axis::world, {"default", "world"}},
};

// Returns the axes that the words of a description name: "mesh_dp_shard".
std::set<Axis> axes_in(std::string_view description) {
  std::set<Axis> axes;
  std::string word;
  const auto end_word = [&] {
    for (const AxisWords& one : kAxisWords)
      if (std::ranges::count(one.words, word) > 0) axes.insert(one.axis);
    word.clear();
  };
  for (const char c : description)
    if (const char low = to_lower(c); low >= 'a' && low <= 'z')
      word += low;
    else
      end_word();
  end_word();
  return axes;
}

// Data parallel groups may be those of experts alone, which are parts of the others.
void describe(DescribedGroup& group) {
  std::set<Axis> axes = axes_in(group.description);
  group.is_described = !axes.empty();
  if (axes.contains(Axis::data) && axes.size() > 1) {
    group.defines = !axes.contains(Axis::expert);
    group.spans_context = axes.contains(Axis::context);
    axes.erase(Axis::expert);
    axes.erase(Axis::context);
  }
  if (axes.size() == 1) group.axis = *axes.begin();
}

// Traffic counts what happens in a group, on all of its ranks together.
struct Traffic {
  std::int64_t messages = 0;
  std::int64_t all_to_alls = 0;
  std::int64_t others = 0;  // further collectives
  std::int64_t most_bytes = 0;
  std::int64_t all_ns = 0;
  std::int64_t hidden_ns = 0;   // at the same time as computing of the rank
  std::int64_t early = 0;       // in the first third of the computing of a step
  std::int64_t rank_steps = 0;  // steps of ranks that have any of it

  auto sums() {
    return std::tie(messages, all_to_alls, others, all_ns, hidden_ns, early, rank_steps);
  }
};

// A part of a collective of a group.
struct GroupPart {
  Interval time;
  std::size_t group = 0;
};

class JobGroupFinder {
 public:
  explicit JobGroupFinder(const Run& run) : run_(run), collectives_(match_collectives(run)) {}

  JobGroups find() {
    find_world();
    for (const RunFile& file : run_.files)
      for (const NotedGroup& group : file.groups)
        number_of(group.name, group.description, group.ranks.empty() ? all_ : group.ranks);
    for (const std::vector<Collective>* const list : {&collectives_.matched, &collectives_.single})
      for (const Collective& what : *list) add(what);
    for (DescribedGroup& group : found_.groups) describe(group);
    if (std::ranges::any_of(found_.groups, needs_traffic) || is_undivided()) look_at_traffic();
    return std::move(found_);
  }

 private:
  static bool needs_traffic(const DescribedGroup& group) {
    return !group.is_described && group.ranks.size() > 1;
  }
  // True if no group but that of all ranks has a meaning.
  bool is_undivided() const {
    return std::ranges::all_of(found_.groups, [](const DescribedGroup& group) {
      return group.axis == Axis::world || group.axis == Axis::other || group.ranks.size() < 2;
    });
  }

  void find_world() {
    for (const RunFile& file : run_.files) {
      found_.world = std::max(found_.world, file.world_size);
      for (const NotedGroup& group : file.groups)
        if (!group.ranks.empty()) found_.world = std::max(found_.world, group.ranks.back() + 1);
    }
    for (const RankEvents& rank : run_.ranks) found_.world = std::max(found_.world, rank.rank + 1);
    constexpr std::int64_t kMostRanks = std::int64_t{1} << 20;
    all_.resize(static_cast<std::size_t>(std::min(found_.world, kMostRanks)));
    std::iota(all_.begin(), all_.end(), std::int64_t{0});
  }

  std::size_t number_of(const std::string& name, const std::string& description,
                        const std::vector<std::int64_t>& ranks) {
    const auto [entry, is_new] =
        known_.try_emplace({name, description, ranks}, found_.groups.size());
    if (is_new) found_.groups.push_back({{Axis::other, name, description, ranks}});
    return entry->second;
  }

  // Returns the ranks of a group whose event lists only some or none of them.
  std::vector<std::int64_t> complete(const Collective& what) const {
    std::vector<std::int64_t> parts;
    for (const CollectivePart& part : what.parts) parts.push_back(run_.ranks[part.rank].rank);
    for (const auto& [key, number] : known_)
      if (std::get<0>(key) == what.group.name && std::get<1>(key) == what.group.description &&
          std::ranges::includes(std::get<2>(key), parts))
        return std::get<2>(key);
    return std::cmp_equal(parts.size(), what.group_size) ? parts : std::vector<std::int64_t>{};
  }

  void add(const Collective& what) {
    if (what.group.empty() || found_.numbers.contains(what.group)) return;
    if (unclear_.contains(what.group)) return;
    std::vector<std::int64_t> ranks = ranks_in(what.group.ranks);
    std::ranges::sort(ranks);
    if (ranks.empty()) ranks = complete(what);
    if (ranks.empty()) {
      unclear_.insert(what.group);
      return;
    }
    found_.numbers[what.group] =
        number_of(std::string(what.group.name), std::string(what.group.description), ranks);
  }

  // Gives groups whose descriptions say nothing the axis of what happens in them.
  void look_at_traffic() {
    find_traffic();
    const bool is_alone = is_undivided();
    for (std::size_t i = 0; i < found_.groups.size(); ++i) {
      DescribedGroup& group = found_.groups[i];
      if (!needs_traffic(group) && !(is_alone && group.axis == Axis::world)) continue;
      const Axis axis = axis_by(group, traffic_[i]);
      if (group.axis == Axis::world && axis == Axis::other) continue;
      // Every job has a group of all ranks, so nobody made it for tensor parallelism.
      group.axis = is_default(group) && axis == Axis::tensor ? Axis::data : axis;
      group.is_described = false;
    }
    for (std::size_t i = 0; i < found_.groups.size(); ++i)
      if (joins_ends(found_.groups[i])) found_.groups[i].axis = Axis::embedding;
  }

  bool is_default(const DescribedGroup& group) const {
    return group.axis == Axis::world || (std::cmp_equal(group.ranks.size(), found_.world) &&
                                         (group.name == "0" || group.name.empty()));
  }

  Axis axis_by(const DescribedGroup& group, const Traffic& traffic) const {
    constexpr std::int64_t kFewBytes = 64;  // of a gradient's norm
    constexpr std::int64_t kMany = 4;       // collectives of a step
    const std::int64_t all = traffic.messages + traffic.all_to_alls + traffic.others;
    if (all == 0) return Axis::other;
    if (traffic.messages > 0) return Axis::pipeline;
    if (traffic.all_to_alls * 2 > all) return Axis::expert;
    const bool is_tiny = traffic.most_bytes > 0 && traffic.most_bytes <= kFewBytes;
    if (is_tiny)
      return std::cmp_equal(group.ranks.size(), found_.world) ? Axis::world : Axis::other;
    const bool is_in_layers = traffic.others >= kMany * traffic.rank_steps && traffic.early > 0 &&
                              traffic.hidden_ns * 2 < traffic.all_ns;
    return is_in_layers ? Axis::tensor : Axis::data;
  }

  // Returns true for a group of the first and the last stage of a pipeline, which share embeddings.
  bool joins_ends(const DescribedGroup& group) const {
    if (group.is_described || group.axis != Axis::data || group.ranks.size() != 2) return false;
    return std::ranges::any_of(found_.groups, [&](const DescribedGroup& one) {
      return one.axis == Axis::pipeline && one.ranks.front() == group.ranks.front() &&
             one.ranks.back() == group.ranks.back();
    });
  }

  void find_traffic() {
    traffic_.resize(found_.groups.size());
    std::vector<std::vector<GroupPart>> parts(run_.ranks.size());
    for (const std::vector<Collective>* const list : {&collectives_.matched, &collectives_.single})
      for (const Collective& what : *list) {
        const auto number = found_.numbers.find(what.group);
        if (number == found_.numbers.end()) continue;
        Traffic& traffic = traffic_[number->second];
        const auto count = static_cast<std::int64_t>(what.parts.size());
        (is_point_to_point(what.name) ? traffic.messages
         : is_all_to_all(what.name)   ? traffic.all_to_alls
                                      : traffic.others) += count;
        traffic.most_bytes = std::max(traffic.most_bytes, what.bytes);
        for (const CollectivePart& part : what.parts)
          parts[part.rank].push_back({{part.start_ns, part.end_ns}, number->second});
      }
    using Found = std::map<std::size_t, Traffic>;
    for (std::vector<GroupPart>& own : parts)
      std::ranges::stable_sort(own, {}, [](const GroupPart& part) { return part.time.from_ns; });
    const auto look = [&](std::size_t rank) { return look_at_rank(rank, parts[rank]); };
    for_each_rank<Found>(run_, all_ranks(run_), look, [&](std::size_t, const Found& found) {
      for (auto [group, traffic] : found) add_sums(traffic_[group].sums(), traffic.sums());
    });
  }

  std::map<std::size_t, Traffic> look_at_rank(std::size_t rank,
                                              const std::vector<GroupPart>& parts) const {
    IntervalPacker packer;
    run_.ranks[rank].for_each_device([&](const DeviceSpan& span) {
      if (run_.labels.kind(span.label).role == Role::kernel) packer.add(span.interval());
    });
    const Intervals computing = unpacked(packer.finish());
    std::map<std::size_t, Traffic> found;
    for (const Step& step : run_.ranks[rank].steps.list) {
      const Intervals here = intersect(computing, {step.time});
      if (here.empty()) continue;
      const std::int64_t third_ns = (here.back().to_ns - here.front().from_ns) / 3;
      IntervalLengths hidden(here);
      std::set<std::size_t> seen;
      const auto begins = [](const GroupPart& part) { return part.time.from_ns; };
      const auto first = std::ranges::lower_bound(parts, step.time.from_ns, {}, begins);
      const auto last = std::ranges::lower_bound(parts, step.time.to_ns, {}, begins);
      for (const GroupPart& part : std::ranges::subrange(first, last)) {
        Traffic& traffic = found[part.group];
        add_to(traffic.all_ns, length_ns(part.time));
        add_to(traffic.hidden_ns, hidden.in(part.time));
        traffic.early += part.time.from_ns < here.front().from_ns + third_ns ? 1 : 0;
        if (seen.insert(part.group).second) ++traffic.rank_steps;
      }
    }
    return found;
  }

  const Run& run_;
  const MatchedCollectives& collectives_;
  JobGroups found_;
  std::vector<std::int64_t> all_;
  std::map<std::tuple<std::string, std::string, std::vector<std::int64_t>>, std::size_t> known_;
  std::set<ProcessGroup> unclear_;  // their ranks are not known
  std::vector<Traffic> traffic_;    // by group
};

}  // namespace

JobGroups find_job_groups(const Run& run) {
  return JobGroupFinder(run).find();
}

}  // namespace traceloom
