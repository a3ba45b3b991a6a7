#include "merge/merger.h"

#include "base/ascii.h"
#include "base/error.h"
#include "input/plain_source.h"
#include "merge/file_subset.h"
#include "merge/filter_survey.h"
#include "merge/memory_plan.h"
#include "merge/merge_output.h"
#include "merge/perfetto_manifest.h"
#include "merge/plan.h"
#include "merge/rank_archive.h"
#include "merge/rank_parts.h"
#include "merge/selection_visitor.h"
#include "merge/survey_guess.h"
#include "merge/survey_visitor.h"
#include "merge/write_visitor.h"
#include "output/file_sink.h"
#include "scan/scan_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace traceloom {
namespace {

constexpr std::string_view kChangedWhileRead =
    "the file changed between the two times a merge reads it; merge it again when it is complete";

void prepare_paths(const MergeOptions& options) {
  if (is_input(options.inputs, options.output))
    throw UsageError(
        fmt::format("the output {} is also an input; name another output", options.output));
  for (const Input& input : options.inputs) {
    if (input.path == "-")
      make_stdin_rereadable();
    else if (std::error_code error; std::filesystem::exists(input.path, error) &&
                                    !std::filesystem::is_regular_file(input.path, error) &&
                                    !std::filesystem::is_directory(input.path, error))
      throw UsageError(
          fmt::format("{} is no regular file, and a merge may read its inputs twice; pass one pipe "
                      "as - (stdin)",
                      input.path));
  }
}

// Surveys and writes in one pass, by a plan that was guessed.
class OnePassVisitor : public FileVisitor {
 public:
  OnePassVisitor(SurveyVisitor& survey, WriteVisitor& write) : survey_(survey), write_(write) {}

  std::unique_ptr<ChunkResult> make_result() override {
    auto chunk = std::make_unique<Chunk>();
    chunk->survey = survey_.make_result();
    chunk->written = write_.make_result();
    return chunk;
  }
  void recycle(std::unique_ptr<ChunkResult> result) override {
    write_.recycle(std::move(static_cast<Chunk&>(*result).written));
  }
  void visit(ChunkResult& result, std::size_t file, const Event& event) override {
    Chunk& chunk = static_cast<Chunk&>(result);
    const EventTiming timing = write_.time(*chunk.written, event);
    survey_.add(*chunk.survey, event, timing);
    write_.write(*chunk.written, file, event, timing);
  }
  void finish_chunk(ChunkResult& result) override {
    write_.finish_chunk(*static_cast<Chunk&>(result).written);
  }
  void take(ChunkResult& result, std::size_t file) override {
    survey_.take(*static_cast<Chunk&>(result).survey, file);
    write_.take(*static_cast<Chunk&>(result).written, file);
  }
  void end_file(std::size_t file, const FileEnd& end) override {
    survey_.end_file(file, end);
    write_.end_file(file, end);
  }
  void fail_file(std::size_t file, const Error& error) override { survey_.fail_file(file, error); }

 private:
  struct Chunk : ChunkResult {
    std::unique_ptr<ChunkResult> survey;
    std::unique_ptr<ChunkResult> written;
  };
  SurveyVisitor& survey_;
  WriteVisitor& write_;
};

std::vector<std::string> paths_of(const std::vector<Input>& inputs) {
  std::vector<std::string> paths;
  paths.reserve(inputs.size());
  for (const Input& input : inputs) paths.push_back(input.path);
  return paths;
}

// One merge: guess, one pass, and a second one if need be.
class Merge {
 public:
  explicit Merge(const MergeOptions& options)
      : options_(options),
        memory_(plan_memory(options.max_memory, options.threads, options.plan.sort_by_time)),
        stored_bytes_(stored_bytes(options.inputs)) {}

  MergeSummary run() {
    if (options_.dry_run) return plan_only();
    if (options_.format == MergeFormat::perfetto_tar) return write_archive();
    // Opened first: nobody wants to wait for the survey to hear that the folder does not exist.
    open_output();
    if (!merge_by_guess()) {
      // What a wrong guess has written is thrown away.
      if (plan_) open_output();
      if (!plan_ || lacks_facts()) survey();
      if (!select()) return nothing_left();
      WriteVisitor visitor(*plan_, *output_, memory_.max_join_bytes);
      visitor.write_head(surveys_);
      scan_planned(visitor);
      for (std::size_t file = 0; file < inputs_.size(); ++file) check_unchanged(visitor, file);
      finish(visitor);
    }
    output_->close();
    return std::move(summary_);
  }

