#include "merge/passes/merge_inputs.h"

#include "base/units.h"
#include "merge/planning/make_plan.h"
#include "merge/survey/linked_events.h"
#include "merge/survey/selection.h"
#include "team/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

namespace traceloom {

namespace {

// Returns the reason that a survey may not see.
std::string too_many_begins(const MergeOptions& options) {
  return fmt::format(
      "has more than {} begin events open at a time, and no viewer shows them so deep; are its "
      "end events lost? --max-open takes more, at some 1.3 KB each",
      format_count(options.max_open_begins));
}

// Says why a file would take more memory than any viewer could show, and which option accepts it
// all the same. Returns an empty text if it is accepted.
std::string why_too_large(const FileSurvey& survey, const MergeOptions& options) {
  if (survey.has_too_many_tracks)
    return fmt::format(
        "has more than {} threads{}, and no viewer shows so many; are its tids the numbers of "
        "requests? --max-tracks takes more, at some 1.8 KB each",
        format_count(options.max_tracks),
        survey.tracks_before == 0 ? ""
                                  : fmt::format(", together with the {} of the inputs before it",
                                                format_count(survey.tracks_before)));
  return survey.most_open_begins > options.max_open_begins ? too_many_begins(options) : "";
}

std::string pack(const FileBlock& files, const std::vector<LeftOut>& left_out,
                 const std::vector<FileSurvey>& surveys) {
  WireWriter writer;
  writer(files, left_out);
  for (std::size_t i = files.begin; i < files.end; ++i) writer(surveys[i]);
  return writer.take();
}

// Adds what pack() has packed, and returns of which files.
FileBlock unpack(std::string_view bytes, std::vector<LeftOut>& left_out,
                 std::vector<FileSurvey>& surveys) {
  WireReader reader(bytes);
  FileBlock files;
  std::vector<LeftOut> added;
  reader(files, added);
  std::ranges::move(added, std::back_inserter(left_out));
  for (std::size_t i = files.begin; i < files.end; ++i) reader(surveys[i]);
  return files;
}

// Leaves only the entries of inputs that count.
template <typename T>
void keep_where(const std::vector<bool>& counts, std::vector<T>& entries) {
  std::size_t at = 0;
  std::erase_if(entries, [&](const T&) { return !counts[at++]; });
}

// Surveys and writes in one pass over the inputs, by a plan that was guessed.
class OnePassVisitor : public FileVisitor {
 public:
  OnePassVisitor(SurveyVisitor& survey, WriteVisitor& write) : survey_(survey), write_(write) {}

