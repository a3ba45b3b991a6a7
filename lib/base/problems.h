// ProblemCounts: what was wrong with one input and did not stop the work, counted by kind.
//
//   ProblemCounts problems;
//   problems.add(Problem::cut_event, 8812);
//   for (Problem kind : problems.kinds()) print(describe(kind).sentence, problems.count(kind));
//
// To add a kind: one enumerator here and one row in the table in problems.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

enum class Severity : std::uint8_t {
  info,    // legal, worth a word (a list without its closing bracket)
  notice,  // repaired; nothing that the file said is missing from the result
  loss,    // something the file said is missing from the result; --strict fails on it
};

enum class Problem : std::uint8_t {
  // the container
  missing_bracket,
  cut_event,
  cut_object,
  empty_trace,
  trailing_comma,
  extra_comma,
  missing_comma,
  second_document,
  second_trace_events,
  trailing_garbage,
  top_level_dropped,
  subtrace_dropped,
  bad_time_unit,
  gzip_cut,
  gzip_damaged,
  gzip_checksum,
  gzip_trailing_garbage,
  gzip_twice,
  // elements of the event array
  not_an_object,
  empty_object,
  malformed_event,
  event_too_large,
  // fields of an event
  no_phase,
  unknown_phase,
  bad_timestamp,
  outlying_timestamp,
  bad_duration,
  missing_duration,
  negative_duration,
  never_ended,
  broken_negative,
  duplicate_key,
  bad_args,
  bad_field,
  bad_counter,
  // strings and values
  invalid_utf8,
  control_character,
  bad_escape,
  not_json_value,
  // begin and end
  end_without_begin,
  begin_without_end,
  out_of_order,
  partial_overlap,
  arrow_without_start,
  dangling_arrow,
  backward_arrow,
  // ranks and clocks
  rank_from_position,
  rank_disagrees,
  ranks_in_one_pid,
  repeated,
  sync_conflict,
  bad_sync,
  bad_base,
  bad_cycles,
  bad_rounds,
  no_clock,
  shifted_clock,
  clock_conflict,
  no_common_collective,
  ranks_apart,
  base_restored,
  base_guessed,
  clock_step,
  far_sync,
  wide_sync,
  world_size_disagrees,
  missing_rank,
  inexact_timestamp,
  far_timestamp,
  // what the recorder could not write
  events_lost,
  events_dropped,
  events_unnamed,
  events_damaged,
  journal_kept,  // of no input: what --recover met
  count_         // not a kind: how many there are
};

struct ProblemKind {
  std::string_view name;  // in JSON reports: stable
  Severity severity;
  std::string_view sentence;  // for people: what is wrong and what was done about it
};

const ProblemKind& describe(Problem problem);

// Counts and first byte offsets, one slot a kind. Not thread-safe; each worker has one and they are
// added up in file order.
class ProblemCounts {
 public:
  void add(Problem problem, std::uint64_t offset_bytes, std::uint64_t count = 1);
  void add(const ProblemCounts& other);
  // What is to be said of a problem that was added, beside its sentence: the values that disagree,
  // say. The first explanation of a kind stays.
  void explain(Problem problem, std::string words);

  // What has turned out to be none.
  void forget(Problem problem);

  std::uint64_t count(Problem problem) const;
  // The lowest offset, in the uncompressed text, at which the problem was met; 0 when it was not.
  std::uint64_t first_offset(Problem problem) const;
  // Empty when there is none.
  std::string_view explanation(Problem problem) const;
  // The kinds that were met, in the order of the enum.
  std::vector<Problem> kinds() const;
  bool empty() const { return met_.empty(); }
  bool has_loss() const;

 private:
  struct Met {
    Problem problem;
    std::uint64_t count;
    std::uint64_t first_offset;
    std::string words;
  };
  const Met* find(Problem problem) const;

  // By kind. Most files have none, and thousands of files are held at once: room for all kinds was
  // a third of what is known of a file.
  std::vector<Met> met_;
};

}  // namespace traceloom
