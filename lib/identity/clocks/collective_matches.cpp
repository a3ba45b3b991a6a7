#include "identity/clocks/collective_matches.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

using Kind = CollectiveMarks::Kind;
using Side = CollectiveMarks::Side;

// Parses "[2, 3]"; returns nothing if the list is cut ("[0, 1, ..., 9]").
std::vector<std::int64_t> ranks_in(std::string_view list) {
  std::vector<std::int64_t> ranks;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    std::int64_t rank = 0;
    const auto [stop, error] = std::from_chars(at, end, rank);
    if (error == std::errc{}) ranks.push_back(rank);
    at = error == std::errc{} ? stop : at + 1;
  }
  return list.find("...") == std::string_view::npos ? ranks : std::vector<std::int64_t>{};
}

std::string group_of(const Kind& kind) {
  return kind.group + '\n' + kind.ranks;
}

// Events name the other end of a message by its number among all ranks or by its place in the
// group. It is a place if any event of the group names a number that is not in the group, or the
// rank itself.
std::set<std::string> groups_by_place(const std::vector<MarkedFile>& files) {
  std::set<std::string> groups;
  for (const MarkedFile& file : files)
    for (const auto& [key, kind] : file.marks->kinds()) {
      if (kind.side == Side::all) continue;
      const std::vector<std::int64_t> members = ranks_in(kind.ranks);
      if (kind.peer == file.rank || std::ranges::find(members, kind.peer) == members.end())
        groups.insert(group_of(kind));
    }
  return groups;
}

struct Entry {
  std::int64_t number = 0;
  RoundPart part;
};

// The parts of one kind, of all files; for messages, those of sender and receiver.
struct Parts {
  bool is_message = false;
  bool names_group = false;
  std::vector<Entry> entries;
};

class RoundMatcher {
 public:
  explicit RoundMatcher(const std::vector<MarkedFile>& files)
      : files_(files), by_place_(groups_by_place(files)) {}

  std::vector<CollectiveRound> run() {
    for (std::size_t file = 0; file < files_.size(); ++file) {
      const auto& kinds = files_[file].marks->kinds();
      const bool has_device =
          std::ranges::any_of(kinds, [](const auto& one) { return one.second.is_device; });
      for (const auto& [key, kind] : kinds)
        if (kind.is_whole && kind.is_device == has_device) add(file, kind);
    }
    std::vector<CollectiveRound> rounds;
    for (auto& [key, parts] : parts_) join(parts, rounds);
    return rounds;
  }

 private:
  void add(std::size_t file, const Kind& kind);
  std::optional<std::string> key_of(std::size_t file, const Kind& kind) const;
  void add_rounds(std::size_t file, const Kind& kind, Parts& parts) const;
  void join(Parts& parts, std::vector<CollectiveRound>& rounds) const;
  using Entries = std::vector<Entry>::const_iterator;
  std::optional<RoundPart> part_of(Entries first, Entries last) const;

  const std::vector<MarkedFile>& files_;
  std::set<std::string> by_place_;
  std::map<std::string, Parts> parts_;
};

// Returns nullopt for a message whose other end is not known.
std::optional<std::string> RoundMatcher::key_of(std::size_t file, const Kind& kind) const {
  const std::string& cycle = files_[file].cycle;
  if (kind.side == Side::all && kind.has_seq)
    return fmt::format("{}\n{}\n{}", cycle, group_of(kind), kind.what);
  if (kind.side == Side::all)
    return fmt::format("{}\n{}\n{}\n{}", cycle, group_of(kind), kind.what, kind.count);
  std::int64_t peer = kind.peer;
  if (by_place_.contains(group_of(kind))) {
    const std::vector<std::int64_t> members = ranks_in(kind.ranks);
    if (peer < 0 || peer >= static_cast<std::int64_t>(members.size())) return std::nullopt;
    peer = members[static_cast<std::size_t>(peer)];
  }
  const std::int64_t own = files_[file].rank;
  if (peer == own) return std::nullopt;
  const bool sends = kind.side == Side::send;
  return fmt::format("{}\n{}\n{} to {}\n{}", cycle, group_of(kind), sends ? own : peer,
                     sends ? peer : own, kind.count);
}