 private:
  MergeSummary plan_only() {
    survey();
    if (!select()) return nothing_left();
    const std::size_t files = inputs_.size();
    std::vector<std::uint64_t> kept(files);
    for (std::size_t i = 0; i < files && plan_->filter; ++i) kept[i] = plan_->filter->kept(i);
    summarize(std::vector<ProblemCounts>(files), kept);
    return std::move(summary_);
  }

  MergeSummary nothing_left() {
    output_.reset();
    const std::size_t files = inputs_.size();
    summarize(std::vector<ProblemCounts>(files), std::vector<std::uint64_t>(files));
    summary_.filter->nothing_left = true;
    return std::move(summary_);
  }

  // A trace a rank, after all inputs have been surveyed.
  MergeSummary write_archive() {
    RankArchive archive(options_.output, options_.gzip_level);
    survey();
    const std::vector<RankPart> parts = parts_of(*plan_, surveys_);
    const std::vector<ArchivedRank> ranks = archived_ranks(parts);
    const std::int64_t origin_ns = plan_->origin_ns;
    archive.add("perfetto_manifest.json", perfetto_manifest(ranks, origin_ns));
    std::vector<ProblemCounts> problems(inputs_.size());
    std::vector<std::uint64_t> events(inputs_.size());
    std::uint64_t to_read = 0;
    for (const RankPart& part : parts) to_read += stored_bytes(inputs_of(part));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      traceloom::select(*plan_, parts[i]);
      archive.add(ranks[i].path, [&](MergeOutput& member) {
        WriteVisitor visitor(*plan_, member, memory_.max_join_bytes);
        write_part(parts[i], visitor, member, to_read);
        for (const std::size_t file : parts[i].files) {
          problems[file].add(visitor.problems()[file]);
          events[file] += visitor.events()[file];
        }
      });
      to_read -= stored_bytes(inputs_of(parts[i]));
    }
    select_all(*plan_, origin_ns);
    summarize(problems, events);
    archive.close();
    return std::move(summary_);
  }

  void write_part(const RankPart& part, WriteVisitor& visitor, MergeOutput& member,
                  std::uint64_t to_read) {
    visitor.write_head(surveys_);
    scan(part.files, visitor, to_read);
    visitor.finish();
    std::vector<ProblemCounts> problems(inputs_.size());
    for (const std::size_t file : part.files) {
      check_unchanged(visitor, file);
      problems[file] = problems_of(file, visitor.problems()[file]);
    }
    write_tail(*plan_, surveys_, visitor.events(), problems, summary_.left_out,
               [&](std::string_view text) { member.write(text); });
  }

  std::vector<Input> inputs_of(const RankPart& part) const {
    std::vector<Input> inputs;
    for (const std::size_t file : part.files) inputs.push_back(inputs_[file]);
    return inputs;
  }

  // Their names are in the order of the ranks, whatever their numbers are.
  std::vector<ArchivedRank> archived_ranks(const std::vector<RankPart>& parts) const {
    const std::size_t digits = std::to_string(parts.back().rank).size();
    std::vector<ArchivedRank> ranks;
    ranks.reserve(parts.size());
    for (const RankPart& part : parts)
      ranks.push_back({part.rank, fmt::format("rank{:0{}}.json", part.rank, digits),
                       part.origin_ns - plan_->origin_ns});
    return ranks;
  }

  void open_output() {
    output_.reset();  // its temporary file goes first: the names are the same
    output_ = std::make_unique<MergeOutput>(options_.output, options_.gzip_level);
  }

  // True when all is written. Otherwise nothing has happened, or only the survey.
  bool merge_by_guess() {
    if (options_.always_survey || options_.filter.picks_events() ||
        !is_written_aside(options_.output))
      return false;
    const std::vector<std::string> paths = paths_of(options_.inputs);
    const std::optional<std::vector<FileSurvey>> guess = guess_surveys(paths, memory_.threads);
    if (!guess) return false;
    const std::optional<MergePlan> plan = try_plan(*guess);
    if (!plan) return false;
    const FailureHandler on_failure = failure_handler();
    SurveyVisitor surveyor(paths.size(), on_failure, options_.plan.keep_begin_end);
    WriteVisitor writer(*plan, *output_, memory_.max_join_bytes);
    writer.write_head(*guess);
    OnePassVisitor visitor(surveyor, writer);
    scan_all(visitor);
    keep_surveys(surveyor.take_surveys());
    if (writer.unplanned() || inputs_.size() < paths.size() ||
        !writes_the_same(*plan, *guess, *plan_, surveys_) || !leaves_something())
      return false;
    finish(writer);
    return true;
  }

