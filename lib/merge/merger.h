// merge_traces: many traces into one, on one clock.
//
//   MergeOptions options;
//   options.inputs = expand_inputs({"traces/"});
//   options.output = "merged.json";
//   MergeSummary summary = merge_traces(options);
#pragma once

#include "base/problems.h"
#include "clock/alignment.h"
#include "input/input_list.h"
#include "merge/frame.h"
#include "merge/merge_filter.h"
#include "output/gzip_sink.h"
#include "survey/ranks.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

enum class MergeFormat : std::uint8_t {
  json,          // one Chrome JSON trace
  perfetto_tar,  // a trace a rank and a manifest, for Perfetto; see rank_archive.h
};
// "json", "perfetto-tar".
std::optional<MergeFormat> parse_merge_format(std::string_view name);
// perfetto_tar for names that end in .tar, .tar.gz or .tgz, in any case of letters.
MergeFormat format_of_name(std::string_view path);

struct MergeOptions {
  std::vector<Input> inputs;
  std::string output;  // "-" is stdout; a name that ends in .gz or .tgz is written as gzip
  MergeFormat format = MergeFormat::json;
  unsigned threads = 0;                          // 0: as many as there are cores
  std::optional<std::uint64_t> max_memory = {};  // bytes; see plan_memory()
  int gzip_level = kDefaultGzipLevel;
  PlanOptions plan = {};
  MergeFilter filter = {};  // what is to be kept
  bool dry_run = false;     // say what would be done, and write nothing
  bool keep_going = false;  // leave out an input that is no trace instead of stopping
  // Surveys all inputs before it writes, even where samples of them may tell enough. The same bytes
  // come out, slower; for tests and comparisons.
  bool always_survey = false;
  // Bytes of the inputs (as stored) read so far, and in all: once all of them, and when a second
  // pass turns out to be needed twice. Any thread, one at a time.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

// What became of one input.
struct MergedFile {
  std::string path;
  std::int64_t rank = 0;
  RankSource rank_source = RankSource::position;
  FileClock clock;
  std::uint64_t events_in = 0;  // that can be used, without metadata
  std::uint64_t events = 0;     // written (or to be, with dry_run and a filter); a begin and an end
                                // are one
  std::uint64_t filtered = 0;   // dropped by the filter
  ProblemCounts problems;
};

// A process of the output: of a rank, or with PidLayout::split one of several.
struct MergedProcess {
  std::int64_t rank = 0;
  std::string name;
  std::vector<std::string> tracks;  // their names, as they are shown
};

// What a filter did beside dropping events; for whoever wonders why so few are left.
struct FilterOutcome {
  // The inputs have events and none stays. Nothing is written then, and the old output untouched.
  bool nothing_left = false;
  std::vector<std::string> categories;  // that occur, when some were asked for
  std::optional<NumberRange> steps;     // the lowest and highest, when steps were asked for
  std::int64_t last_ns = 0;             // when the last event begins, counted as MergeFilter::time
  std::vector<std::int64_t> ranks;      // all, ascending
};

struct MergeSummary {
  std::vector<MergedFile> files;  // in the order of the inputs
  std::vector<LeftOut> left_out;
  std::vector<MergedProcess> processes;
  std::size_t ranks = 0;
  std::uint64_t events = 0;                  // written, without metadata
  std::uint64_t filtered = 0;                // dropped by the filter
  std::optional<FilterOutcome> filter = {};  // when there is one
  std::uint64_t text_bytes = 0;              // read, uncompressed
  std::int64_t origin_ns = 0;  // Unix time of time 0 in the output, with absolute clocks
};

// Time: one pass over the inputs where samples of them tell what has to be known before the first
// event is written (survey_guess.h; packed inputs are unpacked twice for that); two for an output
// that cannot be written anew (stdout, a pipe), for inputs that were merged before, where the
// samples have misled, and for a perfetto_tar (there of files that were merged before one more a
// rank). A filter that asks for more than whole ranks takes three: what belongs together has to be
// known before any of it is written.
//
// Memory: about 10 MiB a thread whatever the size of the inputs, plus their tracks, odd ids and
// begin events that stay open, with a filter some 24 bytes a flow event, plus the largest single
// event. The same bytes come out for any number of threads. After an exception the old output is
// untouched. Throws UsageError, before anything is opened for writing, when the output is one of
// the inputs or an input is a pipe other than stdin (inputs are read twice; stdin is copied); Error
// for an input that is no trace (unless keep_going), that cannot be read or changes meanwhile, and
// for the output.
MergeSummary merge_traces(const MergeOptions& options);

}  // namespace traceloom
