#include "identity/repeats/held_inputs.h"

#include "base/saturating.h"
#include "clock/time_map.h"
#include "identity/evidence/composer_stamps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

std::string_view name_of_file(const std::string& path) {
  return std::string_view(path).substr(path.find_last_of('/') + 1);
}

// The times of a file's events, moved by an offset.
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

Stamp without_sync(const Stamp& stamp) {
  return {stamp.rank, stamp.tid, std::nullopt};
}

// Returns the sync of the lowest rank that has one.
template <class Stamps>
std::optional<std::int64_t> sync_of(const Stamps& stamps) {
  const auto found =
      std::ranges::find_if(stamps, [](const Stamp& stamp) { return stamp.sync_us.has_value(); });
  return found == stamps.end() ? std::nullopt : found->sync_us;
}

std::string name_of(const EventTally& tally) {
  return fmt::format("{} {} {}", tally.events, tally.sum_ns, tally.first_event);
}

// A merge by Composer's merger: an input, or one that a merge of ours has noted.
struct ComposersMerge {
  std::set<Stamp> stamps;
  const EventTally& tally;
  std::optional<std::int64_t> sync_us;
};

class HeldFinder {
 public:
  HeldFinder(const std::vector<InputEvidence>& files, const std::vector<FileRank>& ranks)
      : files_(files), ranks_(ranks), held_(files.size()), is_begun_(files.size()) {}

