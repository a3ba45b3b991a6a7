#include "analysis/collectives.h"

#include "analysis/tensor_bytes.h"
#include "base/ascii.h"
#include "run/details.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

bool has(std::string_view name, std::string_view part) {
  return to_lower(name).find(part) != std::string::npos;
}
bool is_gather(std::string_view name) {
  return has(name, "allgather") || has(name, "all_gather");
}
// Whoever sends does not wait for others than the one that receives.
bool is_point_to_point(std::string_view name) {
  return has(name, "sendrecv") || has(name, "send") || has(name, "recv");
}

bool is_all_reduce(std::string_view name) {
  return has(name, "allreduce") || has(name, "all_reduce");
}
// Each rank gets a part from each.
bool is_in_parts(std::string_view name) {
  return is_gather(name) || has(name, "reduce_scatter") || has(name, "reducescatter") ||
         has(name, "alltoall") || has(name, "all_to_all");
}
bool has_root(std::string_view name) {
  return has(name, "broadcast") || has(name, "reduce") || has(name, "gather") ||
         has(name, "scatter");
}

// What bus bandwidth is of algorithm bandwidth: NCCL's factors.
double bus_factor(std::string_view name, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (ranks < 2) return 1;
  if (is_all_reduce(name)) return 2 * (n - 1) / n;
  if (is_in_parts(name)) return (n - 1) / n;
  return 1;
}

// One on one rank, with all that it says of itself.
struct Piece {
  Collective what;
  std::int64_t seq = kNoId;
  std::int64_t start_ns = 0;
};

// "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)" without its
// arguments.
std::string_view kernel_name(std::string_view name) {
  return name.substr(0, name.find('('));
}

std::string_view find_word(std::string_view details, std::string_view key) {
  const std::string_view word = find_detail(details, key);
  return word == "null" ? std::string_view{} : word;
}

Piece piece_of(const Run& run, std::size_t rank, const HostSpan& span, std::string_view details) {
  Piece piece;
  piece.start_ns = span.start_ns;
  Collective& what = piece.what;
  const std::string_view name = find_word(details, "Collective name");
  what.name = name.empty() ? kernel_name(run.labels.name(span.label)) : name;
  what.dtype = find_word(details, "dtype");
  what.group = find_word(details, "Process Group Name");
  what.group_size = find_integer(details, "Group size").value_or(0);
  const std::int64_t elements =
      find_integer(details, is_gather(what.name) ? "Out msg nelems" : "In msg nelems").value_or(0);
  what.bytes = tensor_bytes(elements, what.dtype);
  what.parts.push_back({rank, span.start_ns, span.end_ns});
  piece.seq = find_integer(details, "Seq").value_or(kNoId);
  return piece;
}

// What the tensors take that an operator of the host was called with.
std::int64_t input_bytes(std::string_view arguments) {
  std::string_view dims = find_detail(arguments, "Input Dims");
  if (dims.empty()) dims = find_detail(arguments, "Input dims");
  return tensor_bytes(dims, find_detail(arguments, "Input type"));
}

// Ranges of the host that are collectives; what torch calls an operator tells its tensors as well.
void append_host_pieces(const Run& run, std::size_t rank, std::vector<Piece>& pieces) {
  std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, std::uint32_t> arguments;
  run.ranks[rank].for_each_operator([&](const OperatorSpan& span) {
    if (run.labels.kind(span.label).mark == SpanMark::collective && span.arguments != kNoDetail)
      arguments[{span.track, span.start_ns, span.end_ns}] = span.arguments;
  });
  run.ranks[rank].for_each_mark([&](const MarkedSpan& span) {
    if (span.mark != SpanMark::collective) return;
    pieces.push_back(piece_of(run, rank, span, {}));
    const auto told = arguments.find({span.track, span.start_ns, span.end_ns});
    if (told != arguments.end()) pieces.back().what.bytes = input_bytes(run.details[told->second]);
  });
}

std::vector<Piece> pieces_of(const Run& run, std::size_t rank) {
  std::vector<Piece> pieces;
  const RankEvents& events = run.ranks[rank];
  events.for_each_device([&](const DeviceSpan& span) {
    if (run.labels.kind(span.label).role != Role::communication) return;
    const std::string_view details =
        span.detail == kNoDetail ? std::string_view{} : run.details[span.detail];
    pieces.push_back(piece_of(run, rank, span, details));
  });
  // gloo works on the host; with NCCL the ranges of the host only start what the device does.
  if (pieces.empty()) append_host_pieces(run, rank, pieces);
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.start_ns < b.start_ns; });
  return pieces;
}

// Of which kind a piece is: group, name, dtype, bytes, Seq.
using Kind = std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t>;
// As (epoch, number); where no steps matter, of all pieces the same.
using StepKey = std::pair<std::int64_t, std::int64_t>;
// The how manyeth of its kind it is, in its step.
using Key = std::tuple<Kind, StepKey, std::int64_t>;

// Without a group it says nothing, since each group counts for itself.
bool has_seq(const Piece& piece) {
  return piece.seq != kNoId && !piece.what.group.empty();
}

// With a Seq, sizes do not matter: in an all-to-all each rank may have another one.
Kind kind_of(const Piece& piece) {
  const Collective& what = piece.what;
  if (has_seq(piece)) return {what.group, what.name, "", 0, piece.seq};
  return {what.group, what.name, what.dtype, what.bytes, kNoId};
}

