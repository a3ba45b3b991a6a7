// SurveyVisitor: gathers the FileSurvey of each file, for scan_files() or beside another visitor.
//
//   SurveyVisitor visitor(paths.size(), on_failure);
//   scan_files(paths, visitor, {});
//   std::vector<FileSurvey> surveys = visitor.take_surveys();
#pragma once

#include "base/string_table.h"
#include "event/event_timing.h"
#include "merge/facts/file_survey.h"
#include "scan/begin_end.h"
#include "scan/scan_files.h"

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace traceloom {

class SurveyVisitor : public FileVisitor {
 public:
  // `on_failure` must live as long; the survey of a file that has failed stays empty. `pairs`:
  // whether stray end events are of interest; `shared_flows`: which flows to count.
  SurveyVisitor(std::size_t files, const FailureHandler& on_failure, bool pairs = false,
                std::vector<std::string> shared_flows = {});

  // FileSurvey::begin_ends are of interest, too; with `pairs`, before the first event.
  void keep_begin_ends() { keeps_begin_ends_ = true; }

  // Limits the tracks of all files together; see FileSurvey::has_too_many_tracks.
  void limit_tracks(std::size_t most) { most_tracks_ = most; }
  // Pairs nothing of a file from where more B are open at a time.
  void limit_open_begins(std::size_t most) { most_open_begins_ = most; }

  // When all files have been read.
  std::vector<FileSurvey> take_surveys() { return std::move(surveys_); }

  // What args hold is looked at where it matters; whether they are sound, where they are written.
  Args wanted_args() const override { return Args::skip; }
  std::unique_ptr<ChunkResult> make_result() override;
  void visit(ChunkResult& result, std::size_t file, const Event& event) override;
  // visit() for who has timed the event already, by time_event().
  void add(ChunkResult& result, const Event& event, const EventTiming& timing) const;
  void take(ChunkResult& result, std::size_t file) override;
  void end_file(std::size_t file, const FileEnd& end) override;
  void fail_file(std::size_t file, const Error& error) override;

 private:
  struct Chunk;
  void add_tracks(const Chunk& chunk, std::size_t file);
  void take_begin_ends(const Chunk& chunk, std::size_t file);
  std::unique_ptr<BeginEndPairer> make_pairer(FileSurvey& survey) const;
  void count_tracks(FileSurvey& survey);
  static void add_dumps(const Chunk& chunk, FileSurvey& survey);

  std::vector<FileSurvey> surveys_;
  std::vector<StringTable> track_ids_;       // of surveys_[file].tracks
  std::vector<StringTable> metadata_texts_;  // of surveys_[file].metadata
  std::vector<AsyncSliceFinder> asyncs_;
  std::vector<std::unique_ptr<BeginEndPairer>> pairers_;
  const FailureHandler& on_failure_;
  bool pairs_;
  bool keeps_begin_ends_ = false;
  std::size_t most_tracks_ = std::numeric_limits<std::size_t>::max();
  std::size_t tracks_ = 0;  // of the files that have been read
  std::size_t most_open_begins_ = std::numeric_limits<std::size_t>::max();
  std::vector<std::string> shared_flows_;
};

}  // namespace traceloom
