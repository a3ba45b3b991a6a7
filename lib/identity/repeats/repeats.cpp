#include "identity/repeats/repeats.h"

#include "base/arithmetic.h"
#include "clock/time_map.h"
#include "identity/evidence/recorder_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

std::string_view name_of_file(const std::string& path) {
  return std::string_view(path).substr(path.find_last_of('/') + 1);
}

// Returns the times of a file's events, moved by an offset.
CommonTimes times_of(const EventTally& tally, std::int64_t by_ns) {
  return {saturating_add(tally.first_ns, by_ns), saturating_add(tally.last_ns, by_ns)};
}

CommonTimes times_of(const FileEvidence& evidence) {
  return times_of(evidence.tally, evidence.base_ns.value_or(0));
}

bool meet(const CommonTimes& a, const CommonTimes& b) {
  return a.first_ns <= b.last_ns && b.first_ns <= a.last_ns;
}

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

struct HeldInputs {
  // Numbers of the traces, ascending: that of an input, or a larger one for a trace that is no
  // input. Two merges that hold the same trace have the same number.
  std::vector<std::size_t> traces;
  bool is_part = false;  // some events of the traces may be missing
};

// Finds the traces that each input holds. A trace holds itself; a merge holds the traces of its
// inputs, even if they are not inputs now. A merge of ours notes its inputs, which are recognised
// by these rules:
// 1. A trace has the noted tally.
// 2. A trace that has grown since begins like the noted one.
// 3. For merges without noted tallies: rank and times agree, and the number of events or the name.
//
// A merge of Composer's holds those of Composer's traces whose threads and clock syncs it contains
// at the same times. This includes traces, and merges of Composer's, that are known only from the
// notes of a merge of ours.
class HeldFinder {
 public:
  HeldFinder(const std::vector<InputReading>& files, const std::vector<FileRank>& ranks)
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
  const FileEvidence& evidence(std::size_t file) const { return files_[file].reading.evidence; }
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

  // Notes Composer's files that merges of ours had as inputs and that are not inputs now.
  void note_inputs(std::size_t merge) {
    for (const MergedInput& input : evidence(merge).inputs) {
      if (!input.tally || input.stamps.empty() || input.has_several_ranks) continue;
      if (!is_absent(merge, input)) continue;
      const std::size_t trace = absent(input);
      if (!noted_.emplace(trace, &input).second) continue;
      for (const Stamp& stamp : input.stamps) by_stamp_.emplace(stamp, trace);
    }
  }

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