  std::unique_ptr<ChunkResult> make_result() override {
    auto chunk = std::make_unique<Chunk>();
    chunk->survey = survey_.make_result();
    chunk->written = write_.make_result();
    return chunk;
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
    bool reset() override { return survey->reset() && written->reset(); }
  };
  SurveyVisitor& survey_;
  WriteVisitor& write_;
};

constexpr std::string_view kChangedWhileRead =
    "the file changed between the two times a merge reads it; merge it again when it is complete";

// When a guess does not pay: of a small file the samples are most, and of many files some mislead,
// so that all is written twice. 2,000 files of 0.25 MB took 1.7 s of processor time with a guess
// and take 1.05 s without.
constexpr std::size_t kManyFiles = 64;
constexpr std::uint64_t kSmallFileBytes = std::uint64_t{1} << 20;

}  // namespace

void refuse_as_output(const std::vector<Input>& inputs, const std::string& output) {
  if (is_input(inputs, output))
    throw UsageError(fmt::format("the output {} is also an input; name another output", output));
}

MergeInputs::MergeInputs(const MergeOptions& options)
    : options_(options),
      team_(team_or_alone(options.team)),
      memory_(plan_memory(options.max_memory, options.threads, options.plan.sort_by_time)),
      stored_bytes_(stored_bytes(options.inputs)) {
  memory_.max_open_begins = options.max_open_begins;
  memory_.beside = options.output;
}

void MergeInputs::survey() {
  const FailureHandler on_failure = failure_handler();
  SurveyOptions survey = survey_options();
  has_filter_facts_ = options_.filter.any();
  if (has_filter_facts_) survey.filter = &options_.filter;
  SurveyVisitor visitor(options_.inputs.size(), on_failure, std::move(survey));
  const FileBlock own = share_out(team_, paths_of(options_.inputs));
  team_.agree([&] { scan_all(visitor, own); });
  std::vector<FileSurvey> surveys = visitor.take_surveys();
  if (!team_.is_alone()) share_surveys(own, surveys);
  keep(std::move(surveys));
}

SurveyOptions MergeInputs::survey_options() const {
  return {.shared_flows = options_.plan.shared_flows,
          .most_tracks = options_.max_tracks,
          .counts_each_file = !team_.is_alone()};
}

// Gives each process of a team what the others have found in their files, so that each makes the
// same plan. Memory: a message has what is known of all files.
void MergeInputs::share_surveys(const FileBlock& own, std::vector<FileSurvey>& surveys) {
  std::size_t tracks = 0;
  team_.gather(team_.is_first() ? std::string() : pack(own, left_out_, surveys),
               [&](std::size_t rank, const std::string& bytes) {
                 const FileBlock files = rank > 0 ? unpack(bytes, left_out_, surveys) : own;
                 for (std::size_t i = files.begin; i < files.end; ++i)
                   count_tracks(surveys[i], options_.max_tracks, tracks);
               });
  const FileBlock all{0, surveys.size()};
  const std::string bytes =
      team_.broadcast(team_.is_first() ? pack(all, left_out_, surveys) : std::string());
  if (team_.is_first()) return;
  left_out_.clear();
  unpack(bytes, left_out_, surveys);
}

std::optional<MergePlan> MergeInputs::guess() {
  if (options_.always_survey || options_.filter.picks_events() || !team_.is_alone())
    return std::nullopt;
  // The output is an earlier merge of the inputs, or a file that must not be lost.
  if (is_input(options_.inputs, options_.output)) return std::nullopt;
  const std::size_t files = options_.inputs.size();
  if (files >= kManyFiles && stored_bytes_ / files < kSmallFileBytes) return std::nullopt;
  std::optional<std::vector<FileSurvey>> surveys =
      guess_surveys(paths_of(options_.inputs), memory_.threads, options_.plan.shared_flows, watch_);
  if (!surveys) return std::nullopt;
  // Samples may be too little to find the ranks; the survey will report what is wrong.
  try {
    const RunInputs capture =
        settle_samples(options_.inputs, readings_of(*surveys), {options_.plan.clock});
    MergePlan plan = plan_for(options_.inputs, std::move(*surveys), capture);
    // One pass writes the files in the order in which it reads them.
    if (!std::ranges::is_sorted(plan.order)) return std::nullopt;
    // Collectives will likely move these clocks, and samples do not show them.
    if (std::ranges::any_of(plan.files, [](const FilePlan& file) {
          return file.clock.problems.count(Problem::ranks_apart) > 0;
        }))
      return std::nullopt;
    if (options_.filter.any()) plan.filter.emplace(options_.filter, plan);
    return plan;
  } catch (const Error&) {
    return std::nullopt;
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

bool MergeInputs::write_by_guess(const MergePlan& guess, WriteVisitor& writer) {
  const FailureHandler on_failure = failure_handler();
  SurveyVisitor surveyor(options_.inputs.size(), on_failure, survey_options());
  OnePassVisitor visitor(surveyor, writer);
  scan_all(visitor);
  keep(surveyor.take_surveys());
  return !writer.unplanned() && left_out_.empty() && repeats_.empty() &&
         writes_the_same(guess, *plan_) && leaves_something();
}

// Keeps the surveys of the inputs that count, and makes the plan that follows from them.
void MergeInputs::keep(std::vector<FileSurvey> surveys) {
  for (std::size_t file = 0; file < surveys.size(); ++file) {
    if (std::string reason = why_too_large(surveys[file], options_); !reason.empty()) {
      leave_out(file, Error(options_.inputs[file].path, reason));
      surveys[file].error = std::move(reason);
    }
  }
  if (left_out_.size() == surveys.size())
    throw UsageError(fmt::format("no input could be read; {}", left_out_.front().error));
  RunInputs capture = settle(options_.inputs, readings_of(surveys), {options_.plan.clock});
  inputs_ = options_.inputs;
  repeats_.clear();
  std::vector<bool> counts;
  for (std::size_t file = 0; file < surveys.size(); ++file) {
    counts.push_back(surveys[file].counts());
    if (surveys[file].is_repeat) repeats_.push_back({inputs_[file].path, surveys[file].problems});
  }
  keep_where(counts, surveys);
  keep_where(counts, inputs_);
  keep_where(counts, capture.ranks);
  keep_where(counts, capture.clocks.facts);
  keep_where(counts, capture.clocks.clocks);
  refuse_as_output(inputs_, options_.output);
  plan_.emplace(plan_for(inputs_, std::move(surveys), capture));
  find_startless_ends();
  if (!options_.filter.any()) return;
  plan_->filter.emplace(options_.filter, *plan_);
  if (!plan_->filter->needs_selection()) keep_cycles_of_wanted_files();
}

MergePlan MergeInputs::plan_for(const std::vector<Input>& inputs, std::vector<FileSurvey> surveys,
                                const RunInputs& capture) const {
  MergePlan plan = make_plan(inputs, std::move(surveys), capture, options_.plan);
  for (FilePlan& file : plan.files)
    if (const auto name = options_.known_as.find(file.path); name != options_.known_as.end())
      file.path = name->second;
  return plan;
}

// A --ranks filter keeps or drops whole files, so the surveys alone give the bounds of the cycles.
void MergeInputs::keep_cycles_of_wanted_files() {
  CycleTimes kept;
  for (std::size_t file = 0; file < plan_->files.size(); ++file) {
    if (!plan_->filter->wants_file(file) || plan_->surveys[file].starts.empty()) continue;
    const CommonTimes times =
        common_times(plan_->surveys[file].starts, plan_->files[file].clock.times);
    kept.add(plan_->cycles, times.first_ns);
    kept.add(plan_->cycles, times.last_ns);
  }
  plan_->cycles = kept.left_of(plan_->cycles);
}

// Reads the files that have arrows ending at the next slice once more, to find those without a
// start.
void MergeInputs::find_startless_ends() {
  std::vector<std::size_t> files;
  for (std::size_t file = 0; file < plan_->files.size(); ++file)
    if (plan_->surveys[file].next_ends > 0) files.push_back(file);
  if (files.empty()) return;
  const std::vector<std::size_t> own = share_of(files);
  std::vector<std::vector<std::uint64_t>> found = traceloom::find_startless_ends(
      *plan_, [&](FileVisitor& visitor) { team_.agree([&] { scan(own, visitor); }); });
  std::vector<std::vector<std::uint64_t>> ends;
  ends.reserve(own.size());
  for (const std::size_t file : own) ends.push_back(std::move(found[file]));
  auto file = files.begin();
  for (auto& of_process : share(team_, std::move(ends)))
    for (std::vector<std::uint64_t>& of_file : of_process)
      plan_->files[*file++].startless_ends = std::move(of_file);
}

bool MergeInputs::select() {
  const auto needs_selection = [this] { return plan_->filter && plan_->filter->needs_selection(); };
  // A one-pass merge gathers no FilterFacts.
  if (needs_selection() && !has_filter_facts_) survey();
  if (needs_selection()) {
    Selection selection =
        find_selection(*plan_, team_, [this](FileVisitor& visitor) { scan_planned(visitor); });
    plan_->cycles = std::move(selection.cycles);
    plan_->filter->set_selection(std::move(selection));
  }
  return leaves_something();
}

bool MergeInputs::leaves_something() const {
  std::uint64_t filtered = 0;
  for (std::size_t i = 0; i < inputs_.size() && plan_->filter; ++i) {
    if (plan_->filter->kept(i) > 0) return true;
    filtered += plan_->filter->filtered(i);
  }
  return filtered == 0;
}

FailureHandler MergeInputs::failure_handler() {
  left_out_.clear();
  return [this](std::size_t file, const Error& error) { leave_out(file, error); };
}

void MergeInputs::leave_out(std::size_t file, const Error& error) {
  if (!options_.keep_going) stop_at(error, options_.inputs.size());
  left_out_.push_back({options_.inputs[file].path, error.what()});
}

void MergeInputs::read_inputs(const std::vector<Input>& inputs, FileVisitor& visitor,
                              std::uint64_t to_read, ScanOptions options) {
  const std::uint64_t before = bytes_read_;
  const auto progress = [&](std::uint64_t bytes) {
    bytes_read_ = before + bytes;
    if (options_.progress) options_.progress(bytes_read_, before + to_read);
  };
  options.threads = memory_.threads;
  options.chunks_in_flight = memory_.chunks_in_flight;
  options.max_event_bytes = memory_.max_event_bytes;
  options.watch = &watch_;
  options.progress = progress;
  scan_inputs(inputs, visitor, options);
}

void MergeInputs::scan_all(FileVisitor& visitor, const FileBlock& block) {
  read_inputs(options_.inputs, visitor, stored_bytes_, {.files = block});
}

void MergeInputs::scan(const std::vector<std::size_t>& files, FileVisitor& visitor,
                       std::uint64_t later_bytes) {
  read_inputs(inputs_, visitor, stored_bytes_of(files) + later_bytes, {.order = &files});
}

void MergeInputs::scan_planned(FileVisitor& visitor) {
  scan(planned_files(), visitor);
}

std::vector<std::size_t> MergeInputs::planned_files() const {
  std::vector<std::size_t> files;
  for (const std::size_t file : plan_->order)
    if (!plan_->filter || plan_->filter->reads(file)) files.push_back(file);
  return share_of(files);
}

// All processes know the surveys, so each finds the same pieces without a message.
std::vector<std::size_t> MergeInputs::share_of(const std::vector<std::size_t>& files) const {
  if (team_.is_alone()) return files;
  constexpr std::uint64_t kFileWeight = std::uint64_t{64} << 10;  // of opening it, as bytes
  std::vector<std::uint64_t> weights;
  weights.reserve(files.size());
  for (const std::size_t file : files)
    weights.push_back(plan_->surveys[file].text_bytes + kFileWeight);
  const FileBlock own = cut_by_weight(weights, team_.size()).at(team_.rank());
  return {files.begin() + static_cast<std::ptrdiff_t>(own.begin),
          files.begin() + static_cast<std::ptrdiff_t>(own.end)};
}

std::uint64_t MergeInputs::stored_bytes_of(const std::vector<std::size_t>& files) const {
  std::uint64_t bytes = 0;
  for (const std::size_t file : files) bytes += stored_bytes({inputs_[file]});
  return bytes;
}

void MergeInputs::check_unchanged(const WriteVisitor& visitor,
                                  const std::vector<std::size_t>& files) const {
  if (visitor.unplanned() && visitor.unplanned()->has_too_many_begins)
    throw Error(inputs_[visitor.unplanned()->file].path, too_many_begins(options_));
  if (visitor.unplanned())
    throw Error(inputs_[visitor.unplanned()->file].path, visitor.unplanned()->offset,
                std::string(kChangedWhileRead));
  for (const std::size_t file : files)
    if (visitor.written()[file].text_bytes != plan_->surveys[file].text_bytes)
      throw Error(inputs_[file].path, std::string(kChangedWhileRead));
}

// The summary that MergeInputs gives.

ProblemCounts MergeInputs::problems_of(std::size_t file, const ProblemCounts& written) const {
  ProblemCounts problems = plan_->surveys[file].problems;
  problems.add(written);
  problems.add(plan_->files[file].rank.problems);
  problems.add(plan_->files[file].clock.problems);
  problems.add(plan_->files[file].problems);
  return problems;
}

MergeSummary MergeInputs::summarize(const WrittenFiles& written) const {
  MergeSummary summary;
  summary.left_out = left_out_;
  summary.repeats = repeats_;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const FilePlan& file = plan_->files[i];
    const std::uint64_t filtered = plan_->filter ? plan_->filter->filtered(i) : 0;
    summary.files.push_back({file.path, file.rank.rank, file.rank.source, file.clock,
                             std::make_shared<const TimeMap>(file.clock.times),
                             plan_->surveys[i].events, written[i].events, filtered,
                             events_of_rank(i, written[i].events),
                             problems_of(i, written[i].problems)});
    summary.events += written[i].events;
    summary.filtered += filtered;
    summary.text_bytes += plan_->surveys[i].text_bytes;
    summary.shared_flows += plan_->surveys[i].shared_flows;
  }
  describe_processes(summary);
  summary.origin_ns = plan_->origin_ns;
  if (plan_->filter) summary.filter = describe_filter();
  return summary;
}

std::map<std::int64_t, MergedRankEvents> MergeInputs::events_of_rank(std::size_t file,
                                                                     std::uint64_t written) const {
  std::map<std::int64_t, MergedRankEvents> ranks;
  const FileRank& rank = plan_->files[file].rank;
  if (!rank.is_merged()) return ranks;
  std::map<std::int64_t, std::uint64_t> whole;  // events if none is dropped
  std::uint64_t of_all = 0;
  for (const TrackFacts& track : plan_->surveys[file].tracks) {
    if (track.said_gpu) continue;  // its events are counted where they were moved from
    const std::uint64_t without_ends = track.events + track.moved_events + track.counters;
    const std::int64_t of_track = rank.rank_of(canonical_id(track.pid), canonical_id(track.tid));
    ranks[of_track].events_in += without_ends + track.ends;
    whole[of_track] += without_ends;
    of_all += without_ends;
  }
  for (const auto& [of_rank, slice] : plan_->files[file].superseded) {
    --whole[of_rank];
    --of_all;
  }
  const FilterPlan* const filter = plan_->filter ? &*plan_->filter : nullptr;
  for (auto& [number, events] : ranks) {
    if (filter != nullptr && filter->reads(file) && filter->needs_selection()) {
      const KeptCounts of_rank = filter->counts_of(file, number);
      events.events = of_rank.kept;
      events.filtered = of_rank.filtered;
    } else if (of_all == written + (filter == nullptr ? 0 : filter->filtered(file))) {
      events.events = written == 0 ? 0 : whole[number];
      events.filtered = whole[number] - *events.events;
    }
  }
  return ranks;
}

MergeSummary MergeInputs::summarize_plan() const {
  WrittenFiles written(inputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    written[i].events =
        plan_->filter ? plan_->filter->kept(i)
                      : events_to_write(plan_->surveys[i]) - plan_->files[i].superseded.size();
  return summarize(written);
}

MergeSummary MergeInputs::nothing_left() const {
  MergeSummary summary = summarize(WrittenFiles(inputs_.size()));
  summary.filter->nothing_left = true;
  return summary;
}

void MergeInputs::describe_processes(MergeSummary& summary) const {
  for (const OutputProcess& process :
       plan_->filter ? plan_->filter->rows() : plan_->tracks.processes()) {
    if (summary.processes.empty() || summary.processes.back().rank != process.rank) ++summary.ranks;
    MergedProcess& merged =
        summary.processes.emplace_back(MergedProcess{process.rank, process.name, {}});
    for (const OutputTrack& track : process.tracks) merged.tracks.push_back(track.name);
  }
}

FilterOutcome MergeInputs::describe_filter() const {
  FilterOutcome outcome;
  outcome.categories = plan_->filter->selection().categories;
  outcome.steps = plan_->filter->known_steps();
  outcome.ranks = plan_->tracks.ranks();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (plan_->surveys[i].starts.empty()) continue;
    const TimeMap times = plan_->files[i].clock.times.since(plan_->earliest_ns);
    outcome.last_ns =
        std::max(outcome.last_ns, common_times(plan_->surveys[i].starts, times).last_ns);
  }
  return outcome;
}

}  // namespace traceloom
