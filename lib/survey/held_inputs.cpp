#include "survey/held_inputs.h"

#include "base/saturating.h"
#include "clock/time_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

std::string_view name_of_file(const std::string& path) {
  return std::string_view(path).substr(path.find_last_of('/') + 1);
}

// When the events of a file begin, moved by so much.
struct Times {
  Times(const EventTally& tally, std::int64_t by_ns)
      : first_ns(saturating_add(tally.first_ns, by_ns)),
        last_ns(saturating_add(tally.last_ns, by_ns)) {}
  bool meet(const Times& other) const {
    return first_ns <= other.last_ns && other.first_ns <= last_ns;
  }
  std::int64_t first_ns;
  std::int64_t last_ns;
};

// What Composer stamps on each file of a rank, and its merger leaves as it is: the rank, the thread
// that trains, the clock sync of the cycle.
using Stamp = std::tuple<std::int64_t, std::string, std::optional<std::int64_t>>;

Stamp without_sync(const Stamp& stamp) {
  return {std::get<0>(stamp), std::get<1>(stamp), std::nullopt};
}

std::set<Stamp> stamps_of(const FileEvidence& evidence) {
  using Thread = std::pair<std::string_view, std::string_view>;
  std::multimap<Thread, std::int64_t> syncs;
  for (const Mark& sync : evidence.syncs) syncs.emplace(Thread(sync.pid, sync.tid), sync.value);
  std::set<Stamp> stamps;
  for (const Mark& rank : evidence.rank_marks) {
    const auto [begin, end] = syncs.equal_range(Thread(rank.pid, rank.tid));
    if (begin == end) stamps.insert({rank.value, rank.tid, std::nullopt});
    for (auto sync = begin; sync != end; ++sync)
      stamps.insert({rank.value, rank.tid, sync->second});
  }
  return stamps;
}

class HeldFinder {
 public:
  HeldFinder(const std::vector<InputEvidence>& files, const std::vector<FileRank>& ranks)
      : files_(files), ranks_(ranks), held_(files.size()), is_begun_(files.size()) {}

  std::vector<HeldInputs> run() {
    for (std::size_t file = 0; file < files_.size(); ++file) note(file);
    // Ours may have been made of Composer's.
    for (std::size_t file = 0; file < files_.size(); ++file)
      if (is_of_composers_merger(file)) find_in_composers(file);
    for (std::size_t file = 0; file < files_.size(); ++file)
      if (is_of_ours(file)) find_in_ours(file);
    for (HeldInputs& held : held_) {
      std::ranges::sort(held.traces);
      held.traces.erase(std::unique(held.traces.begin(), held.traces.end()), held.traces.end());
    }
    return std::move(held_);
  }

 private:
  const FileEvidence& evidence(std::size_t file) const { return files_[file].evidence; }
  const EventTally& tally(std::size_t file) const { return evidence(file).tally; }
  bool is_of_ours(std::size_t file) const { return !evidence(file).inputs.empty(); }
  bool is_of_composers_merger(std::size_t file) const {
    return evidence(file).has_several_ranks() && !evidence(file).was_merged_by_us();
  }

  void note(std::size_t file) {
    by_tally_.emplace(std::pair(tally(file).events, tally(file).sum_ns), file);
    if (is_of_ours(file) || is_of_composers_merger(file)) return;
    held_[file].traces.push_back(file);
    by_rank_.emplace(ranks_[file].rank, file);
    for (const Stamp& stamp : stamps_of(evidence(file))) by_stamp_.emplace(stamp, file);
  }

  // A trace that is no input.
  std::size_t absent(const std::string& name) {
    return files_.size() + absent_.emplace(name, absent_.size()).first->second;
  }

  void find_in_composers(std::size_t merge);
  bool is_at_times_of(std::size_t merge, std::size_t file) const;

  void find_in_ours(std::size_t merge);
  bool fits_rank(const MergedInput& input, std::size_t file) const;
  std::optional<std::size_t> find_same(std::size_t merge, const MergedInput& input) const;
  std::optional<std::size_t> find_grown(const MergedInput& input) const;
  std::optional<std::size_t> find_untallied(std::size_t merge, const MergedInput& input) const;

  const std::vector<InputEvidence>& files_;
  const std::vector<FileRank>& ranks_;
  std::vector<HeldInputs> held_;
  std::vector<bool> is_begun_;  // of merges of ours
  std::multimap<std::pair<std::uint64_t, std::uint64_t>, std::size_t> by_tally_;
  // Of files that are no merge:
  std::multimap<std::int64_t, std::size_t> by_rank_;
  std::multimap<Stamp, std::size_t> by_stamp_;
  std::map<std::string, std::size_t> absent_;
};

// Its merger moves all to the clock of the lowest rank.
bool HeldFinder::is_at_times_of(std::size_t merge, std::size_t file) const {
  const auto from_us = evidence(file).sync_us();
  const auto to_us = evidence(merge).sync_us();
  std::int64_t shift_ns = 0;
  if (from_us && to_us &&
      __builtin_mul_overflow(saturating_subtract(*to_us, *from_us), std::int64_t{1000}, &shift_ns))
    return false;
  return Times(tally(file), shift_ns).meet(Times(tally(merge), 0));
}

