// The notes of earlier merges in a trace: its cycles, its inputs, the filter and the problems.
#pragma once

#include "base/problems.h"
#include "clock/alignment.h"
#include "clock/clock_syncs.h"
#include "identity/evidence/event_tally.h"
#include "identity/evidence/recorder_evidence.h"
#include "json/json_document.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// read_rounds: reads the rounds of barriers from JSON. Our recorder writes them for a cycle in the
// args of clock_sync_rounds, and a merge in its record of the cycle.
//
//   const JsonDocument args(R"({"enter":[0.1,0.2],"exit":[0.15,0.26]})");
//   read_rounds(args.root())   // {{100, 200}, {150, 260}}
//
// Times are microseconds, as in a trace.

// Returns nullopt if `object` holds no lists of usable times, or impossible
// rounds.
std::optional<SyncRounds> read_rounds(JsonValue object);

// MergedCycle: a profiling cycle in a trace that a merge of ours wrote. Clocks drift from cycle to
// cycle, so a later merge has to place each cycle by its own sync.
//
//   const auto cycles = read_cycles(traceloom);      // reads otherData.traceloom

// All times are on the clock of the trace, that of its base.
struct MergedCycle {
  std::string name;           // as in ClockFacts; may be empty
  std::int64_t sync_us = 0;   // the moment that its ranks stamped
  std::int64_t first_ns = 0;  // first event of the cycle, which lasts until the next cycle begins
  std::int64_t last_ns = 0;   // last event of the cycle
  std::optional<std::int64_t> error_bound_us = {};  // the shortest sync of a rank
  // The cycle's barriers if our recorder stamped them, as in FileClock.
  CycleRounds rounds = {};

  // True if the cycle has more evidence than the sync of the file, which every merge uses anyway.
  bool is_worth_telling() const { return !name.empty() || !rounds.empty(); }
  bool operator==(const MergedCycle&) const = default;
};

// Reads the cycles from otherData.traceloom, sorted by first_ns. The list is empty if there are
// none; nullopt means that they are impossible.
std::optional<std::vector<MergedCycle>> read_cycles(JsonValue traceloom);
// Returns the cycles of a merge: the moments by which its files were placed. `starts` holds the
// times of the events; all vectors have one entry a file. A file without a sync belongs to the
// cycle in which it ends.
std::vector<MergedCycle> find_cycles(const std::vector<ClockFacts>& files,
                                     const std::vector<FileClock>& clocks,
                                     const std::vector<StartTimes>& starts);

// A part of a file that is aligned like a file.
struct FilePart {
  ClockFacts facts;
  StartTimes starts;
};
// Returns one part for each cycle of a file, or the file itself if it has none.
std::vector<FilePart> parts_of(const ClockFacts& file, const StartTimes& starts,
                               const std::vector<MergedCycle>& cycles);
// Joins the clocks of parts_of() into one. Its offset and drift are those of the first cycle, its
// error is the largest of all.
FileClock join_parts(const ClockFacts& file, const std::vector<MergedCycle>& cycles,
                     std::vector<FileClock> parts);

// MergedInput: the note of a merge of ours about one of its inputs, so that the input can be
// recognised next to the merge.
//
//   for (const MergedInput& input : read_merged_inputs(traceloom)) ...  // otherData.traceloom
//   write_tally(json, input.tally)                                      // in frame.cpp

struct MergedInput {
  std::int64_t rank = 0;  // rank whose events were taken
  std::string path;
  bool says_rank = true;   // the file names its rank; it does not come from its place among the
                           // inputs or from RANK=path
  bool has_clock = false;  // some evidence placed its clock
  bool by_collectives = false;  // that evidence was its collectives
  std::int64_t offset_ns = 0;   // nanoseconds from its clock to the merge's common one
  // Number of events that the merge found in it, including those that a filter dropped, but without
  // E. It is not known for an input with several ranks.
  std::optional<std::uint64_t> events = {};
  // Tally of the whole file; noted by merges since version 0.2.
  std::optional<EventTally> tally = {};
  bool is_part = false;  // a filter may have dropped some of its events
  // Composer's stamps of that rank, by which a merge of Composer's is known to hold the input or to
  // be it.
  std::vector<Stamp> stamps = {};
  bool has_several_ranks = false;  // Composer's merger wrote it
};

// Reads the notes. For a merge of merges these are the inputs of the inner merges, if those are
// noted. The list is empty if there are no notes.
std::vector<MergedInput> read_merged_inputs(JsonValue traceloom);

// Returns the notes in an input of a merge as the merge notes them for one of its ranks, on its own
// common clock. `offset_ns` and `base_ns` belong to the input.
std::vector<MergedInput> inputs_of_rank(const std::vector<MergedInput>& inputs, std::int64_t rank,
                                        std::int64_t offset_ns, std::int64_t base_ns);

// NotedFilter: the filter of a merge of ours, as the merge has noted it.
//
//   const std::optional<NotedFilter> filter = read_noted_filter(traceloom);  // otherData.traceloom
//   if (filter && other && exclude_each_other(*filter, *other)) ...          // no event is in both

// The parts of a filter that can prove that two traces share no event. Times are not among them:
// each merge counts them from an origin of its own.
struct NotedFilter {
  struct Steps {
    std::optional<std::int64_t> first;  // absent: from the beginning
    std::optional<std::int64_t> last;
  };
  std::optional<Steps> steps;
  std::vector<std::string> categories;
  std::vector<std::string> excluded_categories;
  std::vector<std::string> names;  // regular expressions
  std::vector<std::string> excluded_names;
};

// Returns nullopt if the merge had no filter, or noted it in an unknown form.
std::optional<NotedFilter> read_noted_filter(JsonValue traceloom);

// True if no event of one trace passes both filters: their steps do not overlap, or one selects
// only by categories or names that the other excludes, or each selects categories of its own. The
// last is wrong for an event of several categories ("a,b"), one of which each filter selects: it
// passes both.
bool exclude_each_other(const NotedFilter& a, const NotedFilter& b);

// add_noted_problems: takes over what a merge of ours has noted about the clocks of its inputs, so
// that it is still said of the merged file.
//
//   add_noted_problems(traceloom, problems);        // reads otherData.traceloom

// Adds clock_conflict, no_common_collective and ranks_apart: after the merge, the clocks are as
// they were, and nothing else shows it. The explanations begin with "found when it was merged: ".
void add_noted_problems(JsonValue traceloom, ProblemCounts& problems);

}  // namespace traceloom
