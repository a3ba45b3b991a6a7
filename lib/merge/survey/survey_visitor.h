// The surveys of the inputs of a merge: by reading them, and by a guess from samples.
#pragma once

#include "base/string_table.h"
#include "event/event_timing.h"
#include "input/byte_source.h"
#include "merge/facts/file_survey.h"
#include "merge/options/merge_options.h"
#include "merge/plan/plan.h"
#include "scan/scan_files.h"

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// SurveyVisitor: gathers the FileSurvey of each file, for scan_files() or together with another
// visitor.
//
//   SurveyVisitor visitor(paths.size(), on_failure);
//   scan_files(paths, visitor, {});
//   std::vector<FileSurvey> surveys = visitor.take_surveys();

// Counts the tracks of a file, and drops them if all files up to this one have more than `most`:
// tracks are held until the merge is done. `tracks` are those of the files before it.
void count_tracks(FileSurvey& survey, std::size_t most, std::size_t& tracks);

struct SurveyOptions {
  std::vector<std::string> shared_flows = {};  // PlanOptions::shared_flows, to be counted
  // The filter, if what it needs is gathered, too. It must outlive the visitor.
  const MergeFilter* filter = nullptr;
  // The most tracks of all files together; see FileSurvey::has_too_many_tracks.
  std::size_t most_tracks = std::numeric_limits<std::size_t>::max();
  // Limits the tracks of each file by itself: other processes read other files, and count_tracks()
  // follows.
  bool counts_each_file = false;
};

class SurveyVisitor : public FileVisitor {
 public:
  // `on_failure` must outlive the visitor; the survey of a file that has failed says only why.
  SurveyVisitor(std::size_t files, const FailureHandler& on_failure, SurveyOptions options = {});

  // Must be called after all files have been read.
  std::vector<FileSurvey> take_surveys() { return std::move(surveys_); }

  // The survey looks into args only where it needs them. Writing checks whether they are sound.
  Args wanted_args() const override { return Args::skip; }
  std::unique_ptr<ChunkResult> make_result() override;
  void visit(ChunkResult& result, std::size_t file, const Event& event) override;
  // Does what visit() does for a merge without a filter, for an event that time_event() has been
  // called for.
  void add(ChunkResult& result, const Event& event, const EventTiming& timing) const;
  void take(ChunkResult& result, std::size_t file) override;
  void end_file(std::size_t file, const FileEnd& end) override;
  void fail_file(std::size_t file, const Error& error) override;

 private:
  struct Chunk;
  void add_tracks(const Chunk& chunk, std::size_t file);
  static void add_dumps(const Chunk& chunk, FileSurvey& survey);
  static void add_filter_facts(const Chunk& chunk, FilterFacts& facts);

  std::vector<FileSurvey> surveys_;
  std::vector<StringTable> track_ids_;       // one a file: keys of its tracks
  std::vector<StringTable> metadata_texts_;  // one a file: texts of its metadata
  std::vector<AsyncSliceFinder> asyncs_;
  const FailureHandler& on_failure_;
  SurveyOptions options_;
  std::size_t tracks_ = 0;  // tracks in the files that have been read
};

// guess_surveys(): guesses from samples of the inputs what a survey will find. So a merge can write
// in the same pass that surveys, and needs a second pass only if the guess was wrong.
//
//   if (const std::optional<std::vector<FileSurvey>> guess = guess_surveys(paths, 2, {}))
//     guessed = make_plan(inputs, *guess);       // write with it, survey meanwhile, then
//   if (writes_the_same(guessed, plan)) done();

// Reads the beginning, the end and a few places between of each file, 1.3 MiB at most; a packed
// file has to be unpacked for that. Returns nullopt if a file does not allow a guess: it is no
// regular file, no trace, or has been merged before. Counts, offsets and problems of the surveys
// mean nothing. `threads` 0 means as many as there are cores; `shared_flows` is as in PlanOptions;
// `watch` notes the state of the files.
std::optional<std::vector<FileSurvey>> guess_surveys(const std::vector<std::string>& paths,
                                                     unsigned threads,
                                                     const std::vector<std::string>& shared_flows,
                                                     FileWatch& watch);

// Returns true if both plans write the same for every event and for all that stands before the
// events. The plans are for the same files; `plan` is made of complete surveys.
bool writes_the_same(const MergePlan& guess, const MergePlan& plan);

}  // namespace traceloom
