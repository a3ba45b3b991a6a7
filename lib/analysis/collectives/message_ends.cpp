#include "analysis/collectives/message_ends.h"

#include "analysis/work/collective_names.h"
#include "base/ascii.h"
#include "per_rank/per_rank.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace traceloom {
namespace {

// Parses "[2, 3]"; returns nothing if the list is cut ("[0, 1, ..., 9]") or missing.
std::vector<std::int64_t> ranks_in(std::string_view list) {
  std::vector<std::int64_t> ranks;
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return {};
  list = list.substr(1, list.size() - 2);
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view text = list.substr(0, comma);
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    std::int64_t rank = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error != std::errc{} || stop != text.data() + text.size()) return {};
    ranks.push_back(rank);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return ranks;
}

// Most pieces are collectives of many ranks: do not read all their details.
bool may_have_peer(const Run& run, const DeviceSpan& span) {
  if (span.detail == kNoDetail) return false;
  const std::string_view details = run.details[span.detail];
  return details.find("Dst Rank") != std::string_view::npos ||
         details.find("Src Rank") != std::string_view::npos;
}

// Returns the numbers in Run::details of the messages of a rank that name their peer by its place.
// One for each group is enough.
std::set<std::uint32_t> details_by_place(const Run& run, std::size_t rank) {
  std::set<std::uint32_t> details;
  std::set<ProcessGroup> groups;
  run.ranks[rank].for_each_device([&](const DeviceSpan& span) {
    if (run.labels.kind(span.label).role != Role::communication) return;
    if (!may_have_peer(run, span)) return;
    const CommunicationPiece piece = device_piece(run, rank, span);
    if (!piece.peer || piece.what.group.ranks.empty()) return;
    const std::vector<std::int64_t> members = ranks_in(piece.what.group.ranks);
    if (*piece.peer == run.ranks[rank].rank ||
        std::find(members.begin(), members.end(), *piece.peer) == members.end())
      if (groups.insert(piece.what.group).second) details.insert(span.detail);
  });
  return details;
}

}  // namespace

MessageRanks::MessageRanks(const Run& run) : ranks_(static_cast<std::int64_t>(run.ranks.size())) {
  using Numbers = std::set<std::uint32_t>;
  const auto find = [&](std::size_t rank) { return details_by_place(run, rank); };
  for_each_rank<Numbers>(run, all_ranks(run), find, [&](std::size_t, const Numbers& details) {
    for (const std::uint32_t detail : details) by_place_.insert(group_at(run, detail));
  });
}

std::optional<MessageEnds> MessageRanks::ends_of(const CommunicationPiece& piece,
                                                 std::int64_t rank) const {
  if (!piece.peer) return std::nullopt;
  std::int64_t peer = *piece.peer;
  const std::vector<std::int64_t> members = ranks_in(piece.what.group.ranks);
  // In the group of all ranks, number and place are the same.
  if (members.empty() && piece.what.group_size != ranks_) return std::nullopt;
  if (by_place_.contains(piece.what.group)) {
    if (peer < 0 || peer >= static_cast<std::int64_t>(members.size())) return std::nullopt;
    peer = members[static_cast<std::size_t>(peer)];
  }
  if (peer == rank) return std::nullopt;
  return is_send(piece.what.name) ? MessageEnds{rank, peer} : MessageEnds{peer, rank};
}

}  // namespace traceloom