  // Samples may give too little to tell the ranks; the survey will say what is wrong.
  std::optional<MergePlan> try_plan(const std::vector<FileSurvey>& guess) const {
    try {
      MergePlan plan = make_plan(options_.inputs, guess, options_.plan);
      if (options_.filter.any()) plan.filter.emplace(options_.filter, plan, guess, facts_);
      return plan;
    } catch (const Error&) {
      return std::nullopt;
    } catch (const UsageError&) {
      return std::nullopt;
    }
  }

  void survey() {
    const FailureHandler on_failure = failure_handler();
    failed_.clear();
    summary_.left_out.clear();
    const std::size_t files = options_.inputs.size();
    SurveyVisitor visitor(files, on_failure, options_.plan.keep_begin_end);
    if (options_.filter.any()) {
      FilterSurveyVisitor filter_visitor(visitor, files, options_.filter);
      scan_all(filter_visitor);
      facts_ = filter_visitor.take_facts();
    } else {
      scan_all(visitor);
    }
    keep_surveys(visitor.take_surveys());
  }

  // The one pass of a guess has surveyed what is asked of whole ranks only.
  bool lacks_facts() const {
    return plan_->filter && plan_->filter->needs_selection() && facts_.empty();
  }

  // Finds what the filter keeps; false when that is nothing.
  bool select() {
    if (plan_->filter && plan_->filter->needs_selection()) {
      SelectionVisitor visitor(*plan_, std::move(facts_));
      scan_planned(visitor);
      plan_->filter->set_selection(visitor.take_selection());
    }
    return leaves_something();
  }

  bool leaves_something() const {
    std::uint64_t filtered = 0;
    for (std::size_t i = 0; i < inputs_.size() && plan_->filter; ++i) {
      if (plan_->filter->kept(i) > 0) return true;
      filtered += plan_->filter->filtered(i);
    }
    return filtered == 0;
  }

  FailureHandler failure_handler() {
    return [this](std::size_t file, const Error& error) {
      if (!options_.keep_going && options_.inputs.size() > 1)
        throw with_advice(error, "--keep-going leaves it out");
      if (!options_.keep_going) throw error;
      failed_.insert(file);
      summary_.left_out.push_back({options_.inputs[file].path, error.what()});
    };
  }

  // Of the inputs that can be read, and the plan that follows from them.
  void keep_surveys(std::vector<FileSurvey> surveys) {
    inputs_.clear();
    surveys_.clear();
    for (std::size_t file = 0; file < surveys.size(); ++file) {
      if (failed_.contains(file)) continue;
      inputs_.push_back(options_.inputs[file]);
      surveys_.push_back(std::move(surveys[file]));
      if (!facts_.empty()) std::swap(facts_[inputs_.size() - 1], facts_[file]);
    }
    if (inputs_.empty())
      throw UsageError(fmt::format("no input could be read; {}", summary_.left_out.front().error));
    plan_.emplace(make_plan(inputs_, surveys_, options_.plan));
    if (options_.filter.any()) plan_->filter.emplace(options_.filter, *plan_, surveys_, facts_);
  }

  // `to_read`: the stored bytes of these files and of those that will be read after them.
  void scan(const std::vector<std::string>& paths, FileVisitor& visitor, std::uint64_t to_read) {
    const std::uint64_t before = bytes_read_;
    const auto progress = [&](std::uint64_t bytes) {
      bytes_read_ = before + bytes;
      if (options_.progress) options_.progress(bytes_read_, before + to_read);
    };
    scan_files(paths, visitor,
               {memory_.threads, memory_.chunks_in_flight, memory_.max_event_bytes, progress});
  }

  void scan_all(FileVisitor& visitor) { scan(paths_of(options_.inputs), visitor, stored_bytes_); }

  // Some of inputs_.
  void scan(const std::vector<std::size_t>& files, FileVisitor& visitor, std::uint64_t to_read) {
    std::vector<std::string> paths;
    paths.reserve(files.size());
    for (const std::size_t file : files) paths.push_back(inputs_[file].path);
    FileSubset subset(visitor, files);
    scan(paths, subset, to_read);
  }

