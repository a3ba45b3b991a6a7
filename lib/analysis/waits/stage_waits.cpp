#include "analysis/collectives/collectives.h"
#include "analysis/waits/rank_waits.h"
#include "analysis/work/work_names.h"
#include "base/arithmetic.h"
#include "per_rank/per_rank.h"

#include <algorithm>
#include <map>
#include <utility>

namespace traceloom {
namespace {

// The messages of one rank.
struct RankMessages {
  Intervals waits;
  Intervals moves;     // of messages and collectives
  Intervals messages;  // of which the other end is known: waiting and moving data
  Intervals unknown;
  std::size_t sent = 0;
  std::size_t received = 0;
};
using Messages = std::map<std::size_t, RankMessages>;

void add_part(RankMessages& rank, const CollectivePart& part, std::int64_t moved_ns) {
  const std::int64_t begin_ns = std::max(part.start_ns, part.end_ns - moved_ns);
  rank.waits.push_back({part.start_ns, begin_ns});
  rank.moves.push_back({begin_ns, part.end_ns});
}

// True if the event says how many ranks its group has, and all of them are here.
bool has_all_ranks(const Collective& what) {
  return what.group_size > 0 && what.parts.size() >= static_cast<std::size_t>(what.group_size);
}

// `lacks_ranks`: what no other rank has may have been waiting for one that is not here.
void add_single(const Collective& what, bool lacks_ranks, Messages& ranks) {
  if (!is_point_to_point(what.name)) {
    if (!lacks_ranks || has_all_ranks(what)) return;
    for (const CollectivePart& part : what.parts)
      ranks[part.rank].unknown.push_back({part.start_ns, part.end_ns});
    return;
  }
  for (const CollectivePart& part : what.parts) {
    RankMessages& rank = ranks[part.rank];
    if (!what.transfer_ns) {
      rank.unknown.push_back({part.start_ns, part.end_ns});
      continue;
    }
    add_part(rank, part, *what.transfer_ns);
    rank.messages.push_back({part.start_ns, part.end_ns});
    ++(is_send(what.name) ? rank.sent : rank.received);
  }
}

// Of one that several ranks have. Data that moves when these have come may still be waiting for
// those that are not here.
void add_matched(const Collective& what, bool lacks_ranks, Messages& ranks) {
  for (const CollectivePart& part : what.parts) {
    RankMessages& rank = ranks[part.rank];
    add_part(rank, part, what.latency_ns());
    if (!lacks_ranks || has_all_ranks(what)) continue;
    rank.unknown.push_back(rank.moves.back());
    rank.moves.pop_back();
  }
}

// Returns the times of the messages of a rank.
Intervals find_messages_of(const Run& run, std::size_t rank) {
  const auto is_message = [&](const DeviceSpan& span) {
    return run.labels.kind(span.label).role == Role::communication &&
           is_point_to_point(run.labels.name(span.label));
  };
  bool any = false;
  run.ranks[rank].for_each_device([&](const DeviceSpan& span) { any = any || is_message(span); });
  Intervals found;
  if (!any) return found;
  for (const CommunicationPiece& piece : find_communication(run, rank)) {
    if (!is_point_to_point(piece.what.name)) continue;
    for (const CollectivePart& part : piece.what.parts)
      found.push_back({part.start_ns, part.end_ns});
  }
  return found;
}

// Uses pieces alone, before the slow matching of collectives; returns nothing if there are no
// messages.
Messages find_unknown(const Run& run, const std::vector<std::size_t>& ranks) {
  Messages found;
  const auto find = [&](std::size_t rank) { return find_messages_of(run, rank); };
  for_each_rank<Intervals>(run, ranks, find, [&](std::size_t rank, Intervals messages) {
    if (!messages.empty()) found[rank].unknown = std::move(messages);
  });
  return found;
}

Messages find_messages(const Run& run, CollectivesOfRun& collectives,
                       const std::vector<std::size_t>& of_ranks, bool lacks_ranks) {
  Messages ranks = find_unknown(run, of_ranks);
  if ((!ranks.empty() || lacks_ranks) && run.ranks.size() > 1) {
    ranks.clear();
    const MatchedCollectives& found = collectives.get();
    for (const Collective& what : found.single) add_single(what, lacks_ranks, ranks);
    for (const Collective& what : found.matched) add_matched(what, lacks_ranks, ranks);
  }
  for (auto& [rank, messages] : ranks)
    for (Intervals* const set :
         {&messages.waits, &messages.moves, &messages.messages, &messages.unknown})
      *set = unite(std::move(*set));
  return ranks;
}

// Returns the parts of a rank's steps that are communication and no role before it, in Role's
// order.
Intervals exposed_communication(const RankRoles& roles) {
  Intervals left = intersect(roles.counted(), unpacked(roles.sets[Role::communication]));
  for (const Role role : {Role::kernel, Role::memcpy, Role::memset})
    left = subtract(left, unpacked(roles.sets[role]));
  return left;
}

// The parts of the steps up to the rank's last message in each.
Intervals until_last_message(const RankRoles& roles, const Intervals& messages) {
  Intervals parts;
  for (const StepRoles& step : roles.steps) {
    const Interval& time = step.step.time;
    const auto next =
        std::partition_point(messages.begin(), messages.end(),
                             [&](const Interval& message) { return message.from_ns < time.to_ns; });
    if (next != messages.begin() && (next - 1)->to_ns > time.from_ns)
      parts.push_back({time.from_ns, std::min((next - 1)->to_ns, time.to_ns)});
  }
  return unite(std::move(parts));
}

// What moves data in all of the exposed communication that is no waiting and not unknown.
void add_moves(const RankRoles& roles, const RankMessages& rank, const Intervals& exposed,
               StageWaits& stages) {
  const Intervals moves = intersect(exposed, rank.moves);
  const Intervals of_collectives = subtract(moves, rank.messages);
  const std::int64_t inner_ns =
      total_ns(intersect(of_collectives, until_last_message(roles, rank.messages)));
  add_to(stages.message_ns, total_ns(moves) - total_ns(of_collectives));
  add_to(stages.inner_ns, inner_ns);
  add_to(stages.end_ns, total_ns(of_collectives) - inner_ns);
}

}  // namespace

StageWaits find_stage_waits(const Run& run, CollectivesOfRun& collectives,
                            const std::vector<RankRoles>& roles,
                            const std::vector<std::size_t>& ranks, bool lacks_ranks) {
  StageWaits stages;
  if (lacks_ranks && run.ranks.size() == 1) {
    for (const std::size_t rank : ranks)
      add_to(stages.unknown_ns, total_ns(exposed_communication(roles[rank])));
    return stages;
  }
  const Messages messages = find_messages(run, collectives, ranks, lacks_ranks);
  stages.is_pipeline = std::ranges::any_of(
      messages, [](const auto& rank) { return rank.second.sent > 0 && rank.second.received > 0; });
  for (const std::size_t rank : ranks) {
    const auto found = messages.find(rank);
    if (found == messages.end()) continue;
    const RankMessages& own = found->second;
    const Intervals exposed = exposed_communication(roles[rank]);
    const Intervals known = subtract(exposed, own.moves);
    const std::int64_t waits_ns = total_ns(intersect(known, own.waits));
    stages.messages += own.sent + own.received;
    add_to(stages.wait_ns, waits_ns);
    add_moves(roles[rank], own, exposed, stages);
    add_to(stages.unknown_ns, total_ns(intersect(subtract(known, own.waits), own.unknown)));
  }
  return stages;
}

}  // namespace traceloom
