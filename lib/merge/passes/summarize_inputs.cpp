// The summary that MergeInputs gives.
#include "merge/passes/merge_inputs.h"

#include <algorithm>
#include <memory>

namespace traceloom {

ProblemCounts MergeInputs::problems_of(std::size_t file, const ProblemCounts& written) const {
  ProblemCounts problems = surveys_[file].problems;
  problems.add(written);
  problems.add(plan_->files[file].rank.problems);
  problems.add(plan_->files[file].clock.problems);
  problems.add(plan_->files[file].problems);
  return problems;
}

MergeSummary MergeInputs::summarize(const std::vector<ProblemCounts>& written,
                                    const std::vector<std::uint64_t>& events) const {
  MergeSummary summary;
  summary.left_out = left_out_;
  summary.repeats = repeats_;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const FilePlan& file = plan_->files[i];
    const std::uint64_t filtered = plan_->filter ? plan_->filter->filtered(i) : 0;
    summary.files.push_back({file.path, file.rank.rank, file.rank.source, file.clock,
                             std::make_shared<const TimeMap>(file.clock.times), surveys_[i].events,
                             events[i], filtered, events_of_rank(i, events[i]),
                             problems_of(i, written[i])});
    summary.events += events[i];
    summary.filtered += filtered;
    summary.text_bytes += surveys_[i].text_bytes;
    summary.shared_flows += surveys_[i].shared_flows;
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
  for (const TrackFacts& track : surveys_[file].tracks) {
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

std::vector<std::uint64_t> MergeInputs::planned_events() const {
  std::vector<std::uint64_t> events;
  events.reserve(inputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    events.push_back(plan_->filter
                         ? plan_->filter->kept(i)
                         : events_to_write(surveys_[i]) - plan_->files[i].superseded.size());
  return events;
}

MergeSummary MergeInputs::nothing_left() const {
  MergeSummary summary = summarize(std::vector<ProblemCounts>(inputs_.size()),
                                   std::vector<std::uint64_t>(inputs_.size()));
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
    if (surveys_[i].starts.empty()) continue;
    const TimeMap times = plan_->files[i].clock.times.since(plan_->earliest_ns);
    outcome.last_ns = std::max(outcome.last_ns, common_times(surveys_[i].starts, times).last_ns);
  }
  return outcome;
}

}  // namespace traceloom
