#include "identity/repeats/repeats.h"

#include "base/error.h"
#include "base/saturating.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace traceloom {
namespace {

using Files = std::vector<std::size_t>;

bool may_repeat(const std::vector<InputEvidence>& files) {
  if (files.size() < 2) return false;
  std::set<std::pair<std::uint64_t, std::uint64_t>> known;
  return std::ranges::any_of(files, [&](const InputEvidence& file) {
    const EventTally& tally = file.evidence.tally;
    return file.evidence.was_merged() ||
           (!tally.empty() && !known.emplace(tally.events, tally.sum_ns).second);
  });
}

std::vector<FileRank> assigned_ranks(const std::vector<InputEvidence>& files) {
  std::vector<Input> inputs;
  std::vector<FileEvidence> evidence;
  for (const InputEvidence& file : files) {
    inputs.push_back(file.input);
    evidence.push_back(file.evidence);
  }
  return assign_ranks(inputs, evidence);
}

class RepeatFinder {
 public:
  explicit RepeatFinder(const std::vector<InputEvidence>& files)
      : files_(files), ranks_(assigned_ranks(files)), stays_(files.size(), true) {
    for (std::size_t file = 0; file < files.size(); ++file) original_.push_back(file);
  }

  std::vector<Repeat> run() {
    leave_copies_out();
    find_holders();
    leave_merges_out();
    leave_parts_out();
    std::ranges::sort(repeats_, {}, &Repeat::file);
    return std::move(repeats_);
  }

 private:
  const FileEvidence& evidence(std::size_t file) const { return files_[file].evidence; }
  const std::string& path(std::size_t file) const { return files_[file].input.path; }

  void leave_copies_out();
  bool are_copies(std::size_t a, std::size_t b) const;
  void find_holders();
  void leave_merges_out();
  std::set<std::size_t> other_holders(std::size_t merge) const;
  std::string words_of(const std::set<std::size_t>& holders) const;
  void leave_parts_out();
  void compare(std::size_t merge, std::size_t other);
  bool are_parts_apart(std::size_t a, std::size_t b) const;
  bool are_of_other_times(std::size_t a, std::size_t b) const;

  bool share_folder(std::size_t file, const std::set<std::size_t>& owners) const;
  void leave_out(std::size_t file, const std::set<std::size_t>& owners, std::string words);

  const std::vector<InputEvidence>& files_;
  std::vector<FileRank> ranks_;
  std::vector<bool> stays_;
  Files original_;  // the original of each copy
  std::vector<HeldInputs> held_;
  std::map<std::size_t, Files> holders_;  // keyed by trace
  std::vector<Repeat> repeats_;
};

// A copy has the same rank, but may have another name.
bool RepeatFinder::are_copies(std::size_t a, std::size_t b) const {
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

void RepeatFinder::leave_copies_out() {
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

void RepeatFinder::find_holders() {
  held_ = find_held_inputs(files_, ranks_);
  for (std::size_t file = 0; file < files_.size(); ++file) {
    Files& traces = held_[file].traces;
    for (std::size_t& trace : traces)
      if (trace < original_.size()) trace = original_[trace];
    std::ranges::sort(traces);
    traces.erase(std::unique(traces.begin(), traces.end()), traces.end());
    for (const std::size_t trace : traces) holders_[trace].push_back(file);
  }
}

// Returns the files that hold each trace of the merge, and all of it; the trace itself if it is an
// input. Empty if one of the traces is nowhere else.
std::set<std::size_t> RepeatFinder::other_holders(std::size_t merge) const {
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

std::string RepeatFinder::words_of(const std::set<std::size_t>& holders) const {
  const bool are_traces =
      std::ranges::none_of(holders, [&](std::size_t file) { return evidence(file).was_merged(); });
  const std::string more =
      holders.size() == 1 ? "" : fmt::format(" and {} more of the inputs", holders.size() - 1);
  return fmt::format("{} {}{}", are_traces ? "it is a merge of" : "all of it is in",
                     path(*holders.begin()), more);
}

// Leaves merges out, those with the most traces first, so that their inputs stay. Of equals, the
// one with fewer events goes first, because it may have been cut off; otherwise the last one does.
void RepeatFinder::leave_merges_out() {
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

void RepeatFinder::leave_parts_out() {
  for (std::size_t merge = 0; merge < files_.size(); ++merge) {
    if (!evidence(merge).was_merged()) continue;
    for (const std::size_t trace : held_[merge].traces)
      for (const std::size_t other : holders_.at(trace))
        if (other != merge && stays_[merge] && stays_[other]) compare(merge, other);
  }
}

// True if two parts of a trace have no event in common.
bool RepeatFinder::are_parts_apart(std::size_t a, std::size_t b) const {
  if (!held_[a].is_part || !held_[b].is_part) return false;
  const std::optional<NotedFilter>& of_a = evidence(a).filter;
  const std::optional<NotedFilter>& of_b = evidence(b).filter;
  return are_of_other_times(a, b) || (of_a && of_b && exclude_each_other(*of_a, *of_b));
}

bool RepeatFinder::are_of_other_times(std::size_t a, std::size_t b) const {
  const EventTally& of_a = evidence(a).tally;
  const EventTally& of_b = evidence(b).tally;
  const std::int64_t base_a = evidence(a).base_ns.value_or(0);
  const std::int64_t base_b = evidence(b).base_ns.value_or(0);
  return saturating_add(of_a.last_ns, base_a) < saturating_add(of_b.first_ns, base_b) ||
         saturating_add(of_b.last_ns, base_b) < saturating_add(of_a.first_ns, base_a);
}

// The two inputs share a trace, and the other inputs do not hold everything that the merge holds.
void RepeatFinder::compare(std::size_t merge, std::size_t other) {
  if (!held_[merge].is_part && std::ranges::includes(held_[merge].traces, held_[other].traces))
    return leave_out(other, {merge}, words_of({merge}));
  const bool is_turn_of_other =
      !held_[other].is_part && std::ranges::includes(held_[other].traces, held_[merge].traces);
  if (is_turn_of_other || are_parts_apart(merge, other)) return;
  throw Error(path(other), fmt::format("{} holds events of it as well, and neither holds all of "
                                       "the other; leave one of the two out",
                                       path(merge)));
}

// True if one folder led to all of the files and no argument named the file itself.
bool RepeatFinder::share_folder(std::size_t file, const std::set<std::size_t>& owners) const {
  const Input& input = files_[file].input;
  return !input.is_named && std::ranges::any_of(input.found_by, [&](std::size_t folder) {
    return std::ranges::all_of(owners, [&](std::size_t owner) {
      return std::ranges::count(files_[owner].input.found_by, folder) > 0;
    });
  });
}

void RepeatFinder::leave_out(std::size_t file, const std::set<std::size_t>& owners,
                             std::string words) {
  if (!share_folder(file, owners))
    throw Error(path(file), words +
                                ", and its events would count twice; leave one or the other "
                                "out");
  stays_[file] = false;
  repeats_.push_back({file, std::move(words)});
}

}  // namespace

ProblemCounts Repeat::problems() const {
  ProblemCounts counts;
  counts.add(Problem::repeated, 0);
  counts.explain(Problem::repeated, words);
  return counts;
}

std::vector<Repeat> find_repeats(const std::vector<InputEvidence>& files) {
  if (!may_repeat(files)) return {};
  return RepeatFinder(files).run();
}

}  // namespace traceloom
