// MergeSummary: what a merge has done, for the program that reports it.
#pragma once

#include "base/problems.h"
#include "clock/alignment_words.h"
#include "identity/ranks/rank_source.h"
#include "select/number_range.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

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

  template <typename Wire>
  void wire(Wire& wire) {
    wire(path, error);
  }
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
  std::uint64_t text_bytes = 0;              // read, uncompressed
  std::int64_t origin_ns = 0;  // Unix time of time 0 in the output, with absolute clocks
};

}  // namespace traceloom