  void find_in_composers(const ComposersMerge& merge, HeldInputs& held) {
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

  // Composer's merger moves all files to the clock of the lowest rank.
  bool is_at_times_of(const ComposersMerge& merge, std::size_t trace) const {
    const auto from_us =
        trace < files_.size() ? evidence(trace).sync_us() : sync_of(noted_.at(trace)->stamps);
    std::int64_t shift_ns = 0;
    if (from_us && merge.sync_us &&
        __builtin_mul_overflow(saturating_subtract(*merge.sync_us, *from_us), std::int64_t{1000},
                               &shift_ns))
      return false;
    return meet(times_of(tally_of_trace(trace), shift_ns), times_of(merge.tally, 0));
  }

  const EventTally& tally_of_trace(std::size_t trace) const {
    return trace < files_.size() ? tally(trace) : *noted_.at(trace)->tally;
  }

  void find_in_ours(std::size_t merge) {
    if (is_begun_[merge]) return;
    is_begun_[merge] = true;
    HeldInputs held;
    for (const MergedInput& input : evidence(merge).inputs) {
      held.is_part = held.is_part || input.is_part;
      if (input.tally ? input.tally->empty() : input.events == std::uint64_t{0}) continue;
      std::optional<std::size_t> file = find_same(merge, input);
      if (!file) held.is_part |= (file = find_grown(input)).has_value();
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
  void find_noted_merges(std::size_t merge, HeldInputs& held) {
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

  bool fits_rank(const MergedInput& input, std::size_t file) const {
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
  std::optional<std::size_t> find_same(std::size_t merge, const MergedInput& input) const {
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
  std::optional<std::size_t> find_grown(const MergedInput& input) const {
    if (!input.tally) return std::nullopt;
    const auto [begin, end] = by_rank_.equal_range(input.rank);
    for (auto found = begin; found != end; ++found)
      if (tally(found->second).continues(*input.tally)) return found->second;
    return std::nullopt;
  }

  bool is_absent(std::size_t merge, const MergedInput& input) const {
    return !find_same(merge, input) && !find_grown(input);
  }

  // A name alone is evidence only if all times are Unix times.
  std::optional<std::size_t> find_untallied(std::size_t merge, const MergedInput& input) const {
    if (input.tally) return std::nullopt;
    const CommonTimes whole = times_of(evidence(merge));
    const bool has_names = input.has_clock && is_unix_time(whole.first_ns);
    const auto [begin, end] = by_rank_.equal_range(input.rank);
    for (auto found = begin; found != end; ++found) {
      const std::size_t file = found->second;
      const bool is_same =
          input.events == tally(file).events ||
          (has_names && name_of_file(input.path) == name_of_file(files_[file].input.path));
      if (is_same && meet(times_of(tally(file), input.offset_ns), whole)) return file;
    }
    return std::nullopt;
  }

  const std::vector<InputReading>& files_;
  const std::vector<FileRank>& ranks_;
  std::vector<HeldInputs> held_;
  std::vector<bool> is_begun_;  // for merges of ours: find_in_ours() has begun
  std::multimap<std::pair<std::uint64_t, std::uint64_t>, std::size_t> by_tally_;
  std::multimap<std::int64_t, std::size_t> by_rank_;  // files that are no merge
  std::multimap<Stamp, std::size_t> by_stamp_;        // these files, and noted ones
  std::map<std::string, std::size_t> absent_;
  std::map<std::size_t, const MergedInput*> noted_;  // traces that are no input but have stamps
};

using Files = std::vector<std::size_t>;

bool may_repeat(const std::vector<InputReading>& files) {
  if (files.size() < 2) return false;
  std::set<std::pair<std::uint64_t, std::uint64_t>> known;
  std::set<std::int64_t> ranks;
  return std::ranges::any_of(
             files,
             [&](const InputReading& file) {
               const FileEvidence& evidence = file.reading.evidence;
               const EventTally& tally = evidence.tally;
               const std::optional<std::int64_t> rank = said_rank(evidence);
               return evidence.was_merged() || (rank && !ranks.insert(*rank).second) ||
                      (!tally.empty() && !known.emplace(tally.events, tally.sum_ns).second);
             }) ||
         share_threads(files);
}

class RepeatFinder {
 public:
  explicit RepeatFinder(const std::vector<InputReading>& files)
      : files_(files), ranks_(assign_ranks(files)), stays_(files.size(), true) {
    for (std::size_t file = 0; file < files.size(); ++file) original_.push_back(file);
  }

  std::vector<Repeat> run() {
    leave_copies_out();
    for (const HeldElsewhere& merge : find_foreign_merges(files_, ranks_, stays_))
      leave_foreign_out(merge);
    for (const HeldElsewhere& part : find_parts(files_, ranks_, stays_))
      leave_out(part.file, part.owners, words_of_part(*part.owners.begin()));
    find_holders();
    leave_merges_out();
    leave_parts_out();
    std::ranges::sort(repeats_, {}, &Repeat::file);
    return std::move(repeats_);
  }

 private:
  const FileEvidence& evidence(std::size_t file) const { return files_[file].reading.evidence; }
  const std::string& path(std::size_t file) const { return files_[file].input.path; }

  void leave_copies_out() {
    std::map<std::pair<std::uint64_t, std::uint64_t>, Files> alike;
    for (std::size_t file = 0; file < files_.size(); ++file)
      if (const EventTally& tally = evidence(file).tally; !tally.empty())
        alike[{tally.events, tally.sum_ns}].push_back(file);
    for (auto& [tally, files] : alike) {
      std::ranges::stable_sort(files, {}, [&](std::size_t file) {
        return std::pair(!files_[file].input.is_named, ranks_[file].source);
      });
      for (auto file = files.begin(); file != files.end(); ++file) {
        const auto original = std::find_if(files.begin(), file, [&](std::size_t other) {
          return stays_[other] && are_copies(other, *file);
        });
        if (original == file) continue;
        original_[*file] = *original;
        leave_out(*file, {*original}, fmt::format("it is a copy of {}", path(*original)));
      }
    }
  }

  // A copy has the same rank, but may have another name.
  bool are_copies(std::size_t a, std::size_t b) const {
    const FileEvidence& of_a = evidence(a);
    const FileEvidence& of_b = evidence(b);
    if (of_a.tally != of_b.tally || of_a.sync_us() != of_b.sync_us() ||
        of_a.base_ns != of_b.base_ns || of_a.was_merged() != of_b.was_merged())
      return false;
    if (ranks_[a].ranks() == ranks_[b].ranks()) return true;
    const auto is_in_file = [&](std::size_t file) {
      return ranks_[file].source != RankSource::file_name &&
             ranks_[file].source != RankSource::position;
    };
    const auto is_placed = [&](std::size_t file) {
      return ranks_[file].source == RankSource::position;
    };
    return !is_in_file(a) && !is_in_file(b) && (is_placed(a) || is_placed(b));
  }

  void find_holders() {
    held_ = HeldFinder(files_, ranks_).run();
    for (std::size_t file = 0; file < files_.size(); ++file) {
      Files& traces = held_[file].traces;
      for (std::size_t& trace : traces)
        if (trace < original_.size()) trace = original_[trace];
      std::ranges::sort(traces);
      traces.erase(std::unique(traces.begin(), traces.end()), traces.end());
      for (const std::size_t trace : traces) holders_[trace].push_back(file);
    }
  }

  // Leaves merges out, those with the most traces first, so that their inputs stay. Of equals, the
  // one with fewer events goes first, because it may have been cut off; otherwise the last one
  // does.
  void leave_merges_out() {
    Files merges;
    for (std::size_t file = files_.size(); file-- > 0;)
      if (stays_[file] && evidence(file).was_merged()) merges.push_back(file);
    std::ranges::stable_sort(merges, std::greater<>(), [&](std::size_t file) {
      return std::pair(held_[file].traces.size(), ~evidence(file).tally.events);
    });
    for (const std::size_t merge : merges)
      if (const std::set<std::size_t> others = other_holders(merge); !others.empty())
        leave_out(merge, others, words_of(others));
  }

  // Returns the files that hold each trace of the merge, and all of it; the trace itself if it is
  // an input. Empty if one of the traces is nowhere else.
  std::set<std::size_t> other_holders(std::size_t merge) const {
    std::set<std::size_t> others;
    for (const std::size_t trace : held_[merge].traces) {
      const Files& holders = holders_.at(trace);
      const auto holds_all = [&](std::size_t file) {
        return file != merge && stays_[file] && !held_[file].is_part;
      };
      auto holder = std::ranges::find(holders, trace);
      if (holder == holders.end() || *holder == merge)
        holder = std::ranges::find_if(holders, holds_all);
      if (holder == holders.end()) return {};
      others.insert(*holder);
    }
    return others;
  }

  std::string words_of(const std::set<std::size_t>& holders) const {
    const bool are_traces = std::ranges::none_of(
        holders, [&](std::size_t file) { return evidence(file).was_merged(); });
    const std::string more =
        holders.size() == 1 ? "" : fmt::format(" and {} more of the inputs", holders.size() - 1);
    return fmt::format("{} {}{}", are_traces ? "it is a merge of" : "all of it is in",
                       path(*holders.begin()), more);
  }

  std::string words_of_part(std::size_t whole) const {
    return fmt::format("all of its events are in {}", path(whole));
  }

  void leave_foreign_out(const HeldElsewhere& merge) {
    if (!may_be_in_pieces(files_, ranks_, merge)) {
      std::uint64_t known = 0;
      for (const std::size_t owner : merge.owners) known += evidence(owner).tally.events;
      const std::uint64_t events = evidence(merge.file).tally.events;
      return leave_out(
          merge.file, merge.owners,
          words_of(merge.owners) +
              (events > known
                   ? fmt::format("; at least {} of its events are in no input", events - known)
                   : ""));
    }
    for (const std::size_t part : merge.owners)
      if (stays_[part]) leave_out(part, {merge.file}, words_of_part(merge.file));
  }

  void leave_parts_out() {
    for (std::size_t merge = 0; merge < files_.size(); ++merge) {
      if (!evidence(merge).was_merged()) continue;
      for (const std::size_t trace : held_[merge].traces)
        for (const std::size_t other : holders_.at(trace))
          if (other != merge && stays_[merge] && stays_[other]) compare(merge, other);
    }
  }

  // The two inputs share a trace, and the other inputs do not hold everything that the merge holds.
  void compare(std::size_t merge, std::size_t other) {
    if (!held_[merge].is_part && std::ranges::includes(held_[merge].traces, held_[other].traces))
      return leave_out(other, {merge}, words_of({merge}));
    const bool is_turn_of_other =
        !held_[other].is_part && std::ranges::includes(held_[other].traces, held_[merge].traces);
    if (is_turn_of_other || are_parts_apart(merge, other)) return;
    throw Error(path(other), fmt::format("{} holds events of it as well, and neither holds all of "
                                         "the other; leave one of the two out",
                                         path(merge)));
  }

  // True if two parts of a trace have no event in common.
  bool are_parts_apart(std::size_t a, std::size_t b) const {
    if (!held_[a].is_part || !held_[b].is_part) return false;
    const std::optional<NotedFilter>& of_a = evidence(a).filter;
    const std::optional<NotedFilter>& of_b = evidence(b).filter;
    return !meet(times_of(evidence(a)), times_of(evidence(b))) ||
           (of_a && of_b && exclude_each_other(*of_a, *of_b));
  }

  // True if one folder led to all of the files and no argument named the file itself.
  bool share_folder(std::size_t file, const std::set<std::size_t>& owners) const {
    const Input& input = files_[file].input;
    return !input.is_named && std::ranges::any_of(input.found_by, [&](std::size_t folder) {
      return std::ranges::all_of(owners, [&](std::size_t owner) {
        return std::ranges::count(files_[owner].input.found_by, folder) > 0;
      });
    });
  }

  void leave_out(std::size_t file, const std::set<std::size_t>& owners, std::string words) {
    if (!share_folder(file, owners))
      throw Error(path(file), words +
                                  ", and its events would count twice; leave one or the other "
                                  "out");
    stays_[file] = false;
    repeats_.push_back({file, std::move(words)});
  }

  const std::vector<InputReading>& files_;
  std::vector<FileRank> ranks_;
  std::vector<bool> stays_;
  Files original_;  // the original of each copy
  std::vector<HeldInputs> held_;
  std::map<std::size_t, Files> holders_;  // keyed by trace
  std::vector<Repeat> repeats_;
};

}  // namespace

ProblemCounts Repeat::problems() const {
  ProblemCounts counts;
  counts.add(Problem::repeated, 0, 1, words);
  return counts;
}

std::vector<Repeat> find_repeats(const std::vector<InputReading>& files) {
  if (!may_repeat(files)) return {};
  return RepeatFinder(files).run();
}

}  // namespace traceloom
