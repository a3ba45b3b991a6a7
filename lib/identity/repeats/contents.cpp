#include "identity/repeats/contents.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

// What a thread holds, whatever its number and whenever it began.
using Print = std::array<std::uint64_t, 3>;

Print print_of(const ThreadTally& thread) {
  const auto first = static_cast<std::uint64_t>(thread.first_ns);
  return {thread.events, thread.sum_ns - thread.events * first, thread.lengths_ns};
}

const FileEvidence& evidence(const InputEvidence& file) {
  return file.evidence;
}

bool is_plain(const InputEvidence& file) {
  return !evidence(file).was_merged() && evidence(file).threads.is_complete &&
         !evidence(file).threads.all.empty();
}

// Threads with one event each look like many others.
bool is_telling(const InputEvidence& file) {
  return std::ranges::any_of(evidence(file).threads.all,
                             [](const ThreadTally& thread) { return print_of(thread)[1] != 0; });
}

// The threads of a file that no input has taken yet.
class Unclaimed {
 public:
  explicit Unclaimed(const InputEvidence& file) {
    for (const ThreadTally& thread : evidence(file).threads.all) ++left_[print_of(thread)];
  }

  // Takes all threads of the file, or none of them.
  bool take(const InputEvidence& file) {
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

}  // namespace

std::vector<HeldElsewhere> find_foreign_merges(const std::vector<InputEvidence>& files,
                                               const std::vector<bool>& stays) {
  std::vector<std::size_t> plain;
  for (std::size_t file = 0; file < files.size(); ++file)
    if (stays[file] && is_plain(files[file]) && is_telling(files[file])) plain.push_back(file);
  if (plain.size() < 3) return {};
  const auto events_of = [&](std::size_t file) { return evidence(files[file]).tally.events; };
  std::ranges::stable_sort(plain, {}, events_of);
  const std::uint64_t least = events_of(plain[0]) + events_of(plain[1]);
  std::map<Print, std::size_t> known;
  for (const std::size_t file : plain)
    for (const ThreadTally& thread : evidence(files[file]).threads.all) ++known[print_of(thread)];
  std::vector<HeldElsewhere> merges;
  for (const std::size_t merge : plain) {
    const std::vector<ThreadTally>& threads = evidence(files[merge]).threads.all;
    if (events_of(merge) < least || std::ranges::any_of(threads, [&](const ThreadTally& thread) {
          return known.at(print_of(thread)) < 2;
        }))
      continue;
    Unclaimed left(files[merge]);
    HeldElsewhere held{merge, {}};
    std::uint64_t events = 0;
    for (const std::size_t other : plain)
      if (events_of(other) < events_of(merge) && left.take(files[other])) {
        held.owners.insert(other);
        events += events_of(other);
      }
    if (held.owners.size() > 1 && events == events_of(merge)) merges.push_back(std::move(held));
  }
  return merges;
}

namespace {

bool is_same_thread(const ThreadTally& thread, const std::vector<ThreadTally>& threads) {
  const auto found = std::ranges::lower_bound(threads, thread.id, {}, &ThreadTally::id);
  return found != threads.end() && *found == thread;
}

// Adds the files with parts of `whole`; `inside` lie in its time.
void add_parts(const std::vector<InputEvidence>& files, std::size_t whole,
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

std::vector<HeldElsewhere> find_parts(const std::vector<InputEvidence>& files,
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
