#include "identity/ranks/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace traceloom {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kSeparators = "-_.";
constexpr std::array<std::string_view, 6> kEndings{".gz", ".zst", ".json", ".trace", ".pt", ".log"};
// Seconds since 1970 have ten digits; no rank, epoch, batch or pid has that many.
constexpr std::size_t kTimeStampDigits = 10;

// The part of a name that gives the rank: "rank-3" and 3.
struct RankText {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::int64_t rank = 0;
};

std::string_view file_name(const std::string& path) {
  return std::string_view(path).substr(path.find_last_of('/') + 1);
}

// Finds the last `word` with an optional - or _ and a number after it.
std::optional<RankText> find_rank(std::string_view name, std::string_view word) {
  for (std::size_t at = name.rfind(word); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : name.rfind(word, at - 1)) {
    std::size_t digits = at + word.size();
    if (digits < name.size() && (name[digits] == '-' || name[digits] == '_')) ++digits;
    const std::size_t end = std::min(name.find_first_not_of(kDigits, digits), name.size());
    std::int64_t rank = 0;
    const auto [stop, error] = std::from_chars(name.data() + digits, name.data() + end, rank);
    if (error == std::errc{} && rank <= kMaxRank) return RankText{at, end, rank};
  }
  return std::nullopt;
}

bool remove_suffix(std::string_view& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return true;
}

std::string_view without_endings(std::string_view name) {
  bool removed = true;
  while (removed)
    removed = std::any_of(kEndings.begin(), kEndings.end(),
                          [&](std::string_view ending) { return remove_suffix(name, ending); });
  return name;
}

// Removes [begin, end) and the separators around it, except one between two parts.
void cut_out(std::string& name, std::size_t begin, std::size_t end) {
  while (begin > 0 && kSeparators.find(name[begin - 1]) != std::string_view::npos) --begin;
  while (end < name.size() && kSeparators.find(name[end]) != std::string_view::npos) ++end;
  const bool is_between = begin > 0 && end < name.size();
  name.replace(begin, end - begin, is_between ? "-" : "");
}

}  // namespace

std::optional<std::int64_t> rank_in_name(const std::string& path) {
  const std::optional<RankText> found = find_rank(file_name(path), "rank");
  return found ? std::optional(found->rank) : std::nullopt;
}

std::string cycle_of_name(const std::string& path) {
  std::string name(without_endings(file_name(path)));
  std::optional<RankText> rank = find_rank(name, "rank");
  if (!rank) rank = find_rank(name, "worker");
  if (rank) cut_out(name, rank->begin, rank->end);
  for (std::size_t at = name.find_first_of(kDigits); at != std::string::npos;
       at = name.find_first_of(kDigits, at)) {
    const std::size_t end = std::min(name.find_first_not_of(kDigits, at), name.size());
    const bool is_time_stamp = end - at >= kTimeStampDigits;
    if (is_time_stamp) cut_out(name, at, end);
    at = is_time_stamp ? 0 : end;
  }
  cut_out(name, 0, 0);
  cut_out(name, name.size(), name.size());
  return name;
}

