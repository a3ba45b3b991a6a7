// The visitors that survey the inputs: SurveyVisitor for every merge, FilterSurveyVisitor for
// what only a filter needs.
#pragma once

#include "base/string_table.h"
#include "event/event_timing.h"
#include "merge/facts/file_survey.h"
#include "merge/options/merge_options.h"
#include "scan/scan_files.h"

#include <cstddef>
#include <limits>
#include <memory>
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

class SurveyVisitor : public FileVisitor {
 public:
  // `on_failure` must outlive the visitor; the survey of a file that has failed stays empty.
  // `shared_flows`: the flows to count.
  SurveyVisitor(std::size_t files, const FailureHandler& on_failure,
                std::vector<std::string> shared_flows = {});

  // Limits the tracks of all files together; see FileSurvey::has_too_many_tracks.
  void limit_tracks(std::size_t most) { most_tracks_ = most; }
  // Limits the tracks of each file by itself: other processes read other files, and count_tracks()
  // follows.
  void limit_tracks_of_each(std::size_t most) {
    most_tracks_ = most;
    counts_each_file_ = true;
  }

  // Must be called after all files have been read.
  std::vector<FileSurvey> take_surveys() { return std::move(surveys_); }

  // The survey looks into args only where it needs them. Writing checks whether they are sound.
  Args wanted_args() const override { return Args::skip; }
  std::unique_ptr<ChunkResult> make_result() override;
  void visit(ChunkResult& result, std::size_t file, const Event& event) override;
  // Does what visit() does, for an event that time_event() has been called for.
  void add(ChunkResult& result, const Event& event, const EventTiming& timing) const;
  void take(ChunkResult& result, std::size_t file) override;
  void end_file(std::size_t file, const FileEnd& end) override;
  void fail_file(std::size_t file, const Error& error) override;

 private:
  struct Chunk;
  void add_tracks(const Chunk& chunk, std::size_t file);
  static void add_dumps(const Chunk& chunk, FileSurvey& survey);

  std::vector<FileSurvey> surveys_;
  std::vector<StringTable> track_ids_;       // one a file: keys of its tracks
  std::vector<StringTable> metadata_texts_;  // one a file: texts of its metadata
  std::vector<AsyncSliceFinder> asyncs_;
  const FailureHandler& on_failure_;
  std::size_t most_tracks_ = std::numeric_limits<std::size_t>::max();
  std::size_t tracks_ = 0;  // tracks in the files that have been read
  bool counts_each_file_ = false;
  std::vector<std::string> shared_flows_;
};

// FilterSurveyVisitor: gathers what only a filter needs, in addition to the survey of the files.
//
//   SurveyVisitor survey(paths.size(), on_failure);
//   FilterSurveyVisitor visitor(survey, paths.size(), filter);
//   scan_files(paths, visitor, {});
//   std::vector<FilterFacts> facts = visitor.take_facts();

class FilterSurveyVisitor : public FileVisitor {
 public:
  // `survey` must outlive this visitor.
  FilterSurveyVisitor(SurveyVisitor& survey, std::size_t files, const MergeFilter& filter)
      : survey_(survey), facts_(files), looks_for_steps_(filter.steps) {}

  // Must be called after all files have been read.
  std::vector<FilterFacts> take_facts() { return std::move(facts_); }

  // Skips args, which only writing needs: a filtered merge of 500 MB takes 0.66 instead of 0.76 s.
  Args wanted_args() const override { return Args::skip; }
  std::unique_ptr<ChunkResult> make_result() override;
  void visit(ChunkResult& result, std::size_t file, const Event& event) override;
  void take(ChunkResult& result, std::size_t file) override;
  void end_file(std::size_t file, const FileEnd& end) override;
  void fail_file(std::size_t file, const Error& error) override;

 private:
  struct Chunk;

  SurveyVisitor& survey_;
  std::vector<FilterFacts> facts_;
  bool looks_for_steps_;
};

}  // namespace traceloom
