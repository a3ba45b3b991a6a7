#include "survey/file_evidence.h"

#include <algorithm>
#include <charconv>

#include "event/trace_time.h"
#include "survey/json_member.h"

namespace traceloom {
namespace {

// Two values are enough to see that a file disagrees with itself; millions would only fill the memory.
constexpr std::size_t kMaxMarks = 100'000;

template <class Mark>
void add_mark(std::vector<Mark>& marks, Mark mark, std::int64_t Mark::*value) {
  const bool known = std::any_of(marks.begin(), marks.end(), [&](const Mark& other) {
    return other.*value == mark.*value && other.pid == mark.pid;
  });
  if (!known && marks.size() < kMaxMarks) marks.push_back(std::move(mark));
}

void add_clock_mark(std::vector<ClockMark>& marks, const Event& event, const std::string& value,
                    ProblemCounts& problems) {
  if (const std::optional<std::int64_t> number = json_integer(value))
    add_mark(marks, {*number, canonical_id(event.text(Key::pid)), event.offset},
             &ClockMark::value_us);
  else
    problems.add(Problem::bad_sync, event.offset);
}

// Unix nanoseconds of ts 0, from whichever key the producer writes it under.
std::optional<std::int64_t> base_time(const TopLevelParser& top_level) {
  if (const auto kineto = json_integer(top_level.value("baseTimeNanoseconds"))) return kineto;
  const std::string_view viztracer = top_level.value("viztracer_metadata");
  if (!viztracer.empty())
    if (const auto base = json_integer(json_member(viztracer, "baseTimeNanoseconds"))) return base;
  if (const auto clang = parse_time(top_level.value("beginningOfTime"))) return clang->rounded_ns();
  return std::nullopt;
}

template <class Value>
void keep_first(std::optional<Value>& first, const std::optional<Value>& later) {
  if (!first) first = later;
}

}  // namespace

void FileEvidence::add(const Event& event) {
  if (event.phase != 'M') return;
  const std::string_view name = unquoted(event.text(Key::name));
  if (name == "global_rank") {
    if (const auto rank = json_integer(json_member(event.text(Key::args), "value")))
      add_mark(rank_marks, {*rank, canonical_id(event.text(Key::pid)), event.offset},
               &RankMark::rank);
  } else if (name == "clock_sync_timestamp_us") {
    add_clock_mark(syncs, event, json_member(event.text(Key::args), "value"), problems);
  } else if (name == "clock_sync_error_bound") {
    add_clock_mark(error_bounds, event, json_member(event.text(Key::args), "value"), problems);
  }
}

void FileEvidence::add_top_level(const TopLevelParser& top_level) {
  const std::string_view distributed = top_level.value("distributedInfo");
  if (!distributed.empty()) {
    distributed_rank = json_integer(json_member(distributed, "rank"));
    world_size = json_integer(json_member(distributed, "world_size"));
  }
  top_level_rank = json_integer(top_level.value("global_rank"));
  top_level_sync_us = json_integer(top_level.value("clock_sync_timestamp_us"));
  base_ns = base_time(top_level);
  if (const std::string_view other = top_level.value("otherData"); !other.empty())
    if (const std::string ours = json_member(other, "traceloom"); !ours.empty())
      merged_by = decoded(json_member(ours, "version"));
}

void FileEvidence::append(const FileEvidence& later) {
  for (const RankMark& mark : later.rank_marks) add_mark(rank_marks, mark, &RankMark::rank);
  for (const ClockMark& mark : later.syncs) add_mark(syncs, mark, &ClockMark::value_us);
  for (const ClockMark& mark : later.error_bounds)
    add_mark(error_bounds, mark, &ClockMark::value_us);
  keep_first(distributed_rank, later.distributed_rank);
  keep_first(world_size, later.world_size);
  keep_first(top_level_rank, later.top_level_rank);
  keep_first(top_level_sync_us, later.top_level_sync_us);
  keep_first(base_ns, later.base_ns);
  if (merged_by.empty()) merged_by = later.merged_by;
  problems.add(later.problems);
}

bool FileEvidence::is_merged() const {
  return std::any_of(rank_marks.begin(), rank_marks.end(),
                     [&](const RankMark& mark) { return mark.rank != rank_marks.front().rank; });
}

std::optional<std::int64_t> rank_in_name(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  for (std::size_t at = name.rfind("rank"); at != std::string::npos;
       at = at == 0 ? std::string::npos : name.rfind("rank", at - 1)) {
    std::size_t digits = at + 4;
    if (digits < name.size() && (name[digits] == '-' || name[digits] == '_')) ++digits;
    std::int64_t rank = 0;
    const auto [end, error] =
        std::from_chars(name.data() + digits, name.data() + name.size(), rank);
    if (error == std::errc{} && end != name.data() + digits && rank >= 0) return rank;
  }
  return std::nullopt;
}

}  // namespace traceloom