namespace {

struct Claim {
  std::optional<std::int64_t> rank;
  RankSource source;
};

// Returns the ranks that the file and its name claim, strongest first.
std::vector<Claim> claims_of(const Input& input, const FileEvidence& evidence) {
  std::optional<std::int64_t> marked;
  if (!evidence.rank_marks.empty()) marked = evidence.rank_marks.front().value;
  return {{input.forced_rank, RankSource::argument},
          {marked, RankSource::metadata_event},
          {evidence.distributed_rank, RankSource::distributed_info},
          {evidence.top_level_rank, RankSource::top_level_key},
          {rank_in_name(input.path), RankSource::file_name}};
}

// The limit holds because ranks become pids.
void check_rank(const Input& input, std::int64_t rank, RankSource source) {
  if (rank >= 0 && rank <= kMaxRank) return;
  if (source == RankSource::argument)
    throw Error(input.path, fmt::format("{} is no rank; ranks are 0 to {}", rank, kMaxRank));
  throw Error(input.path, fmt::format("its {} is {}, which is no rank; name the rank: RANK={}",
                                      to_string(source), rank, input.path));
}

// Describes a pid that several ranks share.
std::string words_on_threads(const Mark& mark, std::int64_t rank_of_pid) {
  return fmt::format(
      "pid {0} has threads of ranks {1} and {2}, and those without a known rank "
      "count as rank {1}; merge the files of the ranks to have them apart",
      mark.pid, rank_of_pid, mark.value);
}

// Describes a thread that two ranks claim.
std::string words_on_claims(const Mark& mark, std::int64_t rank) {
  const std::string thread =
      mark.tid.empty() ? "pid " + mark.pid : fmt::format("thread {} of pid {}", mark.tid, mark.pid);
  return fmt::format(
      "{0} is of ranks {1} and {2}, and counts as rank {1}; merge the files of the ranks to have "
      "them apart",
      thread, rank, mark.value);
}

FileRank merged_rank(const Input& input, const FileEvidence& evidence) {
  FileRank file;
  file.source = RankSource::merged;
  file.rank = evidence.rank_marks.front().value;
  std::map<std::pair<std::string, std::string>, std::int64_t> claims;  // keyed by pid and tid
  for (const Mark& mark : evidence.rank_marks) {
    check_rank(input, mark.value, RankSource::metadata_event);
    file.rank = std::min(file.rank, mark.value);
    const std::int64_t of_pid = file.rank_of_pid.emplace(mark.pid, mark.value).first->second;
    const auto [claim, is_first] = claims.emplace(std::pair(mark.pid, mark.tid), mark.value);
    if (claim->second == mark.value && mark.value == of_pid) continue;
    if (is_first) file.rank_of_thread.insert(*claim);
    file.problems.add(Problem::ranks_in_one_pid, mark.offset);
    file.problems.explain(Problem::ranks_in_one_pid, is_first
                                                         ? words_on_threads(mark, of_pid)
                                                         : words_on_claims(mark, claim->second));
  }
  return file;
}

// Returns the rank of the strongest claim, or nullopt if nothing in or about the file names a rank.
std::optional<FileRank> claimed_rank(const Input& input, const FileEvidence& evidence) {
  const bool is_ours = evidence.was_merged_by_us() && !evidence.rank_marks.empty();
  if (!input.forced_rank && (is_ours || evidence.has_several_ranks()))
    return merged_rank(input, evidence);
  std::optional<FileRank> file;
  for (const Claim& claim : claims_of(input, evidence)) {
    if (!claim.rank) continue;
    if (!file) {
      check_rank(input, *claim.rank, claim.source);
      file = FileRank{};
      file->rank = *claim.rank;
      file->source = claim.source;
    } else if (file->rank != *claim.rank && file->source != RankSource::argument) {
      file->problems.add(Problem::rank_disagrees, 0);
      file->problems.explain(
          Problem::rank_disagrees,
          fmt::format("{} by {}, not {} by {}", file->rank, to_string(file->source), *claim.rank,
                      to_string(claim.source)));
    }
  }
  return file;
}

}  // namespace

std::vector<std::int64_t> FileRank::ranks() const {
  std::set<std::int64_t> named;
  if (!is_merged()) named.insert(rank);
  for (const auto& [pid, of_pid] : rank_of_pid) named.insert(of_pid);
  for (const auto& [thread, of_thread] : rank_of_thread) named.insert(of_thread);
  return {named.begin(), named.end()};
}

std::int64_t FileRank::rank_of(std::string_view canonical_pid) const {
  if (!is_merged()) return rank;
  if (const auto found = rank_of_pid.find(canonical_pid); found != rank_of_pid.end())
    return found->second;
  std::int64_t number = -1;
  const char* const end = canonical_pid.data() + canonical_pid.size();
  const auto [stop, error] = std::from_chars(canonical_pid.data(), end, number);
  return error == std::errc{} && stop == end && number >= 0 && number <= kMaxRank ? number : rank;
}

std::int64_t FileRank::rank_of(std::string_view canonical_pid,
                               std::string_view canonical_tid) const {
  if (rank_of_thread.empty()) return rank_of(canonical_pid);
  const auto found = rank_of_thread.find({std::string(canonical_pid), std::string(canonical_tid)});
  return found != rank_of_thread.end() ? found->second : rank_of(canonical_pid);
}

std::vector<FileRank> assign_ranks(const std::vector<Input>& inputs,
                                   const std::vector<FileEvidence>& evidence) {
  std::vector<std::optional<FileRank>> claimed;
  std::set<std::int64_t> taken;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    claimed.push_back(claimed_rank(inputs[i], evidence[i]));
    if (!claimed.back()) continue;
    for (const std::int64_t rank : claimed.back()->ranks()) taken.insert(rank);
  }
  std::vector<FileRank> ranks;
  std::int64_t next = 0;
  for (std::optional<FileRank>& file : claimed) {
    if (!file) {
      while (taken.contains(next)) ++next;
      file = FileRank{};
      file->rank = next++;
      // A single input is rank 0; that needs no message.
      if (inputs.size() > 1) file->problems.add(Problem::rank_from_position, 0);
    }
    ranks.push_back(std::move(*file));
  }
  return ranks;
}

}  // namespace traceloom
