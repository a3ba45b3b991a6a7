#include "identity/clocks/collective_matches.h"

#include "base/arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
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

std::string seq_key(const Kind& kind) {
  return fmt::format("{}\n{}", group_of(kind), kind.what);
}

// The Seq of a group goes on from cycle to cycle of a job. The result has the groups and kinds
// whose numbers a rank has in two files, as those of a job that was started again.
std::set<std::string> repeated_numbers(const std::vector<MarkedFile>& files) {
  using Range = std::pair<std::int64_t, std::int64_t>;
  std::map<std::pair<std::int64_t, std::string>, std::vector<Range>> ranges;
  for (const MarkedFile& file : files)
    for (const auto& [key, kind] : file.marks->kinds()) {
      if (kind.side != Side::all || !kind.has_seq || kind.rounds.empty()) continue;
      const auto [least, most] =
          std::ranges::minmax(kind.rounds, {}, &CollectiveMarks::Round::number);
      ranges[{file.rank, seq_key(kind)}].emplace_back(least.number, most.number);
    }
  std::set<std::string> repeated;
  for (auto& [key, all] : ranges) {
    std::ranges::sort(all);
    for (std::size_t i = 1; i < all.size(); ++i)
      if (all[i].first <= all[i - 1].second) repeated.insert(key.second);
  }
  return repeated;
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
      : files_(files), by_place_(groups_by_place(files)), repeated_(repeated_numbers(files)) {}

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
  void add(std::size_t file, const Kind& kind) {
    if (files_[file].has_several_ranks && !(kind.side == Side::all && kind.has_seq)) return;
    const std::optional<std::string> key = key_of(file, kind);
    if (!key || (!kind.has_seq && !kind.is_by_time && kind.every > 1)) return;
    Parts& parts = parts_[*key];
    parts.is_message = kind.side != Side::all;
    parts.names_group = !kind.group.empty() || !kind.ranks.empty();
    add_rounds(file, kind, parts);
  }

  // Returns nullopt for a message whose other end is not known.
  std::optional<std::string> key_of(std::size_t file, const Kind& kind) const {
    const std::string& cycle = files_[file].cycle;
    if (kind.side == Side::all && kind.has_seq) {
      const std::string own = seq_key(kind);
      return repeated_.contains(own) ? fmt::format("{}\n{}", cycle, own) : own;
    }
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

  void add_rounds(std::size_t file, const Kind& kind, Parts& parts) const {
    std::vector<CollectiveMarks::Round> rounds = kind.rounds;
    if (!kind.has_seq && !kind.is_by_time) {
      std::ranges::stable_sort(rounds, {}, &CollectiveMarks::Round::begin_ns);
      for (std::size_t i = 0; i < rounds.size(); ++i)
        rounds[i].number = static_cast<std::int64_t>(i);
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

  void join(Parts& parts, std::vector<CollectiveRound>& rounds) const {
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

  using Entries = std::vector<Entry>::const_iterator;

  // Returns the part of a file with these entries of one number. Several entries of one rank prove
  // nothing and give none. If the file has several ranks, all had entered when the last one did,
  // and none had left before the first one.
  std::optional<RoundPart> part_of(Entries first, Entries last) const {
    RoundPart part = first->part;
    if (last - first > 1 && !files_[part.clock].has_several_ranks) return std::nullopt;
    for (auto entry = first; entry != last; ++entry) {
      part.begin_ns = std::max(part.begin_ns, entry->part.begin_ns);
      part.end_ns = std::min(part.end_ns, entry->part.end_ns);
    }
    return part.begin_ns <= part.end_ns ? std::optional(part) : std::nullopt;
  }

  const std::vector<MarkedFile>& files_;
  std::set<std::string> by_place_;
  std::set<std::string> repeated_;
  std::map<std::string, Parts> parts_;
};

}  // namespace

std::vector<CollectiveRound> match_rounds(const std::vector<MarkedFile>& files) {
  return RoundMatcher(files).run();
}

namespace {

// Ranks on one host, which share a clock, leave a collective that far apart.
constexpr std::int64_t kSkewNs = 10'000;

std::int64_t end_spread(const CollectiveRound& round, const std::vector<std::int64_t>& ahead) {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  for (const RoundPart& part : round.parts) {
    const std::int64_t end_ns = saturating_subtract(part.end_ns, ahead[part.clock]);
    first_ns = std::min(first_ns, end_ns);
    last_ns = std::max(last_ns, end_ns);
  }
  return saturating_subtract(last_ns, first_ns);
}

// Returns the median distance between the ends of a collective.
std::int64_t end_spread(const Island& island, const std::vector<std::int64_t>& ahead) {
  std::vector<std::int64_t> spreads;
  for (const CollectiveRound& round : island.rounds)
    if (!round.is_message) spreads.push_back(end_spread(round, ahead));
  return percentile(std::move(spreads), 50);
}

// True for a merge whose files had a clock sync. Its collectives are not used: some of its files
// may have had times of two kinds, which are not aligned by collectives, and a merge does not note
// that.
bool has_merged_sync(const ClockedFiles& all, std::size_t file) {
  return all.facts[file].is_merged && all.evidence(file).sync_us().has_value();
}

// True for a merge whose files had no clock evidence: it may hold ranks that are apart.
bool has_unknown_origin(const FileClock& clock) {
  return clock.method == ClockMethod::merged && !clock.is_known;
}

class IslandFinder {
 public:
  explicit IslandFinder(const ClockedFiles& all) : all_(all) {
    for (std::size_t i = 0; i < all.size(); ++i) first_ns_.push_back(all.times(i).first_ns);
    find_files();
  }

  std::vector<Island> run() const {
    if (files_.size() < 2) return {};
    std::vector<CollectiveRound> rounds = match_rounds(marked_files());
    const std::vector<std::size_t> root = roots_of(rounds);
    std::map<std::size_t, Island> islands;
    std::vector<std::size_t> place(files_.size());
    for (std::size_t index = 0; index < files_.size(); ++index) {
      Island& island = islands[root[index]];
      place[index] = island.files.size();
      island.files.push_back(files_[index]);
    }
    for (CollectiveRound& round : rounds) {
      Island& island = islands[root[round.parts.front().clock]];
      for (RoundPart& part : round.parts) part.clock = place[part.clock];
      island.rounds.push_back(std::move(round));
    }
    std::vector<Island> found;
    found.reserve(islands.size());
    for (auto& [first, island] : islands) found.push_back(std::move(island));
    return found;
  }

 private:
  void find_files() {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (!has_merged_sync(all_, i) && !all_.facts[i].relative_base_ns && !all_.starts(i).empty() &&
          !all_.evidence(i).collectives.empty() && !has_unknown_origin(all_.clocks[i]))
        files_.push_back(i);
    std::ranges::stable_sort(files_, {}, [this](std::size_t file) {
      return std::tuple(standing_of(all_.clocks[file]), all_.facts[file].rank, first_ns_[file]);
    });
  }

  std::vector<MarkedFile> marked_files() const {
    std::map<std::int64_t, std::vector<std::size_t>> of_rank;
    for (std::size_t index = 0; index < files_.size(); ++index)
      of_rank[all_.facts[files_[index]].rank].push_back(index);
    const std::size_t each = of_rank.begin()->second.size();
    const bool all_alike =
        std::ranges::all_of(of_rank, [each](const auto& one) { return one.second.size() == each; });
    std::vector<MarkedFile> marked;
    for (const std::size_t file : files_)
      marked.push_back({all_.facts[file].rank,
                        {},
                        &all_.evidence(file).collectives,
                        &all_.clocks[file].times,
                        all_.facts[file].ranks.size() > 1});
    for (auto& [rank, indices] : of_rank) {
      std::ranges::stable_sort(indices, {},
                               [this](std::size_t index) { return first_ns_[files_[index]]; });
      std::map<std::string, std::size_t> seen;
      for (const std::size_t index : indices) {
        const std::string& name = all_alike ? std::string() : all_.facts[files_[index]].cycle;
        marked[index].cycle = fmt::format("{} {}", seen[name]++, name);
      }
    }
    return marked;
  }

  // Returns for each file the first file with which it is connected.
  std::vector<std::size_t> roots_of(const std::vector<CollectiveRound>& rounds) const {
    std::vector<std::size_t> root(files_.size());
    std::iota(root.begin(), root.end(), std::size_t{0});
    const auto find = [&root](std::size_t index) {
      while (root[index] != index) index = root[index] = root[root[index]];
      return index;
    };
    for (const CollectiveRound& round : rounds)
      for (const RoundPart& part : round.parts) {
        const std::size_t a = find(round.parts.front().clock);
        const std::size_t b = find(part.clock);
        root[std::max(a, b)] = std::min(a, b);
      }
    for (std::size_t index = 0; index < root.size(); ++index) root[index] = find(index);
    return root;
  }

  const ClockedFiles& all_;
  std::vector<std::int64_t> first_ns_;
  std::vector<std::size_t> files_;  // the best reference first
};

}  // namespace

Standing standing_of(const FileClock& clock) {
  switch (clock.method) {
    case ClockMethod::given:
    case ClockMethod::rounds:
    case ClockMethod::same_boot:
    case ClockMethod::sync_event:
      return Standing::fixed;
    case ClockMethod::sync:
    case ClockMethod::sync_of_rank:
      return clock.times.has_drift() ? Standing::fixed : Standing::by_sync;
    case ClockMethod::base:
    case ClockMethod::epoch:
    case ClockMethod::collectives:
      return Standing::absolute;
    case ClockMethod::merged:
      return clock.is_known ? Standing::absolute : Standing::unknown;
    case ClockMethod::none:
      break;
  }
  return Standing::unknown;
}

std::vector<Island> find_islands(const ClockedFiles& files) {
  return IslandFinder(files).run();
}

bool names_groups(const Island& island) {
  return std::ranges::all_of(island.rounds, &CollectiveRound::names_group);
}

EndSpread end_spread(const Island& island, const std::vector<CollectiveFit>& fits) {
  std::vector<std::int64_t> ahead;
  ahead.reserve(fits.size());
  for (const CollectiveFit& fit : fits)
    ahead.push_back(fit.outcome == CollectiveFit::Outcome::fitted ? fit.ahead_ns : 0);
  return {end_spread(island, std::vector<std::int64_t>(ahead.size(), 0)),
          end_spread(island, ahead)};
}

bool contradicts_clocks(const Island& island, const std::vector<CollectiveFit>& fits) {
  std::int64_t least_error_ns = 0;
  bool is_excluded = false;
  for (const CollectiveFit& fit : fits) {
    if (fit.outcome != CollectiveFit::Outcome::fitted) continue;
    least_error_ns = std::max(least_error_ns, fit.least_error_ns);
    is_excluded |= !fit.ahead.holds(0) && std::abs(fit.ahead_ns) > fit.least_error_ns;
  }
  const auto [now_ns, then_ns] = end_spread(island, fits);
  return (is_excluded && names_groups(island)) ||
         (now_ns / 2 > then_ns && now_ns - then_ns > std::max(kSkewNs, least_error_ns));
}

}  // namespace traceloom
