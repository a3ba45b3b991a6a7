#include "identity/ranks/ranks.h"

#include "base/ascii.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace traceloom {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kSeparators = "-_. =:()[]";
constexpr std::array<std::string_view, 7> kEndings{".gz", ".zst", ".json",  ".trace",
                                                   ".pt", ".log", ".pickle"};
// Seconds since 1970 have ten digits; no rank, epoch, batch or pid has that many.
constexpr std::size_t kTimeStampDigits = 10;

// A style is the word before the number of the rank. This one alone says that the number is a rank.
constexpr std::string_view kRank = "rank";
// The other styles, the strongest first. The empty one is a number without a word: "3_of_4", or a
// name that is nothing but a number.
constexpr std::array<std::string_view, 18> kStyles{
    "",    "worker", "process", "r",  "gpu", "cuda",  "device",  "npu",      "xpu",
    "hpu", "tpu",    "tp",      "dp", "pp",  "trace", "profile", "timeline", "snapshot"};
// The number after one of these is a rank only where the numbers after the others are 0.
constexpr std::array<std::string_view, 3> kGroups{"tp", "dp", "pp"};
// A rank after one of these counts within a part of the job ("local_rank"), or counts no processes.
constexpr std::array<std::string_view, 28> kOtherRanks{
    "local", "node",     "machine", "group",  "intra",  "inter", "parallel", "tp",  "dp",   "pp",
    "ep",    "cp",       "sp",      "mp",     "vpp",    "fsdp",  "lora",     "low", "host", "stage",
    "shard", "sharding", "replica", "server", "engine", "etp",   "dcp",      "pcp"};

