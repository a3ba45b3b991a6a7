#include "identity/ranks/trace_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace traceloom {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kSeparators = "-_.";
constexpr std::array<std::string_view, 5> kEndings{".gz", ".json", ".trace", ".pt", ".log"};
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

}  // namespace traceloom