// In which step of a rank something begins.
class PieceSteps {
 public:
  explicit PieceSteps(const StepList& steps) {
    if (steps.kind == StepKind::none) return;
    for (const Step& step : steps.list)
      starts_.emplace_back(step.time.from_ns, StepKey{step.epoch, step.number});
    std::sort(starts_.begin(), starts_.end());
  }
  StepKey at(std::int64_t ns) const {
    const auto next =
        std::upper_bound(starts_.begin(), starts_.end(), ns,
                         [](std::int64_t time, const auto& step) { return time < step.first; });
    return next == starts_.begin() ? kNoStep : (next - 1)->second;
  }
  static constexpr StepKey kNoStep{kNoId, kNoId};

 private:
  std::vector<std::pair<std::int64_t, StepKey>> starts_;
};

struct JoinedRanks {
  std::map<Key, Collective> collectives;
  std::set<Kind> uneven;  // without Seq, of which ranks have different numbers: some were lost
};

// Pieces of the kinds in `by_step` are numbered in each step by itself.
JoinedRanks join_ranks(const Run& run, const std::set<Kind>& by_step) {
  JoinedRanks joined;
  std::map<Kind, std::int64_t> counts;  // of the first rank that has them
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    std::optional<PieceSteps> steps;
    if (!by_step.empty()) steps.emplace(run.ranks[rank].steps);
    std::map<std::pair<Kind, StepKey>, std::int64_t> seen;
    std::map<Kind, std::int64_t> own_counts;
    for (Piece& piece : pieces_of(run, rank)) {
      const Kind kind = kind_of(piece);
      if (!has_seq(piece)) ++own_counts[kind];
      const StepKey step =
          by_step.count(kind) > 0 ? steps->at(piece.start_ns) : PieceSteps::kNoStep;
      const Key key{kind, step, seen[{kind, step}]++};
      const auto [found, is_new] = joined.collectives.try_emplace(key, std::move(piece.what));
      if (is_new) continue;
      found->second.parts.push_back(
          {rank, piece.what.parts.front().start_ns, piece.what.parts.front().end_ns});
      found->second.bytes = std::max(found->second.bytes, piece.what.bytes);
    }
    for (const auto& [kind, count] : own_counts)
      if (counts.try_emplace(kind, count).first->second != count) joined.uneven.insert(kind);
  }
  return joined;
}

// A second time only where something was lost.
std::map<Key, Collective> join_ranks(const Run& run) {
  JoinedRanks joined = join_ranks(run, {});
  if (!joined.uneven.empty()) joined = join_ranks(run, joined.uneven);
  return std::move(joined.collectives);
}

const CollectivePart& extreme(const Collective& what, bool common_clock, bool last) {
  const auto lateness = [&](const CollectivePart& part) {
    return common_clock ? part.start_ns : part.start_ns - part.end_ns;
  };
  const CollectivePart* found = &what.parts.front();
  for (const CollectivePart& part : what.parts)
    if (last ? lateness(part) > lateness(*found) : lateness(part) < lateness(*found)) found = &part;
  return *found;
}

}  // namespace

bool Collective::all_wait_for_all() const {
  return is_all_reduce(name) || is_in_parts(name) || !has_root(name);
}

std::int64_t Collective::latency_ns() const {
  std::int64_t least = parts.front().end_ns - parts.front().start_ns;
  for (const CollectivePart& part : parts) least = std::min(least, part.end_ns - part.start_ns);
  return least;
}

std::int64_t Collective::skew_in_ns() const {
  return last(true).start_ns - first(true).start_ns;
}

std::int64_t Collective::first_end_ns() const {
  std::int64_t least = parts.front().end_ns;
  for (const CollectivePart& part : parts) least = std::min(least, part.end_ns);
  return least;
}

std::int64_t Collective::skew_out_ns() const {
  std::int64_t most = parts.front().end_ns;
  for (const CollectivePart& part : parts) most = std::max(most, part.end_ns);
  return most - first_end_ns();
}

const CollectivePart& Collective::last(bool common_clock) const {
  return extreme(*this, common_clock, true);
}
const CollectivePart& Collective::first(bool common_clock) const {
  return extreme(*this, common_clock, false);
}

double Collective::algo_gbps() const {
  const std::int64_t ns = latency_ns();
  return ns > 0 ? static_cast<double>(bytes) / static_cast<double>(ns) : 0;
}

double Collective::bus_gbps() const {
  const std::int64_t ranks = group_size > 0 ? group_size : static_cast<std::int64_t>(parts.size());
  return algo_gbps() * bus_factor(name, ranks);
}

MatchedCollectives match_collectives(const Run& run) {
  MatchedCollectives found;
  std::map<std::string, std::size_t> most_ranks;  // of a group's collectives
  std::map<Key, Collective> joined = join_ranks(run);
  for (const auto& [key, what] : joined) {
    std::size_t& most = most_ranks[what.group];
    most = std::max(most, what.parts.size());
  }
  for (auto& [key, what] : joined) {
    const std::size_t expected = most_ranks[what.group];
    what.complete = what.parts.size() == expected;
    if (!is_point_to_point(what.name) && !what.complete) found.left_over += what.parts.size();
    const bool matched = what.parts.size() > 1 && !is_point_to_point(what.name);
    (matched ? found.matched : found.single).push_back(std::move(what));
  }
  const auto earlier = [](const Collective& a, const Collective& b) {
    return a.parts.front().start_ns < b.parts.front().start_ns;
  };
  std::stable_sort(found.matched.begin(), found.matched.end(), earlier);
  std::stable_sort(found.single.begin(), found.single.end(), earlier);
  return found;
}

}  // namespace traceloom
