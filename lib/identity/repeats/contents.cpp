#include "identity/repeats/repeats.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

// A Print is what a thread holds, whatever its number and whenever it began.
using Print = std::array<std::uint64_t, 3>;

Print print_of(const ThreadTally& thread) {
  const auto first = static_cast<std::uint64_t>(thread.first_ns);
  return {thread.events, thread.sum_ns - thread.events * first, thread.lengths_ns};
}

const FileEvidence& evidence(const InputReading& file) {
  return file.reading.evidence;
}

bool is_plain(const InputReading& file) {
  return !evidence(file).was_merged() && evidence(file).threads.is_complete &&
         !evidence(file).threads.all.empty();
}

// Threads with one event each look like many others.
bool is_telling(const InputReading& file) {
  return std::ranges::any_of(evidence(file).threads.all,
                             [](const ThreadTally& thread) { return print_of(thread)[1] != 0; });
}

// The threads of a file that no input has taken yet.
class Unclaimed {
 public:
  explicit Unclaimed(const InputReading& file) {
    for (const ThreadTally& thread : evidence(file).threads.all) ++left_[print_of(thread)];
  }

  // Takes all threads of the file, or none of them.
  bool take(const InputReading& file) {
    const std::vector<ThreadTally>& threads = evidence(file).threads.all;
    for (std::size_t taken = 0; taken < threads.size(); ++taken) {
      const auto found = left_.find(print_of(threads[taken]));
      if (found != left_.end() && found->second > 0) {
        --found->second;
        continue;
      }
      while (taken > 0) ++left_[print_of(threads[--taken])];
      return false;
    }
    return true;
  }

 private:
  std::map<Print, std::size_t> left_;
};

// Threads with fewer events prove little if they are all that two files share.
constexpr std::uint64_t kTellingEvents = 8;

using Files = std::vector<std::size_t>;

class MergeFinder {
 public:
  MergeFinder(const std::vector<InputReading>& files, const std::vector<FileRank>& ranks,
              const std::vector<bool>& stays)
      : files_(files), ranks_(ranks) {
    for (std::size_t file = 0; file < files.size(); ++file)
      if (stays[file] && is_plain(files[file]) && is_telling(files[file])) plain_.push_back(file);
    std::ranges::stable_sort(plain_, std::greater<>(),
                             [this](std::size_t file) { return events_of(file); });
    for (const std::size_t file : plain_)
      for (const ThreadTally& thread : threads_of(file)) known_[print_of(thread)].push_back(file);
  }

  std::vector<HeldElsewhere> run() {
    std::vector<HeldElsewhere> merges;
    if (plain_.size() < 3) return merges;
    for (const std::size_t file : plain_) {
      std::set<std::size_t> owners = sharers(file);
      if (!is_merge_of(file, owners)) owners = inputs(file);
      if (is_merge_of(file, owners)) merges.push_back({file, std::move(owners)});
    }
    return merges;
  }

 private:
  const std::vector<ThreadTally>& threads_of(std::size_t file) const {
    return evidence(files_[file]).threads.all;
  }
  std::uint64_t events_of(std::size_t file) const { return evidence(files_[file]).tally.events; }

  // Files of one rank are parts of another, or its cycles.
  bool is_merge_of(std::size_t file, const std::set<std::size_t>& owners) const {
    std::set<std::int64_t> of_owners;
    for (const std::size_t owner : owners) of_owners.insert(ranks_[owner].rank);
    const RankSource source = ranks_[file].source;
    return of_owners.size() > 1 && source != RankSource::argument &&
           (source == RankSource::position || of_owners.contains(ranks_[file].rank));
  }

  // Returns the files with which this one shares telling threads that nobody else has.
  std::set<std::size_t> sharers(std::size_t file) const {
    std::map<std::size_t, std::size_t> shared;
    for (const ThreadTally& thread : threads_of(file)) {
      const Files& holders = known_.at(print_of(thread));
      if (thread.events >= kTellingEvents && holders.size() == 2 && holders[0] != holders[1])
        ++shared[holders[0] == file ? holders[1] : holders[0]];
    }
    std::set<std::size_t> owners;
    for (const auto& [owner, threads] : shared)
      if (threads > 1) owners.insert(owner);
    return owners;
  }

  // Returns the files that have the threads and events of this one together.
  std::set<std::size_t> inputs(std::size_t file) const {
    const std::uint64_t least =
        events_of(plain_[plain_.size() - 1]) + events_of(plain_[plain_.size() - 2]);
    if (events_of(file) < least ||
        std::ranges::any_of(threads_of(file), [&](const ThreadTally& thread) {
          return known_.at(print_of(thread)).size() < 2;
        }))
      return {};
    Unclaimed left(files_[file]);
    std::set<std::size_t> owners;
    std::uint64_t events = 0;
    for (const std::size_t other : plain_)
      if (events_of(other) < events_of(file) && left.take(files_[other])) {
        owners.insert(other);
        events += events_of(other);
      }
    return events == events_of(file) ? owners : std::set<std::size_t>();
  }

