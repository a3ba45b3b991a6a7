// MergeInputs: the inputs of a merge: what a survey has found in them, the plan that follows, and
// the ways to read them again.
//
//   MergeInputs inputs(options);
//   inputs.survey();
//   if (!inputs.select()) return inputs.nothing_left();
//   WriteVisitor visitor(inputs.plan(), output);
//   inputs.scan_planned(visitor);
//   inputs.check_unchanged(visitor, files);
//
// Files are counted without those that cannot be read: with MergeOptions::keep_going they are left
// out, without it they are an exception; and without those whose events others hold as well
// (repeats.h).
#pragma once

#include "base/error.h"
#include "base/problems.h"
#include "input/file_watch.h"
#include "merge/keep/filter_survey.h"
#include "merge/options/merge_options.h"
#include "merge/options/merge_summary.h"
#include "merge/plan/plan.h"
#include "merge/write/memory_plan.h"
#include "merge/write/write_visitor.h"
#include "scan/scan_files.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace traceloom {

// A plan by samples of all inputs, made before any of them was read as a whole.
struct GuessedPlan {
  std::vector<FileSurvey> surveys;
  MergePlan plan;
};

class MergeInputs {
 public:
  // `options` must live as long.
  explicit MergeInputs(const MergeOptions& options);

  // Reads all and plans. After an exception nothing is there. Throws UsageError when the output
  // turns out to be an input that counts.
  void survey();
  // The same by samples; nullopt where they tell too little, or do not tell what stays of a filter.
  std::optional<GuessedPlan> guess();
  // Reads all by a guessed plan, writes them to `writer` and plans again by what was read. True
  // when the guess has written what that plan would.
  bool write_by_guess(const GuessedPlan& guess, WriteVisitor& writer);

  // Finds what the filter of the plan keeps, by reading the files once more where need be; false
  // when that is nothing. Surveys once more where write_by_guess() has not found out enough.
  bool select();

  // After survey() or write_by_guess().
  bool is_planned() const { return plan_.has_value(); }
  MergePlan& plan() { return *plan_; }
  const MergePlan& plan() const { return *plan_; }
  const std::vector<FileSurvey>& surveys() const { return surveys_; }
  const std::vector<LeftOut>& left_out() const { return left_out_; }
  std::size_t size() const { return inputs_.size(); }
  const MemoryPlan& memory() const { return memory_; }

  // Reads the files that something is to be written of.
  void scan_planned(FileVisitor& visitor);
  // Reads some files; `later_bytes` are to be read after them, for the progress.
  void scan(const std::vector<std::size_t>& files, FileVisitor& visitor,
            std::uint64_t later_bytes = 0);
  // As they are stored.
  std::uint64_t stored_bytes_of(const std::vector<std::size_t>& files) const;
  // Throws Error when a file was not written as it was surveyed.
  void check_unchanged(const WriteVisitor& visitor, const std::vector<std::size_t>& files) const;
  std::vector<std::size_t> planned_files() const;

  // How many events of each file writing it will give.
  std::vector<std::uint64_t> planned_events() const;
  // What there is to say when all is done. `written` and `events` are what writing each file has
  // found, and how many it wrote.
  MergeSummary summarize(const std::vector<ProblemCounts>& written,
                         const std::vector<std::uint64_t>& events) const;
  // When a filter keeps nothing.
  MergeSummary nothing_left() const;
  // All that is wrong with a file; `written` is what was found in writing it.
  ProblemCounts problems_of(std::size_t file, const ProblemCounts& written) const;

 private:
  void scan_paths(const std::vector<std::string>& paths, FileVisitor& visitor,
                  std::uint64_t to_read);
  void scan_all(FileVisitor& visitor);
  void prepare(SurveyVisitor& visitor) const;
  void keep(std::vector<FileSurvey> surveys);
  MergePlan plan_for(const std::vector<Input>& inputs,
                     const std::vector<FileSurvey>& surveys) const;
  void drop_failed(std::vector<FileSurvey>& surveys);
  void drop_repeats();
  void find_startless_ends();
  void keep_cycles_of_wanted_files();
  bool leaves_something() const;
  bool lacks_facts() const;
  FailureHandler failure_handler();
  void leave_out(std::size_t file, const Error& error);
  std::map<std::int64_t, MergedRankEvents> events_of_rank(std::size_t file,
                                                          std::uint64_t written) const;
  void describe_processes(MergeSummary& summary) const;
  FilterOutcome describe_filter() const;

  const MergeOptions& options_;
  MemoryPlan memory_;
  std::uint64_t stored_bytes_;
  FileWatch watch_;
  std::uint64_t bytes_read_ = 0;  // by all passes so far
  std::set<std::size_t> failed_;  // of options_.inputs
  std::vector<LeftOut> left_out_;
  std::vector<RepeatedInput> repeats_;
  std::vector<Input> inputs_;  // those that can be read, and are no repeats
  std::vector<FileSurvey> surveys_;
  std::vector<FilterFacts> facts_;  // with a filter, of the same files
  std::optional<MergePlan> plan_;
};

}  // namespace traceloom