void RoundMatcher::add(std::size_t file, const Kind& kind) {
  if (files_[file].has_several_ranks && !(kind.side == Side::all && kind.has_seq)) return;
  const std::optional<std::string> key = key_of(file, kind);
  if (!key || (!kind.has_seq && !kind.is_by_time && kind.every > 1)) return;
  Parts& parts = parts_[*key];
  parts.is_message = kind.side != Side::all;
  parts.names_group = !kind.group.empty() || !kind.ranks.empty();
  add_rounds(file, kind, parts);
}

void RoundMatcher::add_rounds(std::size_t file, const Kind& kind, Parts& parts) const {
  std::vector<CollectiveMarks::Round> rounds = kind.rounds;
  if (!kind.has_seq && !kind.is_by_time) {
    std::ranges::stable_sort(rounds, {}, &CollectiveMarks::Round::begin_ns);
    for (std::size_t i = 0; i < rounds.size(); ++i) rounds[i].number = static_cast<std::int64_t>(i);
  }
  for (const CollectiveMarks::Round& round : rounds) {
    // The sender of a message comes first, whichever file has the lower number.
    Entry entry{round.number, {file, 0, 0}};
    if (files_[file].times->map(round.begin_ns, entry.part.begin_ns) &&
        files_[file].times->map_end(round.begin_ns, round.end_ns, entry.part.end_ns) &&
        is_usable_stamp(entry.part.begin_ns) && is_usable_stamp(entry.part.end_ns) &&
        entry.part.begin_ns <= entry.part.end_ns) {
      parts.entries.push_back(entry);
      if (kind.side == Side::send) parts.entries.back().number *= 2;
      if (kind.side == Side::receive) parts.entries.back().number = 2 * round.number + 1;
    }
  }
}

// Returns the part of a file with these entries of one number. Several entries of one rank prove
// nothing and give none. If the file has several ranks, all had entered when the last one did, and
// none had left before the first one.
std::optional<RoundPart> RoundMatcher::part_of(Entries first, Entries last) const {
  RoundPart part = first->part;
  if (last - first > 1 && !files_[part.clock].has_several_ranks) return std::nullopt;
  for (auto entry = first; entry != last; ++entry) {
    part.begin_ns = std::max(part.begin_ns, entry->part.begin_ns);
    part.end_ns = std::min(part.end_ns, entry->part.end_ns);
  }
  return part.begin_ns <= part.end_ns ? std::optional(part) : std::nullopt;
}

void RoundMatcher::join(Parts& parts, std::vector<CollectiveRound>& rounds) const {
  const std::int64_t each = parts.is_message ? 2 : 1;
  std::ranges::stable_sort(parts.entries, {}, [](const Entry& entry) {
    return std::pair(entry.number, entry.part.clock);
  });
  for (auto entry = parts.entries.begin(); entry != parts.entries.end();) {
    CollectiveRound round{{}, parts.is_message, parts.names_group};
    std::size_t senders = 0;
    const std::int64_t number = entry->number / each;
    while (entry != parts.entries.end() && entry->number / each == number) {
      const auto next = std::find_if(entry, parts.entries.end(), [&](const Entry& other) {
        return other.number != entry->number || other.part.clock != entry->part.clock;
      });
      if (const std::optional<RoundPart> part = part_of(entry, next)) {
        round.parts.push_back(*part);
        senders += entry->number % 2 == 0 ? 1 : 0;
      }
      entry = next;
    }
    const bool is_whole =
        parts.is_message ? round.parts.size() == 2 && senders == 1 : round.parts.size() > 1;
    if (is_whole) rounds.push_back(std::move(round));
  }
}

}  // namespace

std::vector<CollectiveRound> match_rounds(const std::vector<MarkedFile>& files) {
  return RoundMatcher(files).run();
}

}  // namespace traceloom