  const std::vector<InputReading>& files_;
  const std::vector<FileRank>& ranks_;
  Files plain_;                   // the largest first, so that wholes are taken before their parts
  std::map<Print, Files> known_;  // files with such a thread, one entry a thread
};

}  // namespace

std::vector<HeldElsewhere> find_foreign_merges(const std::vector<InputReading>& files,
                                               const std::vector<FileRank>& ranks,
                                               const std::vector<bool>& stays) {
  return MergeFinder(files, ranks, stays).run();
}

bool share_threads(const std::vector<InputReading>& files) {
  std::map<Print, std::size_t> known;
  for (std::size_t file = 0; file < files.size(); ++file)
    for (const ThreadTally& thread : evidence(files[file]).threads.all)
      if (known.emplace(print_of(thread), file).first->second != file) return true;
  return false;
}

bool may_be_in_pieces(const std::vector<InputReading>& files, const std::vector<FileRank>& ranks,
                      const HeldElsewhere& merge) {
  std::set<std::uint64_t> ids;
  for (const ThreadTally& thread : evidence(files[merge.file]).threads.all) ids.insert(thread.id);
  return ranks[merge.file].source == RankSource::position &&
         std::ranges::all_of(merge.owners, [&](std::size_t owner) {
           return ranks[owner].source == RankSource::position &&
                  std::ranges::all_of(
                      evidence(files[owner]).threads.all,
                      [&](const ThreadTally& thread) { return ids.contains(thread.id); });
         });
}

namespace {

bool is_same_thread(const ThreadTally& thread, const std::vector<ThreadTally>& threads) {
  const auto found = std::ranges::lower_bound(threads, thread.id, {}, &ThreadTally::id);
  return found != threads.end() && *found == thread;
}

// Adds the files with parts of `whole`; `inside` lie in its time.
void add_parts(const std::vector<InputReading>& files, std::size_t whole,
               const std::vector<std::size_t>& inside, std::vector<HeldElsewhere>& parts) {
  const std::vector<ThreadTally>& threads = evidence(files[whole]).threads.all;
  std::map<std::uint64_t, ThreadTally> sums;
  for (const std::size_t part : inside)
    for (const ThreadTally& thread : evidence(files[part]).threads.all) {
      const auto [sum, is_new] = sums.emplace(thread.id, thread);
      if (!is_new) sum->second.add(thread);
    }
  const bool are_all =
      sums.size() == threads.size() && std::ranges::all_of(sums, [&](const auto& sum) {
        return is_same_thread(sum.second, threads);
      });
  for (const std::size_t part : inside)
    if (are_all || std::ranges::all_of(
                       evidence(files[part]).threads.all,
                       [&](const ThreadTally& thread) { return is_same_thread(thread, threads); }))
      parts.push_back({part, {whole}});
}

}  // namespace

std::vector<HeldElsewhere> find_parts(const std::vector<InputReading>& files,
                                      const std::vector<FileRank>& ranks,
                                      const std::vector<bool>& stays) {
  // The files of a rank, a recorder and a clock.
  using Source = std::tuple<std::int64_t, bool, bool, std::int64_t, std::optional<std::int64_t>>;
  std::map<Source, std::vector<std::size_t>> of_source;
  for (std::size_t file = 0; file < files.size(); ++file) {
    const FileEvidence& of_file = evidence(files[file]);
    if (stays[file] && is_plain(files[file]))
      of_source[{ranks[file].rank, of_file.is_torch, of_file.rank_marks.empty(),
                 of_file.base_ns.value_or(0), of_file.sync_us()}]
          .push_back(file);
  }
  std::vector<HeldElsewhere> parts;
  for (auto& [source, members] : of_source) {
    std::ranges::stable_sort(members, {}, [&](std::size_t file) {
      const EventTally& tally = evidence(files[file]).tally;
      return std::pair(tally.first_ns, ~tally.events);
    });
    for (auto whole = members.begin(); whole != members.end();) {
      const EventTally& tally = evidence(files[*whole]).tally;
      const auto end = std::find_if(whole + 1, members.end(), [&](std::size_t file) {
        return evidence(files[file]).tally.last_ns > tally.last_ns ||
               evidence(files[file]).tally.events > tally.events;
      });
      if (end != whole + 1) add_parts(files, *whole, {whole + 1, end}, parts);
      whole = end;
    }
  }
  return parts;
}

}  // namespace traceloom