  std::vector<HeldInputs> run() {
    for (std::size_t file = 0; file < files_.size(); ++file) note(file);
    for (std::size_t file = 0; file < files_.size(); ++file) note_inputs(file);
    // Our merges come last, because they may have Composer's merges as inputs.
    for (std::size_t file = 0; file < files_.size(); ++file)
      if (is_of_composers_merger(file))
        find_in_composers({stamps_of(evidence(file)), tally(file), evidence(file).sync_us()},
                          held_[file]);
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

  void note_inputs(std::size_t merge);

  // Returns the number of a trace that is no input.
  std::size_t absent(const std::string& name) {
    return files_.size() + absent_.emplace(name, absent_.size()).first->second;
  }

  // The same for a file that a merge of ours has noted.
  std::size_t absent(const MergedInput& input) {
    const EventTally known = input.tally.value_or(EventTally{input.events.value_or(0)});
    return absent(
        fmt::format("{} {} {}", input.rank, name_of(known), input.tally ? "" : input.path));
  }

  void find_in_composers(const ComposersMerge& merge, HeldInputs& held);
  bool is_at_times_of(const ComposersMerge& merge, std::size_t trace) const;
  const EventTally& tally_of_trace(std::size_t trace) const;

  void find_in_ours(std::size_t merge);
  void find_noted_merges(std::size_t merge, HeldInputs& held);
  bool fits_rank(const MergedInput& input, std::size_t file) const;
  std::optional<std::size_t> find_same(std::size_t merge, const MergedInput& input) const;
  std::optional<std::size_t> find_grown(const MergedInput& input) const;
  bool is_absent(std::size_t merge, const MergedInput& input) const {
    return !find_same(merge, input) && !find_grown(input);
  }
  std::optional<std::size_t> find_untallied(std::size_t merge, const MergedInput& input) const;

  const std::vector<InputEvidence>& files_;
  const std::vector<FileRank>& ranks_;
  std::vector<HeldInputs> held_;
  std::vector<bool> is_begun_;  // for merges of ours: find_in_ours() has begun
  std::multimap<std::pair<std::uint64_t, std::uint64_t>, std::size_t> by_tally_;
  std::multimap<std::int64_t, std::size_t> by_rank_;  // files that are no merge
  std::multimap<Stamp, std::size_t> by_stamp_;        // these files, and noted ones
  std::map<std::string, std::size_t> absent_;
  std::map<std::size_t, const MergedInput*> noted_;  // traces that are no input but have stamps
};

// Notes Composer's files that merges of ours had as inputs and that are not inputs now.
void HeldFinder::note_inputs(std::size_t merge) {
  for (const MergedInput& input : evidence(merge).inputs) {
    if (!input.tally || input.stamps.empty() || input.has_several_ranks) continue;
    if (!is_absent(merge, input)) continue;
    const std::size_t trace = absent(input);
    if (!noted_.emplace(trace, &input).second) continue;
    for (const Stamp& stamp : input.stamps) by_stamp_.emplace(stamp, trace);
  }
}

const EventTally& HeldFinder::tally_of_trace(std::size_t trace) const {
  return trace < files_.size() ? tally(trace) : *noted_.at(trace)->tally;
}

// Composer's merger moves all files to the clock of the lowest rank.
bool HeldFinder::is_at_times_of(const ComposersMerge& merge, std::size_t trace) const {
  const auto from_us =
      trace < files_.size() ? evidence(trace).sync_us() : sync_of(noted_.at(trace)->stamps);
  std::int64_t shift_ns = 0;
  if (from_us && merge.sync_us &&
      __builtin_mul_overflow(saturating_subtract(*merge.sync_us, *from_us), std::int64_t{1000},
                             &shift_ns))
    return false;
  return Times(tally_of_trace(trace), shift_ns).meet(Times(merge.tally, 0));
}

void HeldFinder::find_in_composers(const ComposersMerge& merge, HeldInputs& held) {
  std::set<std::size_t> traces;
  bool has_all = true;
  for (const Stamp& stamp : merge.stamps) {
    const std::size_t known = traces.size();
    // Files that a rank writes while no cycle begins have no sync.
    for (const Stamp& of_file : {stamp, without_sync(stamp)}) {
      const auto [begin, end] = by_stamp_.equal_range(of_file);
      for (auto found = begin; found != end; ++found)
        if (is_at_times_of(merge, found->second)) traces.insert(found->second);
    }
    if (traces.size() > known) continue;
    has_all = false;
    held.traces.push_back(
        absent(fmt::format("{} {} {}", stamp.rank, stamp.tid, stamp.sync_us.value_or(0))));
  }
  std::uint64_t events = 0;
  for (const std::size_t trace : traces) events += tally_of_trace(trace).events;
  // The merger also had files of other tools, which have no stamps.
  if (has_all && merge.tally.events > events)
    held.traces.push_back(absent("of " + name_of(merge.tally)));
  held.traces.insert(held.traces.end(), traces.begin(), traces.end());
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

// Finds the same file or a copy of it; if there are several, the one of its rank.
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

// Finds a file that was still being written when it was merged.
std::optional<std::size_t> HeldFinder::find_grown(const MergedInput& input) const {
  if (!input.tally) return std::nullopt;
  const auto [begin, end] = by_rank_.equal_range(input.rank);
  for (auto found = begin; found != end; ++found)
    if (tally(found->second).continues(*input.tally)) return found->second;
  return std::nullopt;
}

// A name alone is evidence only if all times are Unix times.
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
      if (!input.has_several_ranks || !input.tally) held.traces.push_back(absent(input));
    } else {
      if (is_of_ours(*file)) find_in_ours(*file);
      const HeldInputs& of_file = held_[*file];
      held.traces.insert(held.traces.end(), of_file.traces.begin(), of_file.traces.end());
      held.is_part = held.is_part || of_file.is_part;
    }
  }
  find_noted_merges(merge, held);
  held_[merge] = std::move(held);
}

// Finds Composer's merges that this merge had as inputs and that are not inputs now.
void HeldFinder::find_noted_merges(std::size_t merge, HeldInputs& held) {
  std::map<std::string, ComposersMerge> merges;
  for (const MergedInput& input : evidence(merge).inputs) {
    if (!input.tally || !input.has_several_ranks || !is_absent(merge, input)) continue;
    ComposersMerge noted{{}, *input.tally, std::nullopt};
    const auto of = merges.try_emplace(name_of(noted.tally), std::move(noted)).first;
    of->second.stamps.insert(input.stamps.begin(), input.stamps.end());
  }
  for (auto& [name, composers] : merges) {
    composers.sync_us = sync_of(composers.stamps);
    find_in_composers(composers, held);
  }
}

}  // namespace

std::vector<HeldInputs> find_held_inputs(const std::vector<InputEvidence>& files,
                                         const std::vector<FileRank>& ranks) {
  return HeldFinder(files, ranks).run();
}

}  // namespace traceloom