void HeldFinder::find_in_composers(std::size_t merge) {
  HeldInputs& held = held_[merge];
  std::set<std::size_t> files;
  bool has_all = true;
  for (const Stamp& stamp : stamps_of(evidence(merge))) {
    const std::size_t known = files.size();
    // What a rank writes while no cycle begins has no sync.
    for (const Stamp& of_file : {stamp, without_sync(stamp)}) {
      const auto [begin, end] = by_stamp_.equal_range(of_file);
      for (auto found = begin; found != end; ++found)
        if (is_at_times_of(merge, found->second)) files.insert(found->second);
    }
    if (files.size() > known) continue;
    has_all = false;
    held.traces.push_back(absent(fmt::format("{} {} {}", std::get<0>(stamp), std::get<1>(stamp),
                                             std::get<2>(stamp).value_or(0))));
  }
  std::uint64_t events = 0;
  for (const std::size_t file : files) events += tally(file).events;
  // It was given files of others, too, which have no stamps.
  if (has_all && tally(merge).events > events)
    held.traces.push_back(absent(fmt::format("of {}", merge)));
  held.traces.insert(held.traces.end(), files.begin(), files.end());
}

bool HeldFinder::fits_rank(const MergedInput& input, std::size_t file) const {
  const FileRank& rank = ranks_[file];
  if (!input.says_rank || rank.source == RankSource::position ||
      rank.source == RankSource::argument)
    return true;
  const auto is_same = [&](const auto& one) { return one.second == input.rank; };
  return rank.is_merged() ? std::ranges::any_of(rank.rank_of_pid, is_same) ||
                                std::ranges::any_of(rank.rank_of_thread, is_same)
                          : rank.rank == input.rank;
}

// The same text, or a copy of it. Of several that of its rank.
std::optional<std::size_t> HeldFinder::find_same(std::size_t merge,
                                                 const MergedInput& input) const {
  if (!input.tally) return std::nullopt;
  std::optional<std::size_t> best;
  const auto [begin, end] = by_tally_.equal_range({input.tally->events, input.tally->sum_ns});
  for (auto found = begin; found != end; ++found) {
    const std::size_t file = found->second;
    if (file == merge || tally(file) != *input.tally || !fits_rank(input, file)) continue;
    if (!best || ranks_[file].rank == input.rank) best = file;
  }
  return best;
}

// It was still being written when it was merged.
std::optional<std::size_t> HeldFinder::find_grown(const MergedInput& input) const {
  if (!input.tally) return std::nullopt;
  const auto [begin, end] = by_rank_.equal_range(input.rank);
  for (auto found = begin; found != end; ++found)
    if (tally(found->second).continues(*input.tally)) return found->second;
  return std::nullopt;
}

// A name alone tells something where all times are those of the day.
std::optional<std::size_t> HeldFinder::find_untallied(std::size_t merge,
                                                      const MergedInput& input) const {
  if (input.tally) return std::nullopt;
  const Times whole(tally(merge), evidence(merge).base_ns.value_or(0));
  const bool has_names = input.has_clock && is_unix_time(whole.first_ns);
  const auto [begin, end] = by_rank_.equal_range(input.rank);
  for (auto found = begin; found != end; ++found) {
    const std::size_t file = found->second;
    const bool is_same =
        input.events == tally(file).events ||
        (has_names && name_of_file(input.path) == name_of_file(files_[file].input.path));
    if (is_same && Times(tally(file), input.offset_ns).meet(whole)) return file;
  }
  return std::nullopt;
}

void HeldFinder::find_in_ours(std::size_t merge) {
  if (is_begun_[merge]) return;
  is_begun_[merge] = true;
  HeldInputs held;
  for (const MergedInput& input : evidence(merge).inputs) {
    held.is_part = held.is_part || input.is_part;
    if (input.tally ? input.tally->empty() : input.events == std::uint64_t{0}) continue;
    std::optional<std::size_t> file = find_same(merge, input);
    if (!file && (file = find_grown(input))) held.is_part = true;
    if (!file) file = find_untallied(merge, input);
    if (!file) {
      const EventTally known = input.tally.value_or(EventTally{input.events.value_or(0)});
      held.traces.push_back(
          absent(fmt::format("{} {} {} {} {}", input.rank, known.events, known.sum_ns,
                             known.first_event, input.tally ? "" : input.path)));
    } else {
      if (is_of_ours(*file)) find_in_ours(*file);
      const HeldInputs& of_file = held_[*file];
      held.traces.insert(held.traces.end(), of_file.traces.begin(), of_file.traces.end());
      held.is_part = held.is_part || of_file.is_part;
    }
  }
  held_[merge] = std::move(held);
}

}  // namespace

std::vector<HeldInputs> find_held_inputs(const std::vector<InputEvidence>& files,
                                         const std::vector<FileRank>& ranks) {
  return HeldFinder(files, ranks).run();
}

}  // namespace traceloom
