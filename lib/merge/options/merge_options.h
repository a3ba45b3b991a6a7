// The options of a merge (MergeOptions, with PlanOptions and MergeFilter), and its summary of what
// it has done (MergeSummary).
#pragma once

#include "base/problems.h"
#include "clock/alignment_words.h"
#include "identity/ranks/rank_source.h"
#include "input/input_list.h"
#include "select/selection.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// PlanOptions: how a merge is to lay out times, rows and events.

// What a process of the merged trace is.
enum class PidLayout : std::uint8_t {
  rank,   // pid = rank; GPUs, workers and the rest are rows of it
  split,  // every source process is a group of rows of its own, labelled with its rank
};

// What time 0 of the output is.
enum class OriginKind : std::uint8_t {
  first_event,  // the earliest event of all, floored to a whole microsecond
  keep,         // that of the inputs: with absolute clocks, Unix time
  given,        // PlanOptions::origin_ns
};

struct PlanOptions {
  bool sort_by_time = false;  // all events, over all files
  PidLayout pids = PidLayout::rank;
  // Categories of flow events whose ids mean the same in all files: arrows from rank to rank, as of
  // remote calls. A viewer binds both ends if they have the same category, name and id.
  std::vector<std::string> shared_flows = {};
  ClockOptions clock = {};
  OriginKind origin = OriginKind::first_event;
  std::int64_t origin_ns = 0;
};

// MergeFilter: which part of the inputs a merge keeps.
//
//   MergeOptions options;
//   options.filter.ranks = {{0, 3}};
//   options.filter.labels.excluded_categories = {"python_function"};
//
// The result is what the same filter would leave of the unfiltered merge: same clocks, same time 0,
// same tids and ids. An event stays if all parts of the filter accept it:
//
//   ranks         its rank is one of these. Files of other ranks are read once, for their clocks,
//                 and not written
//   time, steps   it begins then. Time counts from the earliest event of all ranks, floored to a
//                 microsecond as time 0 of a merge is; a step is that of the event's own rank
//   labels        its name and category are wanted; those of a pair of B and E are the B's
//   min_duration  it lasts so long, if it is an X or a pair of B and E; other events do not last
//                 and are not judged
//
// Events that belong together stay together:
//
// - An end (e, F) of an async operation stays if its begin does, and so does a step (T, p).
// - An E stays if its B does.
// - A flow event (s, t, f) stays if the slice stays that it is bound to (as viewers do it:
//   linked_events.h), its own name and category do not exclude it, and its arrow keeps its start
//   and another end (if it has them). A flow event that is bound to no slice is judged by its own
//   time, name and category.
// - Each end of an arrow from file to file (PlanOptions::shared_flows) stays with its own slice
//   alone.
// - Metadata stays with its rank, and names stay with rows that have events.

struct MergeFilter {
  std::vector<NumberRange> ranks;  // empty: all
  std::optional<TimeSelection> time;
  std::optional<StepSelection> steps;
  LabelFilter labels;
  std::int64_t min_duration_ns = 0;

  bool any() const { return !ranks.empty() || picks_events(); }
  // True if more is asked for than whole ranks.
  bool picks_events() const { return time || steps || !labels.empty() || min_duration_ns > 0; }
};

// MergeSummary: what a merge has done, for the program that reports it.

class TimeMap;  // clock/time_map.h

// What became of the events of a rank in one of its files. What nobody has counted rank by rank
// (which B and E of a file of several ranks stay as they are) is not known.
struct MergedRankEvents {
  std::uint64_t events_in = 0;
  std::optional<std::uint64_t> events;    // written, or to be
  std::optional<std::uint64_t> filtered;  // dropped by the filter
};

// The outcome for one input.
struct MergedFile {
  std::string path;
  std::int64_t rank = 0;
  RankSource rank_source = RankSource::position;
  ClockSummary clock;
  std::shared_ptr<const TimeMap> times;  // from file time to common time
  std::uint64_t events_in = 0;           // usable ones, without metadata
  std::uint64_t events = 0;    // written (or to be, with dry_run); a begin and an end count once
  std::uint64_t filtered = 0;  // dropped by the filter
  std::map<std::int64_t, MergedRankEvents> events_of_rank;  // filled if it has several ranks
  ProblemCounts problems;

  // Returns the counts of the file's rank, or of one of its ranks.
  MergedRankEvents events_of(std::int64_t of_rank) const {
    const auto own = events_of_rank.find(of_rank);
    return own == events_of_rank.end() ? MergedRankEvents{events_in, events, filtered}
                                       : own->second;
  }
};

// An input that is no trace or cannot be read.
struct LeftOut {
  std::string path;
  std::string error;
};

// An input whose events other inputs hold as well; `problems` say which inputs.
struct RepeatedInput {
  std::string path;
  ProblemCounts problems;
};

// A process of the output: a rank's only one, or with PidLayout::split one of several.
struct MergedProcess {
  std::int64_t rank = 0;
  std::string name;
  std::vector<std::string> tracks;  // their names, as they are shown
};