bool contains(const auto& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_separator(char c) {
  return kSeparators.find(c) != std::string_view::npos;
}

std::string_view without_endings(std::string_view name) {
  for (auto ending = kEndings.begin(); ending != kEndings.end();)
    if (name.ends_with(*ending)) {
      name.remove_suffix(ending->size());
      ending = kEndings.begin();
    } else {
      ++ending;
    }
  return name;
}

// Removes [begin, end) and the separators around it, except one between two parts.
void cut_out(std::string& name, std::size_t begin, std::size_t end) {
  while (begin > 0 && is_separator(name[begin - 1])) --begin;
  while (end < name.size() && is_separator(name[end])) ++end;
  const bool is_between = begin > 0 && end < name.size();
  name.replace(begin, end - begin, is_between ? "-" : "");
}

// Returns the name without [begin, end), which gives the rank, and without time stamps.
std::string rest_of(std::string name, std::size_t begin, std::size_t end) {
  cut_out(name, begin, end);
  for (std::size_t at = name.find_first_of(kDigits); at != std::string::npos;
       at = name.find_first_of(kDigits, at)) {
    end = std::min(name.find_first_not_of(kDigits, at), name.size());
    const bool is_time_stamp = end - at >= kTimeStampDigits;
    if (is_time_stamp) cut_out(name, at, end);
    at = is_time_stamp ? 0 : end;
  }
  cut_out(name, 0, 0);
  cut_out(name, name.size(), name.size());
  return name;
}

bool is_letter(char c) {
  return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

std::optional<std::int64_t> number_of(std::string_view text) {
  const auto number = whole_number<std::int64_t>(text);
  return number && *number <= kMaxRank ? number : std::nullopt;
}

// Cuts the last word or number off, with a separator after it, and returns it.
std::string_view take_last(std::string_view& name) {
  if (!name.empty() && is_separator(name.back())) name.remove_suffix(1);
  const bool is_number = !name.empty() && is_digit(name.back());
  std::size_t begin = name.size();
  while (begin > 0 && (is_number ? is_digit(name[begin - 1]) : is_letter(name[begin - 1]))) --begin;
  const std::string_view last = name.substr(begin);
  name = name.substr(0, begin);
  return last;
}

// A rank from the name of a file or of a folder.
struct NamedRank {
  std::int64_t rank = 0;
  std::optional<std::int64_t> world_size = {};  // 4 in "rank3of4"
  std::string rest = {};                        // the name without the rank
  bool is_of_folder = false;
};

// Finds the last rank of the style in the name.
std::optional<NamedRank> find_rank(std::string_view name, std::string_view style) {
  const std::string lower = to_lower(name);
  const auto up_to_digit = [](std::string_view text) {
    return text.substr(0, text.find_last_of(kDigits) + 1);
  };
  std::optional<NamedRank> found;
  for (std::string_view left = up_to_digit(lower); !left.empty(); left = up_to_digit(left)) {
    const std::size_t end = left.size();
    std::optional<std::int64_t> number = number_of(take_last(left));
    std::string_view before = left;
    std::string_view word = take_last(before);
    std::optional<std::int64_t> size;
    if (word == "of")
      if (const auto first = number_of(take_last(before)); first && first < number) {
        size = std::exchange(number, first);
        left = before;
        word = take_last(before);
      }
    const std::size_t begin = style.empty() ? left.size() : before.size();
    const bool is_whole = left.empty() && end == lower.size();
    const bool is_led = word == style || (style == kRank && word == "globalrank");
    const bool is_other = style == kRank ? contains(kOtherRanks, take_last(before))
                                         : end < lower.size() && is_letter(lower[end]);  // "7b"
    if (number && !found && !is_other && (style.empty() ? size || is_whole : is_led))
      found = {*number, size, rest_of(std::string(name), begin, end)};
    else if (style != kRank && number > 0 && contains(kGroups, word))
      return std::nullopt;
  }
  return found;
}

// Returns a part of the path: 0 is the file's name without its endings, 1 its folder, and so on.
std::optional<std::string_view> part_of(std::string_view path, std::size_t number) {
  for (std::size_t i = 0; i < number; ++i) {
    const std::size_t slash = path.find_last_of('/');
    if (slash == std::string_view::npos) return std::nullopt;
    path = path.substr(0, slash);
  }
  const std::string_view part = path.substr(path.find_last_of('/') + 1);
  return number == 0 ? without_endings(part) : part;
}

std::optional<NamedRank> read_part(const std::string& path, std::size_t number,
                                   std::string_view style) {
  const std::optional<std::string_view> part = part_of(path, number);
  std::optional<NamedRank> rank = part ? find_rank(*part, style) : std::nullopt;
  if (rank) rank->is_of_folder = number > 0;
  return rank;
}

}  // namespace

std::string cycle_of_name(const std::string& path) {
  std::optional<NamedRank> rank = read_part(path, 0, kRank);
  if (!rank) rank = read_part(path, 0, "worker");
  return rank ? rank->rest : rest_of(std::string(*part_of(path, 0)), 0, 0);
}

namespace {

using NamedRanks = std::vector<std::optional<NamedRank>>;  // one an input

// Returns the ranks that names call so: the file's, otherwise the nearest folder's if the folders
// of the inputs have several.
NamedRanks ranks_by_word(const std::vector<std::string>& paths) {
  NamedRanks ranks;
  std::set<std::int64_t> of_folders;
  for (const std::string& path : paths) {
    std::optional<NamedRank>& rank = ranks.emplace_back();
    for (std::size_t number = 0; !rank && part_of(path, number); ++number)
      rank = read_part(path, number, kRank);
    if (rank && rank->is_of_folder) of_folders.insert(rank->rank);
  }
  for (std::optional<NamedRank>& rank : ranks)
    if (rank && rank->is_of_folder && of_folders.size() < 2) rank.reset();
  return ranks;
}

// Returns the ranks that a part of the paths gives in one style. It is empty if the numbers may be
// those of hosts, batches or processes, or count from 1: names must differ in nothing else, and
// most of the ranks from 0 on must be here.
std::vector<NamedRank> ranks_by_style(const std::vector<std::string>& paths,
                                      const std::vector<std::size_t>& files, std::size_t number,
                                      std::string_view style) {
  std::vector<NamedRank> ranks;
  std::set<std::int64_t> numbers;
  for (const std::size_t file : files) {
    const std::optional<NamedRank> rank = read_part(paths[file], number, style);
    if (!rank || !numbers.insert(rank->rank).second) return {};
    ranks.push_back(*rank);
    if (rank->rest != ranks[0].rest || rank->world_size != ranks[0].world_size) return {};
  }
  const auto limit = ranks[0].world_size.value_or(static_cast<std::int64_t>(2 * files.size()));
  return *numbers.begin() == 0 && *numbers.rbegin() < limit ? ranks : std::vector<NamedRank>();
}

// Adds the ranks of files without any other source, if their names agree.
void add_ranks_by_style(const std::vector<std::string>& paths,
                        const std::vector<std::size_t>& files, NamedRanks& ranks) {
  if (files.size() < 2) return;
  for (std::size_t number = 0; part_of(paths[files[0]], number); ++number)
    for (const std::string_view style : kStyles) {
      const std::vector<NamedRank> found = ranks_by_style(paths, files, number, style);
      for (std::size_t i = 0; i < found.size(); ++i) ranks[files[i]] = found[i];
      if (!found.empty()) return;
    }
}

struct Claim {
  std::optional<std::int64_t> rank;
  RankSource source;
};

// Returns the ranks that the file and its name claim, strongest first.
std::vector<Claim> claims_of(const Input& input, const FileEvidence& evidence,
                             const std::optional<NamedRank>& named) {
  std::optional<std::int64_t> marked;
  if (!evidence.rank_marks.empty()) marked = evidence.rank_marks.front().value;
  return {{input.forced_rank, RankSource::argument},
          {marked, RankSource::metadata_event},
          {evidence.distributed_rank, RankSource::distributed_info},
          {evidence.top_level_rank, RankSource::top_level_key},
          {named ? std::optional(named->rank) : std::nullopt, RankSource::file_name}};
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
    file.problems.add(
        Problem::ranks_in_one_pid, mark.offset, 1,
        is_first ? words_on_threads(mark, of_pid) : words_on_claims(mark, claim->second));
  }
  return file;
}

// The rows of a process are those of a replica, which has several ranks.
FileRank rank_by_rows(const Input& input, const OperationRows& rows) {
  FileRank file;
  file.source = RankSource::rows;
  file.rank = kMaxRank;
  for (const auto& [place, row] : rows.all()) {
    check_rank(input, row.rank, RankSource::rows);
    file.rank = std::min(file.rank, row.rank);
    const auto of_pid = file.rank_of_pid.emplace(place.first, row.rank).first;
    of_pid->second = std::min(of_pid->second, row.rank);
    file.rank_of_thread.emplace(place, row.rank);
  }
  return file;
}

// Returns the rank of the strongest claim, or nullopt if nothing in or about the file names a rank.
std::optional<FileRank> claimed_rank(const Input& input, const FileEvidence& evidence,
                                     const std::optional<NamedRank>& named) {
  const bool is_ours = evidence.was_merged_by_us() && !evidence.rank_marks.empty();
  if (!input.forced_rank && (is_ours || evidence.has_several_ranks()))
    return merged_rank(input, evidence);
  if (!input.forced_rank && !evidence.operation_rows.empty())
    return rank_by_rows(input, evidence.operation_rows);
  std::optional<FileRank> file;
  for (const Claim& claim : claims_of(input, evidence, named)) {
    if (!claim.rank) continue;
    if (!file) {
      check_rank(input, *claim.rank, claim.source);
      file = FileRank{};
      file->rank = *claim.rank;
      file->source = claim.source;
    } else if (file->rank != *claim.rank && file->source != RankSource::argument) {
      file->problems.add(Problem::rank_disagrees, 0, 1,
                         fmt::format("{} by {}, not {} by {}", file->rank, to_string(file->source),
                                     *claim.rank, to_string(claim.source)));
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
  const auto number = whole_number<std::int64_t>(canonical_pid);
  return number && *number >= 0 && *number <= kMaxRank ? *number : rank;
}

std::int64_t FileRank::rank_of(std::string_view canonical_pid,
                               std::string_view canonical_tid) const {
  if (rank_of_thread.empty()) return rank_of(canonical_pid);
  const auto found = rank_of_thread.find({std::string(canonical_pid), std::string(canonical_tid)});
  return found != rank_of_thread.end() ? found->second : rank_of(canonical_pid);
}

std::optional<std::int64_t> said_rank(const FileEvidence& evidence) {
  for (const Claim& claim : claims_of({}, evidence, {}))
    if (claim.rank) return claim.rank;
  return std::nullopt;
}

std::vector<std::optional<std::int64_t>> ranks_in_names(const std::vector<std::string>& paths) {
  NamedRanks named = ranks_by_word(paths);
  std::vector<std::size_t> silent;
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (!named[i]) silent.push_back(i);
  add_ranks_by_style(paths, silent, named);
  std::vector<std::optional<std::int64_t>> ranks;
  for (const std::optional<NamedRank>& one : named)
    ranks.push_back(one ? std::optional(one->rank) : std::nullopt);
  return ranks;
}

std::vector<FileRank> assign_ranks(const std::vector<InputReading>& files) {
  std::vector<std::string> paths;
  for (const InputReading& file : files) paths.push_back(file.input.path);
  NamedRanks named = ranks_by_word(paths);
  const auto claimed_by = [&](std::size_t i) {
    return claimed_rank(files[i].input, files[i].reading.evidence, named[i]);
  };
  std::vector<std::optional<FileRank>> claimed;
  std::vector<std::size_t> silent;
  for (std::size_t i = 0; i < files.size(); ++i) {
    claimed.push_back(claimed_by(i));
    if (!claimed[i]) silent.push_back(i);
  }
  add_ranks_by_style(paths, silent, named);
  for (const std::size_t i : silent) claimed[i] = claimed_by(i);
  std::set<std::int64_t> taken;
  for (const std::optional<FileRank>& file : claimed)
    if (file)
      for (const std::int64_t rank : file->ranks()) taken.insert(rank);
  std::vector<FileRank> ranks;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!claimed[i]) {
      while (taken.contains(next)) ++next;
      claimed[i] = FileRank{};
      claimed[i]->rank = next++;
      // A single input is rank 0; that needs no message.
      if (files.size() > 1) claimed[i]->problems.add(Problem::rank_from_position, 0);
    }
    FileRank& file = ranks.emplace_back(*std::move(claimed[i]));
    const bool has_rest = named[i] && !named[i]->is_of_folder;
    file.cycle = has_rest ? named[i]->rest : cycle_of_name(paths[i]);
    file.world_size = files[i].reading.evidence.world_size;
    if (!file.world_size && named[i]) file.world_size = named[i]->world_size;
  }
  return ranks;
}

}  // namespace traceloom