  // The files that something is to be written of.
  void scan_planned(FileVisitor& visitor) {
    std::vector<std::size_t> files;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (is_read(i)) files.push_back(i);
    scan(files, visitor, stored_bytes_);
  }

  bool is_read(std::size_t file) const { return !plan_->filter || plan_->filter->reads(file); }

  void check_unchanged(const WriteVisitor& visitor, std::size_t file) const {
    if (visitor.unplanned())
      throw Error(plan_->files[visitor.unplanned()->file].path, visitor.unplanned()->offset,
                  std::string(kChangedWhileRead));
    if (is_read(file) && visitor.text_bytes()[file] != surveys_[file].text_bytes)
      throw Error(inputs_[file].path, std::string(kChangedWhileRead));
  }

  // The tail of the trace, and what there is to say of it.
  void finish(WriteVisitor& visitor) {
    visitor.finish();
    const std::vector<ProblemCounts> problems = summarize(visitor.problems(), visitor.events());
    write_tail(*plan_, surveys_, visitor.events(), problems, summary_.left_out,
               [this](std::string_view text) { output_->write(text); });
  }

  // All that is wrong with a file; `written` is what was found in writing it.
  ProblemCounts problems_of(std::size_t file, const ProblemCounts& written) const {
    ProblemCounts problems = surveys_[file].problems;
    problems.add(written);
    problems.add(plan_->files[file].rank.problems);
    problems.add(plan_->files[file].clock.problems);
    problems.add(plan_->files[file].problems);
    return problems;
  }

  // Returns all problems, by file: `written` are those of writing.
  std::vector<ProblemCounts> summarize(const std::vector<ProblemCounts>& written,
                                       const std::vector<std::uint64_t>& events) {
    std::vector<ProblemCounts> problems;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const FilePlan& file = plan_->files[i];
      problems.push_back(problems_of(i, written[i]));
      summary_.files.push_back({file.path, file.rank.rank, file.rank.source, file.clock,
                                surveys_[i].events, events[i],
                                plan_->filter ? plan_->filter->filtered(i) : 0, problems.back()});
      summary_.events += events[i];
      summary_.filtered += summary_.files.back().filtered;
      summary_.text_bytes += surveys_[i].text_bytes;
    }
    for (const OutputProcess& process :
         plan_->filter ? plan_->filter->rows() : plan_->tracks.processes()) {
      MergedProcess& merged =
          summary_.processes.emplace_back(MergedProcess{process.rank, process.name, {}});
      for (const OutputTrack& track : process.tracks) merged.tracks.push_back(track.name);
      const std::size_t count = summary_.processes.size();
      if (count == 1 || summary_.processes[count - 2].rank != process.rank) ++summary_.ranks;
    }
    summary_.origin_ns = plan_->origin_ns;
    if (plan_->filter) describe_filter();
    return problems;
  }

  void describe_filter() {
    FilterOutcome& outcome = summary_.filter.emplace();
    outcome.categories = plan_->filter->selection().categories;
    outcome.steps = plan_->filter->known_steps();
    outcome.ranks = plan_->tracks.ranks();
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (!surveys_[i].starts.empty())
        outcome.last_ns = std::max(
            outcome.last_ns,
            common_times(surveys_[i].starts, plan_->files[i].clock.times.since(plan_->earliest_ns))
                .last_ns);
  }

  const MergeOptions& options_;
  MemoryPlan memory_;
  std::uint64_t stored_bytes_;
  std::uint64_t bytes_read_ = 0;  // by all passes so far
  std::unique_ptr<MergeOutput> output_;
  std::set<std::size_t> failed_;
  std::vector<Input> inputs_;  // those that can be read
  std::vector<FileSurvey> surveys_;
  std::vector<FilterFacts> facts_;  // with a filter, of the same files
  std::optional<MergePlan> plan_;
  MergeSummary summary_;
};

}  // namespace

std::optional<MergeFormat> parse_merge_format(std::string_view name) {
  if (name == "json") return MergeFormat::json;
  if (name == "perfetto-tar") return MergeFormat::perfetto_tar;
  return std::nullopt;
}

MergeFormat format_of_name(std::string_view path) {
  const std::string name = to_lower(path);
  const bool is_tar = name.ends_with(".tar") || name.ends_with(".tar.gz") || name.ends_with(".tgz");
  return is_tar ? MergeFormat::perfetto_tar : MergeFormat::json;
}

MergeSummary merge_traces(const MergeOptions& options) {
  prepare_paths(options);
  return Merge(options).run();
}

}  // namespace traceloom
