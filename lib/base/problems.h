// ProblemCounts: the problems of one input that did not stop the work, counted by kind.
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
  info,    // legal but worth a word (a list without its closing bracket)
  notice,  // repaired; nothing that the file said is missing from the result
  loss,    // something the file said is missing from the result; --strict fails on it
};

enum class Problem : std::uint8_t {
  // problems of the container
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
  // problems of elements of the event array
  not_an_object,
  empty_object,
  malformed_event,
  event_too_large,
  // problems of fields of an event
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
  // problems of strings and values
  invalid_utf8,
  control_character,
  bad_escape,
  not_json_value,
  // problems of begin and end events
  end_without_begin,
  begin_without_end,
  out_of_order,
  partial_overlap,
  arrow_without_start,
  dangling_arrow,
  backward_arrow,
  unjudged_arrow,
  // problems of ranks and clocks
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
  vague_collectives,
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
  // losses of the recorder
  events_lost,
  events_dropped,
  events_unnamed,
  events_damaged,
  journal_kept,  // found by --recover; belongs to no input
  count_         // the number of kinds, not a kind
};

struct ProblemKind {
  std::string_view name;  // name in JSON reports; stable
  Severity severity;
  std::string_view sentence;  // text for people: what is wrong and what was done about it
};

const ProblemKind& describe(Problem problem);

// Counts and first byte offsets of the kinds that were met. Not thread-safe: each worker has its
// own counts, and they are added up in file order.
class ProblemCounts {
 public:
  void add(Problem problem, std::uint64_t offset_bytes, std::uint64_t count = 1);
  void add(const ProblemCounts& other);
  // Adds words to the sentence of a problem that was added, for example the values that disagree.
  // The first explanation of a kind stays.
  void explain(Problem problem, std::string words);

  // Removes a problem that turned out to be none.
  void forget(Problem problem);

  std::uint64_t count(Problem problem) const;
  // The lowest offset in the uncompressed text at which the problem was met; 0 if it was not met.
  std::uint64_t first_offset(Problem problem) const;
  // Empty if the problem has no explanation.
  std::string_view explanation(Problem problem) const;
  // The kinds that were met, in the order of the enum.
  std::vector<Problem> kinds() const;
  bool empty() const { return met_.empty(); }
  bool has_loss() const;

  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    wire(met_);
  }

 private:
  struct Met {
    Problem problem;
    std::uint64_t count;
    std::uint64_t first_offset;
    std::string words;

    template <typename Wire>
    void wire(Wire& wire) {
      wire(problem, count, first_offset, words);
    }
  };
  const Met* find(Problem problem) const;

  // The problems that were met, sorted by kind. Most files have none, and thousands of files are
  // held at once: with a slot for every kind, the counts took a third of the memory of a file.
  std::vector<Met> met_;
};

}  // namespace traceloom
