#include "merge/plan/plan.h"

#include "base/problems.h"
#include "flows/flow_arrows.h"
#include "identity/evidence/event_tally.h"

namespace traceloom {
namespace {

constexpr TimeWindow kAllTime;
// Limits the memory: a trace may give each event a name of its own.
constexpr std::size_t kMostLabels = std::size_t{1} << 14;

// Returns the window in times of the output, where the earliest event of all is at `zero_ns`.
TimeWindow window_of(const std::optional<TimeSelection>& time, std::int64_t zero_ns) {
  TimeWindow window;
  if (time && time->from_ns) window.from_ns = saturating_add(zero_ns, *time->from_ns);
  if (time && time->to_ns) window.to_ns = saturating_add(zero_ns, *time->to_ns);
  return window;
}

std::vector<TimeWindow> intersections(const std::vector<TimeWindow>& windows,
                                      const TimeWindow& with) {
  std::vector<TimeWindow> common;
  for (const TimeWindow& window : windows) {
    const TimeWindow both{std::max(window.from_ns, with.from_ns),
                          std::min(window.to_ns, with.to_ns)};
    if (both.from_ns < both.to_ns) common.push_back(both);
  }
  return common;
}

// Moves one end of a window; an open end stays open.
std::int64_t later_by(std::int64_t end_ns, std::int64_t ns) {
  const bool is_open = end_ns == kAllTime.from_ns || end_ns == kAllTime.to_ns;
  return is_open ? end_ns : saturating_add(end_ns, ns);
}

}  // namespace

FilterPlan::FilterPlan(const MergeFilter& filter, const MergePlan& plan)
    : filter_(&filter), needs_selection_(filter.picks_events()) {
  std::vector<OutputProcess> rows;
  for (const OutputProcess& process : plan.tracks.processes()) {
    const bool wanted = wants_rank(process.rank);
    processes_.push_back({process.rank, wanted, {kAllTime}});
    if (wanted) rows.push_back(process);
  }
  show(std::move(rows));
  if (filter.time || filter.steps) find_windows(plan);
  for (std::size_t i = 0; i < plan.files.size(); ++i) {
    files_.push_back(plan_file(plan, i));
    // Within one rank all arrows keep both ends; in a merged file they may lead from rank to rank.
    needs_selection_ |= files_.back().wanted && plan.files[i].rank.is_merged();
  }
}

bool FilterPlan::wants_rank(std::int64_t rank) const {
  return filter_->ranks.empty() || is_in(filter_->ranks, rank);
}

std::uint64_t FilterPlan::kept(std::size_t file) const {
  if (!files_[file].read) return 0;
  return needs_selection_ ? selection_.events[file].kept : files_[file].events;
}

std::uint64_t FilterPlan::filtered(std::size_t file) const {
  if (!files_[file].read) return files_[file].events;
  return needs_selection_ ? selection_.events[file].filtered : 0;
}

KeptCounts FilterPlan::counts_of(std::size_t file, std::int64_t rank) const {
  const auto& counts = selection_.events_of_rank[file];
  const auto found = counts.find(rank);
  return found == counts.end() ? KeptCounts{} : found->second;
}

void FilterPlan::show(std::vector<OutputProcess> rows) {
  rows_ = std::move(rows);
  shown_pids_.clear();
  for (const OutputProcess& process : rows_) shown_pids_.insert(std::to_string(process.pid));
}

void FilterPlan::set_selection(Selection selection) {
  selection_ = std::move(selection);
  if (!selection_.rows.empty()) show(selection_.rows);  // else all wanted rows keep their names
}

void FilterPlan::move_origin(std::int64_t ns) {
  for (Process& process : processes_)
    for (TimeWindow& window : process.windows)
      window = {later_by(window.from_ns, ns), later_by(window.to_ns, ns)};
}

void FilterPlan::find_windows(const MergePlan& plan) {
  const TimeWindow time =
      window_of(filter_->time, saturating_subtract(plan.earliest_ns, plan.origin_ns));
  std::map<std::int64_t, std::vector<TimeWindow>> steps;
  if (filter_->steps) steps = find_steps(plan);
  for (Process& process : processes_) {
    if (filter_->steps) {
      // A rank that says nothing of its steps uses those of the lowest rank that does.
      const auto found = steps.find(process.rank);
      process.windows = found == steps.end() ? steps.begin()->second : found->second;
    }
    process.windows = intersections(process.windows, time);
  }
}

// Returns the windows of the wanted steps by rank. The steps of torch, which are visible in the
// trace, come first; those of Composer count if there are none.
std::map<std::int64_t, std::vector<TimeWindow>> FilterPlan::find_steps(const MergePlan& plan) {
  std::map<StepSource, std::map<std::int64_t, std::vector<StepStart>>> starts;
  for (std::size_t i = 0; i < plan.files.size(); ++i)
    for (const StepMark& mark : plan.surveys[i].filter.steps.list(plan.files[i].rank))
      starts[mark.source][mark.rank].push_back(
          {plan.files[i].times.mapped_or_same(mark.begin_ns), mark.number});
  if (starts.empty())
    throw UsageError(
        "--steps: no input says where its steps begin (by ProfilerStep#N of torch or the batches "
        "of Composer); choose by --time");
  std::map<std::int64_t, std::vector<TimeWindow>> windows;
  for (const auto& [rank, steps] : starts.begin()->second) {
    windows[rank] = filter_->steps->windows_of(steps);
    for (const StepStart& step : steps) {
      if (!known_steps_) known_steps_ = {step.number, step.number};
      known_steps_->first = std::min(known_steps_->first, step.number);
      known_steps_->last = std::max(known_steps_->last, step.number);
    }
  }
  return windows;
}

FilterPlan::File FilterPlan::plan_file(const MergePlan& plan, std::size_t file) const {
  const FileSurvey& survey = plan.surveys[file];
  File planned{false, false, events_to_write(survey)};
  const std::vector<std::int64_t>& ranks = plan.tracks.ranks_of(file);
  for (const Process& process : processes_) {
    if (!process.wanted || !std::ranges::binary_search(ranks, process.rank)) continue;
    planned.wanted = true;
    if (survey.starts.empty()) continue;
    const CommonTimes times = common_times(survey.starts, plan.files[file].times);
    const TimeWindow of_file{times.first_ns, saturating_add(times.last_ns, 1)};
    planned.read |= !intersections(process.windows, of_file).empty();
  }
  return planned;
}

bool FilterPlan::Process::contains(std::int64_t start_ns) const {
  return std::ranges::any_of(
      windows, [start_ns](const TimeWindow& window) { return window.contains(start_ns); });
}

FilterMemory::Label FilterPlan::label_of(const Event& event, FilterMemory& memory) const {
  const std::string_view name = event.text(Key::name);
  const std::string_view category = event.text(Key::cat);
  const bool has_name = is_json_string(name);
  const bool has_category = is_json_string(category);
  std::string& key = memory.scratch_;
  key.assign(has_name ? name : std::string_view{});
  key += '\0';
  if (has_category) key.append(category);
  if (memory.labels_.size() >= kMostLabels) {
    memory.label_texts_.clear();
    memory.labels_.clear();
  }
  const std::uint32_t number = memory.label_texts_.intern(key);
  if (number == memory.labels_.size()) {
    const std::string plain_name = has_name ? decoded(name) : std::string(kNoName);
    const std::string plain_category = has_category ? decoded(category) : "";
    memory.labels_.push_back({filter_->labels.accepts(plain_name, plain_category),
                              filter_->labels.excludes(plain_name, plain_category)});
  }
  return memory.labels_[number];
}

bool FilterPlan::keeps(std::size_t file, const Event& event, const TrackTarget& target,
                       const OutputTime& time, FilterMemory& memory) const {
  if (needs_selection_ && is_linked_phase(event.phase))
    return selection_.linked[file].keeps(event.offset);
  return accepts(event, target, time, memory);
}

bool FilterPlan::accepts(const Event& event, const TrackTarget& target, const OutputTime& time,
                         FilterMemory& memory) const {
  const Process& process = processes_[target.process];
  if (!process.wanted || !process.contains(time.start_ns)) return false;
  if (event.phase == 'X' && !time.is_endless() && !is_long_enough(time.duration_ns)) return false;
  return filter_->labels.empty() || label_of(event, memory).accepted;
}

char FilterPlan::phase_of_flow(std::size_t file, const Event& event) const {
  if (event.phase != 't' || !needs_selection_) return event.phase;
  const std::vector<CutStep>& cuts = selection_.cuts[file];
  const auto cut = std::ranges::lower_bound(cuts, event.offset, {}, &CutStep::offset);
  return cut != cuts.end() && cut->offset == event.offset ? cut->phase : 't';
}

bool FilterPlan::excludes(const Event& event, FilterMemory& memory) const {
  return !filter_->labels.empty() && label_of(event, memory).excluded;
}

bool EventPlan::is_superseded(const Event& event, const TrackTarget& target) const {
  return is_cut_slice(event) &&
         superseded.contains({target.rank, std::string(event.text(Key::cut_id))});
}

bool EventPlan::is_startless_end(const Event& event) const {
  return std::ranges::binary_search(startless_ends, event.offset);
}

bool EventPlan::binds_next(const Event& event) const {
  return binds_to_next_slice(event) && !is_startless_end(event);
}

}  // namespace traceloom
