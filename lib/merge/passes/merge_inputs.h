// The inputs of a merge and the passes over them.
#pragma once

#include "base/problems.h"
#include "identity/capture/capture.h"
#include "input/byte_source.h"
#include "merge/facts/file_survey.h"
#include "merge/options/merge_options.h"
#include "merge/plan/plan.h"
#include "merge/survey/survey_visitor.h"
#include "merge/write/write_visitor.h"
#include "scan/scan_files.h"
#include "team/team.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// Throws UsageError if the output is one of the inputs.
void refuse_as_output(const std::vector<Input>& inputs, const std::string& output);

// MergeInputs: the inputs of a merge, what a survey has found in them, the plan that follows, and
// the ways to read them again.
//
//   MergeInputs inputs(options);
//   inputs.survey();
//   if (!inputs.select()) return inputs.nothing_left();
//   WriteVisitor visitor(inputs.plan(), output);
//   inputs.scan_planned(visitor);
//   inputs.check_unchanged(visitor, files);
//
// The numbers of files leave out two kinds of inputs: those that cannot be read (with
// MergeOptions::keep_going; without it they throw), and those whose events other inputs hold as
// well (repeats.h).

class MergeInputs {
 public:
  // `options` must outlive this object.
  explicit MergeInputs(const MergeOptions& options);

  // Reads all inputs and makes the plan. After an exception there is none. Throws UsageError if the
  // output turns out to be an input that counts. The processes of a team share the inputs out, and
  // all of them make the same plan.
  void survey();
  // Makes a plan of samples of all inputs. Returns nullopt if they say too little, or do not say
  // what a filter keeps.
  std::optional<MergePlan> guess();
  // Reads all inputs with a guessed plan, writes them to `writer`, and makes the plan again from
  // what was read. Returns true if the guess has written what that plan would write.
  bool write_by_guess(const MergePlan& guess, WriteVisitor& writer);

  // Finds what the filter of the plan keeps, by reading the files once more if need be; returns
  // false if that is nothing. Surveys once more if write_by_guess() has not found out enough.
  bool select();

  // There is a plan after survey() or write_by_guess().
  bool is_planned() const { return plan_.has_value(); }
  MergePlan& plan() { return *plan_; }
  const MergePlan& plan() const { return *plan_; }
  const std::vector<LeftOut>& left_out() const { return left_out_; }
  std::size_t size() const { return inputs_.size(); }
  const MemoryPlan& memory() const { return memory_; }

  // Reads the files that something is written of: in a team those of planned_files().
  void scan_planned(FileVisitor& visitor);
  // Reads some files; `later_bytes` are read after them, which the progress counts in.
  void scan(const std::vector<std::size_t>& files, FileVisitor& visitor,
            std::uint64_t later_bytes = 0);
  // Returns the size of the files as they are stored.
  std::uint64_t stored_bytes_of(const std::vector<std::size_t>& files) const;
  // Throws Error if a file was not written as it was surveyed.
  void check_unchanged(const WriteVisitor& visitor, const std::vector<std::size_t>& files) const;
  // Returns the files that something is written of, in the order in which they are written; in a
  // team the piece of that list which this process writes.
  std::vector<std::size_t> planned_files() const;

  // Returns what there is to report when all is done.
  MergeSummary summarize(const WrittenFiles& written) const;
  // Returns the same before anything is written, with the numbers of events that writing will give.
  MergeSummary summarize_plan() const;
  // Returns the summary of a merge whose filter keeps nothing.
  MergeSummary nothing_left() const;
  // Returns all problems of a file; `written` are those found while writing it.
  ProblemCounts problems_of(std::size_t file, const ProblemCounts& written) const;

 private:
  void read_inputs(const std::vector<Input>& inputs, FileVisitor& visitor, std::uint64_t to_read,
                   ScanOptions options);
  void scan_all(FileVisitor& visitor, const FileBlock& block = kAllFiles);
  std::vector<std::size_t> share_of(const std::vector<std::size_t>& files) const;
  void share_surveys(const FileBlock& own, std::vector<FileSurvey>& surveys);
  SurveyOptions survey_options() const;
  void keep(std::vector<FileSurvey> surveys);
  MergePlan plan_for(const std::vector<Input>& inputs, std::vector<FileSurvey> surveys,
                     const RunInputs& capture) const;
  void find_startless_ends();
  void keep_cycles_of_wanted_files();
  bool leaves_something() const;
  FailureHandler failure_handler();
  void leave_out(std::size_t file, const Error& error);
  std::map<std::int64_t, MergedRankEvents> events_of_rank(std::size_t file,
                                                          std::uint64_t written) const;
  void describe_processes(MergeSummary& summary) const;
  FilterOutcome describe_filter() const;

  const MergeOptions& options_;
  Team& team_;
  MemoryPlan memory_;
  std::uint64_t stored_bytes_;
  FileWatch watch_;
  std::uint64_t bytes_read_ = 0;  // read by all passes so far
  std::vector<LeftOut> left_out_;
  std::vector<RepeatedInput> repeats_;
  std::vector<Input> inputs_;  // can be read, and are no repeats
  std::optional<MergePlan> plan_;
  bool has_filter_facts_ = false;  // the surveys of the plan have them
};

}  // namespace traceloom
