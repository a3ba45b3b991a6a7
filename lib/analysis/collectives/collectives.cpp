#include "analysis/collectives/collectives.h"

#include "analysis/collectives/messages.h"
#include "analysis/work/work_names.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <set>
#include <utility>

namespace traceloom {
namespace {

// The kind of a piece: group, name, dtype, bytes, Seq, and for a message its ends.
using Kind =
    std::tuple<ProcessGroup, std::string, std::string, std::int64_t, std::int64_t, MessageEnds>;
constexpr std::size_t kDtype = 2;
constexpr std::size_t kBytes = 3;
// The position of a piece within its kind and step. If steps do not matter, all pieces have the
// same step.
using Key = std::tuple<Kind, StepKey, std::int64_t>;

// A Seq without a group is useless, since each group counts for itself.
bool has_seq(const CommunicationPiece& piece) {
  return piece.seq != kNoId && !piece.what.group.empty();
}

// With a Seq, sizes do not matter: in an all-to-all each rank may have another one. Each end of a
// message has a Seq of its own.
Kind kind_of(const CommunicationPiece& piece, const std::optional<MessageEnds>& ends,
             std::int64_t own) {
  const Collective& what = piece.what;
  if (ends) return {what.group, "", "", 0, kNoId, *ends};
  // The messages of other ranks are different ones, and the ends cannot be matched.
  if (is_point_to_point(what.name)) return {what.group, what.name, "", 0, kNoId, {own, kNoId}};
  if (has_seq(piece)) return {what.group, what.name, "", 0, piece.seq, {}};
  return {what.group, what.name, piece.own_dtype, piece.own_bytes, kNoId, {}};
}

// Returns the bytes if they are the same on all ranks, otherwise 0. Ranks may put different sizes
// into an all-to-all, and receive them from a gather.
std::int64_t common_bytes(const Collective& what) {
  return is_all_reduce(what.name) ? what.bytes : 0;
}

// Kinds without Seq for which ranks have different pieces, so that some pieces were lost.
struct UnevenKinds {
  std::set<Kind> counts;   // ranks have different numbers of pieces
  std::set<Kind> tensors;  // ranks move different tensors, according to the operators that launched
                           // all of them

  bool empty() const { return counts.empty() && tensors.empty(); }
  bool contains(const Kind& kind) const { return counts.contains(kind) || tensors.contains(kind); }
};

// Compares the pieces of each kind between ranks, one rank after another.
class KindComparison {
 public:
  void add(const Kind& kind, const CommunicationPiece& piece) {
    PiecesOfRank& pieces = own_[kind];
    ++pieces.count;
    pieces.all_have_types = pieces.all_have_types && !piece.what.dtype.empty();
    pieces.tensors = std::hash<std::string>()(
        fmt::format("{} {} {}", pieces.tensors, piece.what.dtype, common_bytes(piece.what)));
  }
  void end_rank() {
    for (const auto& [kind, pieces] : own_) {
      const PiecesOfRank& first = first_.try_emplace(kind, pieces).first->second;
      if (first.count != pieces.count) uneven_.counts.insert(kind);
      if (first.tensors != pieces.tensors) uneven_.tensors.insert(kind);
      if (!pieces.all_have_types) silent_.insert(kind);
    }
    own_.clear();
  }
  UnevenKinds finish() {
    for (const Kind& kind : silent_) uneven_.tensors.erase(kind);
    return std::move(uneven_);
  }