// Facts about a filter besides dropped events. They explain why so few are left.
struct FilterOutcome {
  // True if the inputs have events and none stays. Nothing is written then, and the old output
  // stays.
  bool nothing_left = false;
  std::vector<std::string> categories;  // some that occur, if categories were asked for
  std::optional<NumberRange> steps;     // the lowest and highest, when steps were asked for
  std::int64_t last_ns = 0;             // when the last event begins, counted as MergeFilter::time
  std::vector<std::int64_t> ranks;      // ranks of the inputs, ascending
};

struct MergeSummary {
  std::vector<MergedFile> files;  // in the order of the inputs
  std::vector<LeftOut> left_out;
  std::vector<RepeatedInput> repeats;  // left out, too, but nothing is lost by that
  std::vector<MergedProcess> processes;
  std::size_t ranks = 0;
  std::uint64_t events = 0;                  // written, without metadata
  std::uint64_t filtered = 0;                // dropped by the filter
  std::optional<FilterOutcome> filter = {};  // set if there is a filter
  std::uint64_t shared_flows = 0;            // events of PlanOptions::shared_flows
  std::uint64_t added = 0;                   // of MergeOptions::added
  std::set<std::int64_t> unplaced = {};      // ranks of rows of it that no input has a clock for
  std::uint64_t text_bytes = 0;              // read, uncompressed
  std::int64_t origin_ns = 0;  // Unix time of time 0 in the output, with absolute clocks
};

// Parts of a summary as JSON, in the merged trace and in reports.
class JsonWriter;
// Writes the key "collectives", where a clock has such: {"shift_ns", "residual_p50_ns",
// "residual_p95_ns", "bound_ns"}, as in CollectiveEstimate.
void write_estimate(JsonWriter& json, const ClockSummary& clock);
// Writes [{"path", "error"}].
void write_left_out(JsonWriter& json, const std::vector<LeftOut>& left_out);

// MergeOptions: what to merge, where to, and how.

class Team;  // team/team.h

// The most tracks that all inputs may have, unless more are asked for; the input that exceeds this
// is refused. What is known of a track takes some 1.8 KB until the merge is done, and a program
// that gives each request a tid of its own could have a billion. So many take 180 MiB.
inline constexpr std::size_t kMostTracks = 100'000;
// The most begin events that one input may have open at a time, unless more are asked for. Each is
// held whole, with what its slice may need; an ordinary one takes 1.3 KB. So many take 190 MiB.
inline constexpr std::size_t kMostOpenBegins = 150'000;

// What kind of file a merge writes.
enum class MergeFormat : std::uint8_t {
  json,          // one Chrome JSON trace
  perfetto_tar,  // a trace a rank and a manifest, for Perfetto; see archive_merge.h
};
// perfetto_tar for names that end in .tar, .tar.gz, .tgz or .tar.zst, in any case of letters.
MergeFormat format_of_name(std::string_view path);

// A row that no input has: what an analysis found, or what files beside the traces say.
struct AddedEvent {
  std::int64_t start_ns = 0;                     // on the common clock
  std::optional<std::int64_t> duration_ns = {};  // a slice; without it a counter
  std::string name = {};
  std::string args = {};  // JSON
};
struct AddedRow {
  std::int64_t rank = 0;  // in whose process it is
  std::string name = {};
  std::string category = {};
  std::vector<AddedEvent> events = {};  // by start
  bool is_own_time = false;             // Unix time of the rank's own clock, not the common one
};

struct MergeOptions {
  std::vector<Input> inputs;
  std::map<std::string, std::string> known_as = {};  // key: path; value: what the output calls it
  std::string output;  // "-" is stdout; packed as packing_of_name() says
  MergeFormat format = MergeFormat::json;
  unsigned threads = 0;                          // 0: as many as there are cores
  std::optional<std::uint64_t> max_memory = {};  // bytes; see plan_memory()
  int level = 0;  // of the compression, 1 to 9; 0: output/sink.h chooses
  std::size_t max_tracks = kMostTracks;
  std::size_t max_open_begins = kMostOpenBegins;
  PlanOptions plan = {};
  MergeFilter filter = {};           // what is kept
  std::vector<AddedRow> added = {};  // written after the inputs' events
  bool dry_run = false;              // report what would be done, and write nothing
  bool keep_going = false;           // leave out an input that is no trace instead of stopping
  // Surveys all inputs before it writes, even if samples of them would be enough. The same bytes
  // come out, slower; for tests and comparisons.
  bool always_survey = false;
  // The processes that merge together, all with these options; nullptr: this one alone. They write
  // a file, and the bytes that one process would write.
  Team* team = nullptr;
  // Decides what happens when the reader of stdout is gone. False: the merge ends silently
  // (ClosedPipe). True: it goes on without writing, so that the problems of the inputs are still
  // reported.
  bool outlives_reader = false;
  // Called when all of the output is on disk, before it replaces the old one. If it throws, the old
  // one stays.
  std::function<void(const MergeSummary&)> before_replacing = {};
  // Called with the bytes of the inputs (as stored) read so far, and the total: the size of all
  // inputs, or twice that once a second pass turns out to be needed. Any thread may call, one at a
  // time.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

}  // namespace traceloom