 private:
  struct PiecesOfRank {
    std::int64_t count = 0;
    bool all_have_types = true;
    std::size_t tensors = 0;  // hash of their types and bytes, in order
  };
  std::map<Kind, PiecesOfRank> own_;
  std::map<Kind, PiecesOfRank> first_;  // pieces of the first rank that has the kind
  std::set<Kind> silent_;
  UnevenKinds uneven_;
};

struct JoinedRanks : PartCounts {
  std::map<Key, Collective> collectives;
  std::map<Key, std::vector<Collective>> messages;  // one or both ends of each message
  UnevenKinds uneven;
};

// If one rank gives the output and another the input, the output counts.
void take_bytes(const Collective& part, Collective& whole) {
  if (part.bytes > 0 && whole.bytes > 0 && part.bytes_are_input != whole.bytes_are_input) {
    if (whole.bytes_are_input) whole.bytes = part.bytes;
    whole.bytes_are_input = false;
  } else {
    if (whole.bytes == 0) whole.bytes_are_input = part.bytes_are_input;
    whole.bytes = std::max(whole.bytes, part.bytes);
  }
  if (whole.group_size == 0) whole.group_size = part.group_size;
}

// Adds a piece of one rank.
void join(CommunicationPiece& piece, const Key& key, bool is_message, JoinedRanks& joined) {
  joined.by_operator += piece.what.bytes > 0 && piece.own_bytes == 0 ? 1 : 0;
  joined.unclear_counts += piece.has_unclear_count ? 1 : 0;
  joined.sharing += piece.shares_range ? 1 : 0;
  joined.launch_only += piece.what.is_launch_only ? 1 : 0;
  if (is_message) return joined.messages[key].push_back(std::move(piece.what));
  const auto [found, is_new] = joined.collectives.try_emplace(key, std::move(piece.what));
  if (is_new) return;
  found->second.add(piece.what.parts.front());
  take_bytes(piece.what, found->second);
  if (found->second.dtype.empty()) found->second.dtype = piece.what.dtype;
}

// Pieces of uneven kinds are numbered separately in each step, and by tensors if these differ.
JoinedRanks join_ranks(const Run& run, const MessageRanks& messages, const UnevenKinds& uneven) {
  JoinedRanks joined;
  KindComparison comparison;
  for_each_communication(run, [&](std::size_t rank, std::vector<CommunicationPiece> pieces) {
    std::optional<StepsByTime> steps;
    if (!uneven.empty()) steps.emplace(run.ranks[rank].steps);
    std::map<std::pair<Kind, StepKey>, std::int64_t> seen;
    for (CommunicationPiece& piece : pieces) {
      const std::int64_t own = run.ranks[rank].rank;
      const std::optional<MessageEnds> ends = messages.ends_of(piece, own);
      Kind kind = kind_of(piece, ends, own);
      if (ends || !has_seq(piece)) comparison.add(kind, piece);
      const Step* const begun = uneven.contains(kind) ? steps->begun_at(piece.start_ns) : nullptr;
      const StepKey step = begun != nullptr ? key_of(*begun) : StepKey{};
      if (uneven.tensors.contains(kind)) {
        std::get<kDtype>(kind) = piece.what.dtype;
        std::get<kBytes>(kind) = common_bytes(piece.what);
      }
      const std::int64_t number = seen[{kind, step}]++;
      join(piece, {std::move(kind), step, number}, ends.has_value(), joined);
    }
    comparison.end_rank();
  });
  joined.uneven = comparison.finish();
  return joined;
}

// Joins a second time only if pieces were lost.
JoinedRanks join_ranks(const Run& run) {
  const MessageRanks messages(run);
  JoinedRanks joined = join_ranks(run, messages, {});
  if (!joined.uneven.empty()) joined = join_ranks(run, messages, joined.uneven);
  return joined;
}

// The arguments of an operator are its input. For a gather the output counts, which is known once
// the number of ranks is. The same holds for what is known of one rank's part.
void count_bytes(Collective& what) {
  if (!what.bytes_are_part && (!what.bytes_are_input || !is_gather(what.name))) return;
  if (__builtin_mul_overflow(what.bytes, what.known_ranks(), &what.bytes)) what.bytes = 0;
}

auto lateness(bool common_clock) {
  return [=](const CollectivePart& part) {
    return common_clock ? part.start_ns : part.start_ns - part.end_ns;
  };
}

}  // namespace

bool Collective::all_wait_for_all() const {
  return is_all_reduce(name) || is_in_parts(name) || !has_root(name);
}

std::int64_t Collective::skew_in_ns() const {
  return last(true).start_ns - first(true).start_ns;
}

std::int64_t Collective::first_end_ns() const {
  return std::ranges::min(parts, {}, &CollectivePart::end_ns).end_ns;
}

std::int64_t Collective::skew_out_ns() const {
  return std::ranges::max(parts, {}, &CollectivePart::end_ns).end_ns - first_end_ns();
}

const CollectivePart& Collective::last(bool common_clock) const {
  return *std::ranges::max_element(parts, {}, lateness(common_clock));
}
const CollectivePart& Collective::first(bool common_clock) const {
  return *std::ranges::min_element(parts, {}, lateness(common_clock));
}

double Collective::algo_gbps() const {
  if (is_launch_only || is_eager || (is_point_to_point(name) && !transfer_ns)) return 0;
  const std::int64_t ns = latency_ns();
  return ns > 0 ? static_cast<double>(bytes) / static_cast<double>(ns) : 0;
}

std::int64_t Collective::known_ranks() const {
  if (group_size > 0) return group_size;
  return parts.size() > 1 ? static_cast<std::int64_t>(parts.size()) : 0;
}

double Collective::bus_gbps() const {
  const std::int64_t ranks = known_ranks();
  return ranks == 0 && !is_point_to_point(name) ? 0 : algo_gbps() * bus_factor(name, ranks);
}

namespace {

MatchedCollectives match(const Run& run) {
  std::map<ProcessGroup, std::size_t> most_ranks;  // the most ranks in a collective of each group
  JoinedRanks joined = join_ranks(run);
  MatchedCollectives found{joined, {}, {}, {}};
  std::vector<Collective> batches;
  for (auto& [key, what] : joined.collectives) {
    count_bytes(what);
    std::size_t& most = most_ranks[what.group];
    most = std::max(most, what.parts.size());
  }
  for (auto& [key, what] : joined.collectives) {
    const std::size_t expected = most_ranks[what.group];
    what.complete = what.parts.size() == expected;
    if (!is_point_to_point(what.name) && !what.complete) found.left_over += what.parts.size();
    if (is_batch(what)) {
      batches.push_back(std::move(what));
      continue;
    }
    const bool matched = what.parts.size() > 1 && !is_point_to_point(what.name);
    (matched ? found.matched : found.single).push_back(std::move(what));
  }
  MatchedEnds messages;
  for (auto& [key, ends] : joined.messages)
    messages.emplace_back(std::get<MessageEnds>(std::get<Kind>(key)), std::move(ends));
  append_messages(run, std::move(messages), std::move(batches), found);
  for (const Collective& what : found.single)
    found.lone_messages += is_point_to_point(what.name) && !what.transfer_ns ? 1 : 0;
  for (std::vector<Collective>* const list : {&found.matched, &found.single})
    std::ranges::stable_sort(*list, {},
                             [](const Collective& what) { return what.parts.front().start_ns; });
  return found;
}

}  // namespace

const MatchedCollectives& match_collectives(const Run& run) {
  return run.memo.get<MatchedCollectives>([&] { return match(run); });
}

namespace {

struct Pieces {
  CommTimes times;
  Intervals whole;
  Intervals moving;
};

void add(const Collective& what, const CollectivePart& part, Pieces& pieces) {
  ++pieces.times.count;
  pieces.times.bytes += what.bytes;
  pieces.times.transfer_known = pieces.times.transfer_known && !what.is_launch_only;
  pieces.whole.push_back({part.start_ns, part.end_ns});
  pieces.moving.push_back({part.end_ns - what.latency_ns(), part.end_ns});
}

}  // namespace

std::vector<CommTimes> find_comm_times(const std::vector<Collective>& collectives) {
  std::map<std::pair<std::size_t, std::string>, Pieces> found;
  for (const Collective& what : collectives)
    for (const CollectivePart& part : what.parts) {
      add(what, part, found[{part.rank, ""}]);
      add(what, part, found[{part.rank, what.name}]);
    }
  std::vector<CommTimes> times;
  times.reserve(found.size());
  for (auto& [key, pieces] : found) {
    std::tie(pieces.times.rank, pieces.times.name) = key;
    pieces.times.busy_ns = total_ns(unite(std::move(pieces.whole)));
    pieces.times.transfer_ns = total_ns(unite(std::move(pieces.moving)));
    times.push_back(std::move(pieces.times));
  }
  return times;
}

}  // namespace traceloom
