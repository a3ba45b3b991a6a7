#include "merge/planning/make_plan.h"

#include "base/arithmetic.h"
#include "base/problems.h"
#include "base/units.h"
#include "identity/clocks/clock_plan.h"
#include "identity/evidence/event_tally.h"
#include "merge/edits/field_edits.h"
#include "merge/frame/top_level_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace traceloom {
namespace {

// Refuses a file with events that says nothing about its clock while others do: it would stand next
// to them as if it were aligned.
void refuse_unknown_clocks(const std::vector<Input>& inputs, const std::vector<FileSurvey>& surveys,
                           const std::vector<FileRank>& ranks, const ClockPlan& clocks) {
  bool any_given = false;
  bool any_clock = false;
  for (const FileClock& clock : clocks.clocks) {
    const bool is_given = clock.method == ClockMethod::given;
    any_given = any_given || is_given;
    any_clock = any_clock || (clock.is_known && !is_given);
  }
  // A file that was merged without a clock keeps the times of its merge next to files that --offset
  // placed.
  const auto is_unknown = [&](const FileClock& clock) {
    return !clock.is_known && (any_clock || (any_given && clock.method == ClockMethod::none));
  };
  const auto is_known_by_another_file = [&](std::int64_t rank) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (ranks[i].rank == rank && !is_unknown(clocks.clocks[i])) return true;
    return false;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_unknown(clocks.clocks[i]) || surveys[i].starts.empty()) continue;
    const std::int64_t rank = ranks[i].rank;
    if (is_known_by_another_file(rank))
      throw Error(inputs[i].path,
                  fmt::format("its times do not say when they began, while those of other files "
                              "of rank {} do; leave it out, or give --align none to leave all "
                              "times as they are",
                              rank));
    throw Error(inputs[i].path,
                fmt::format("rank {0} has no clock sync and no base time, while other files have; "
                            "give --offset {0}=0 (or what its clock is behind) to place it, or "
                            "--align none to leave all times as they are",
                            rank));
  }
}

// Refuses clock options that move nothing: an offset of a rank that is not there or that stands in
// a merged file with others, and AlignBy::sync if no input has a sync.
void refuse_vain_options(const std::vector<Input>& inputs, const std::vector<FileRank>& ranks,
                         const TrackPlan& tracks, const ClockPlan& clocks,
                         const ClockOptions& options) {
  for (const auto& [rank, offset_ns] : options.offsets) {
    const auto is_of = [rank = rank](const FileRank& file) { return file.rank == rank; };
    if (std::ranges::any_of(ranks, is_of)) continue;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (const std::vector<std::int64_t>& in_file = tracks.ranks_of(i);
          std::ranges::binary_search(in_file, rank))
        throw UsageError(fmt::format(
            "--offset {0}: rank {0} is in {1}, a merged file whose ranks are aligned already; it "
            "moves as a whole, with --offset {2}=TIME",
            rank, inputs[i].path, ranks[i].rank));
    throw UsageError(fmt::format("--offset {0}: no input belongs to rank {0}", rank));
  }
  const bool has_clock = std::ranges::any_of(clocks.clocks, [](const FileClock& clock) {
    return clock.method != ClockMethod::none && clock.method != ClockMethod::merged;
  });
  if (options.align_by == AlignBy::sync && !has_clock)
    throw UsageError(
        "--align sync: no input has a clock sync; leave --align out, or give base or none");
}

// Returns the order in which files are written: that of the inputs, except that the cycles of a
// rank are sorted by their first event among the places that they have in the inputs. Viewers take
// the samples of a counter in the order of the file, and a shell names ep0-ba10 before ep0-ba2.
// Files without events, and files that were merged before, stay where they are.
std::vector<std::size_t> file_order(const MergePlan& plan) {
  std::map<std::int64_t, std::vector<std::size_t>> cycles;
  for (std::size_t file = 0; file < plan.files.size(); ++file) {
    const FileRank& rank = plan.files[file].rank;
    if (!rank.is_merged() && !plan.surveys[file].starts.empty()) cycles[rank.rank].push_back(file);
  }
  const auto first_ns = [&](std::size_t file) {
    return common_times(plan.surveys[file].starts, plan.files[file].clock.times).first_ns;
  };
  std::vector<std::size_t> order(plan.files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const auto& [rank, places] : cycles) {
    std::vector<std::size_t> by_time = places;
    std::ranges::stable_sort(
        by_time, [&](std::size_t a, std::size_t b) { return first_ns(a) < first_ns(b); });
    for (std::size_t i = 0; i < places.size(); ++i) order[places[i]] = by_time[i];
  }
  return order;
}

template <typename Use>
void for_each_place(const TrackPlan& tracks, std::size_t file,
                    const std::vector<CutSlices::Slice>& slices, const Use& use) {
  std::string scratch;
  for (const CutSlices::Slice& slice : slices)
    if (const TrackTarget* const target = tracks.target(file, slice.pid, slice.tid, scratch))
      use(std::pair(target->rank, slice.id));
}

// Finds which cut slices another file has whole. The tracks are planned.
void plan_cut_slices(MergePlan& plan) {
  SupersededSlices whole;
  for (std::size_t file = 0; file < plan.files.size(); ++file)
    for_each_place(plan.tracks, file, plan.surveys[file].cut_slices.whole,
                   [&](const auto& slice) { whole.insert(slice); });
  for (std::size_t file = 0; file < plan.files.size(); ++file)
    for_each_place(plan.tracks, file, plan.surveys[file].cut_slices.cut, [&](const auto& slice) {
      if (whole.contains(slice)) plan.files[file].superseded.insert(slice);
    });
}

// A file and its plan for memory dumps, see EventPlan::own_dumps.
struct PlannedIds {
  const FileSurvey* survey = nullptr;
  std::set<std::string, std::less<>> own_dumps = {};

  // Ids that a merge has written stay as they are when its output is merged again, unless two dumps
  // of one id would become one.
  bool keeps(const HexIds& ids) const {
    return survey->evidence.was_merged_by_us() && !ids.has_other;
  }
  bool keeps_objects() const { return keeps(survey->object_ids) && own_dumps.empty(); }
  const IdSet& async_ids() const {
    return keeps(survey->async_ids) ? survey->async_ids.merged : survey->async_ids.ids;
  }
  const IdSet& object_ids() const {
    return keeps_objects() ? survey->object_ids.merged : survey->object_ids.ids;
  }
};

// Finds dumps that need an id of their own: catapult takes one dump of a process for each id, and
// the processes of a rank become one.
PlannedIds plan_dumps(const FileSurvey& survey, const FileRank& rank, PidLayout pids) {
  PlannedIds planned{&survey};
  if (pids != PidLayout::rank) return planned;
  for (const auto& [key, processes] : survey.dumps) {
    std::set<std::int64_t> ranks;
    for (const std::string& pid : processes)
      if (!ranks.insert(rank.rank_of(pid)).second)
        planned.own_dumps.insert(process_dump_key(key, pid));
  }
  return planned;
}

// The sizes of the ranges of numbers that each file has to itself, for flows, binds, async events
// and objects.
struct IdRanges {
  // The counterpart of kPlainIdLimit in files that were merged before.
  std::uint64_t merged_limit = kMergedIdLimit;
  // Also for the binds of a file that was merged before, which that merge has kept apart from its
  // flows.
  std::uint64_t flow = 0;
  std::uint64_t bind = 0;
  std::uint64_t async = 0;
  std::uint64_t object = 0;
};

IdRanges id_ranges(const std::vector<PlannedIds>& files, std::uint64_t merged_limit) {
  std::vector<std::uint64_t> flow;
  std::vector<std::uint64_t> bind;
  std::vector<std::uint64_t> async;
  std::vector<std::uint64_t> object;
  for (const PlannedIds& file : files) {
    const FileSurvey& survey = *file.survey;
    const bool merged = survey.evidence.was_merged_by_us();
    const std::uint64_t limit = merged ? merged_limit : kPlainIdLimit;
    const std::uint64_t bind_range = survey.bind_ids.range(limit);
    flow.push_back(std::max(survey.flow_ids.range(limit), merged ? bind_range : 0));
    bind.push_back(merged ? 0 : bind_range);
    async.push_back(file.async_ids().range(limit));
    object.push_back(file.object_ids().range(limit));
  }
  return {merged_limit, common_id_range(flow), common_id_range(bind), common_id_range(async),
          common_id_range(object)};
}

// Returns where the bind ids begin of files that were not merged before.
std::uint64_t first_bind_id(const IdRanges& ranges, std::size_t files) {
  return std::max(kFirstBindId, ranges.flow * files);
}

// Keeps the numbers of earlier merges plain, unless all of them together exceed what a JavaScript
// number holds.
IdRanges id_ranges(const std::vector<PlannedIds>& planned) {
  const IdRanges ranges = id_ranges(planned, kMergedIdLimit);
  const std::uint64_t files = planned.size();
  const bool fit = ranges.flow < kMergedIdLimit / files &&
                   ranges.bind < (kMergedIdLimit - first_bind_id(ranges, files)) / files &&
                   ranges.async < kMergedIdLimit / files && ranges.object < kMergedIdLimit / files;
  return fit ? ranges : id_ranges(planned, kPlainIdLimit);
}

// Chooses what async ids belong to. If GPUs, workers and the rest stay processes, the events of an
// id that belongs to no single process may be in several processes of a rank.
AsyncScope async_scope(const PlannedIds& planned, const FileRank& rank, PidLayout pids) {
  const FileSurvey& survey = *planned.survey;
  if (pids == PidLayout::rank) return AsyncScope::process;
  if (planned.keeps(survey.async_ids)) return AsyncScope::kept;
  std::map<std::int64_t, std::set<std::string>> users;
  for (const TrackFacts& track : survey.tracks) {
    if (!track.has_global_async) continue;
    const std::string pid = canonical_id(track.pid);
    users[rank.rank_of(pid, canonical_id(track.tid))].insert(pid);
  }
  const bool is_shared =
      std::ranges::any_of(users, [](const auto& user) { return user.second.size() > 1; });
  return is_shared ? AsyncScope::trace : AsyncScope::process;
}

// Plans the ids of a file; the rest of the plan is left to the caller.
EventPlan plan_ids(const std::vector<PlannedIds>& files, std::size_t file, const IdRanges& ranges) {
  const FileSurvey& survey = *files[file].survey;
  const bool merged = survey.evidence.was_merged_by_us();
  const std::uint64_t limit = merged ? ranges.merged_limit : kPlainIdLimit;
  const auto plain_ids = [&](const IdSet& ids, std::uint64_t range, std::uint64_t first = 0) {
    return IdMap(ids, first + file * range, range, limit);
  };
  return {.flow_ids = plain_ids(survey.flow_ids, ranges.flow),
          .bind_ids =
              merged ? plain_ids(survey.bind_ids, ranges.flow)
                     : plain_ids(survey.bind_ids, ranges.bind, first_bind_id(ranges, files.size())),
          .async_ids = {plain_ids(files[file].async_ids(), ranges.async),
                        files[file].keeps(survey.async_ids)},
          .object_ids = {plain_ids(files[file].object_ids(), ranges.object),
                         files[file].keeps_objects()},
          .object_ids_end = ranges.object * files.size(),
          .frames = {0, merged},
          .keeps_order = merged,
          .own_dumps = files[file].own_dumps,
          .lacks_durations = survey.lacks_durations};
}

std::int64_t choose_origin(const ClockPlan& clocks, const std::vector<FileSurvey>& surveys,
                           const PlanOptions& options) {
  if (options.origin == OriginKind::first_event) return clocks.origin_ns;
  const std::int64_t origin_ns = options.origin == OriginKind::keep ? 0 : options.origin_ns;
  const bool has_events =
      std::ranges::any_of(surveys, [](const FileSurvey& survey) { return !survey.starts.empty(); });
  if (has_events && clocks.origin_ns < origin_ns)
    throw UsageError(fmt::format(
        "--origin: the first event is {} before it; name {} or earlier, or min",
        format_duration(saturating_subtract(origin_ns, clocks.origin_ns)), clocks.origin_ns));
  return origin_ns;
}

// Returns the first sync of the lowest rank that has one. The reference is not shifted, so the
// value is on the common clock.
std::optional<std::int64_t> reference_sync(const ClockPlan& clocks) {
  std::optional<std::pair<std::int64_t, std::int64_t>> first;  // rank, sync
  for (std::size_t i = 0; i < clocks.facts.size(); ++i) {
    if (!is_by_sync(clocks.clocks[i].method) || !clocks.facts[i].sync_us) continue;
    const std::pair found{clocks.facts[i].rank, *clocks.facts[i].sync_us};
    first = std::min(found, first.value_or(found));
  }
  return first ? std::optional(first->second) : std::nullopt;
}

void plan_sync(const ClockPlan& clocks, MergePlan& plan) {
  plan.cycles = clocks.cycles;
  plan.sync_us = reference_sync(clocks);
  if (!plan.sync_us) return;
  const auto own = std::ranges::find(plan.cycles, *plan.sync_us, &MergedCycle::sync_us);
  if (own != plan.cycles.end()) plan.sync_error_bound_us = own->error_bound_us;
}

// Returns the new pid of each pid of a file.
std::map<std::string, std::string, std::less<>> pids_of(const FileSurvey& survey, std::size_t file,
                                                        const TrackPlan& tracks) {
  std::map<std::string, std::string, std::less<>> pids;
  for (const TrackFacts& track : survey.tracks) {
    const std::string pid = canonical_id(track.pid);
    if (const ProcessTarget* const process = tracks.process(file, pid)) pids[pid] = process->pid;
  }
  return pids;
}

}  // namespace

MergePlan make_plan(const std::vector<Input>& inputs, std::vector<FileSurvey> surveys,
                    const RunInputs& capture, const PlanOptions& options) {
  const std::vector<FileRank>& ranks = capture.ranks;
  const ClockPlan& clocks = capture.clocks;
  if (options.clock.align_by != AlignBy::none)
    refuse_unknown_clocks(inputs, surveys, ranks, clocks);
  TrackPlan tracks(surveys, ranks, options.pids);
  const std::int64_t origin_ns = choose_origin(clocks, surveys, options);

  // Interpolated times are no whole microseconds.
  const bool sub_microsecond = std::ranges::any_of(surveys, &FileSurvey::sub_microsecond) ||
                               std::ranges::any_of(clocks.clocks, [](const FileClock& clock) {
                                 return clock.times.has_drift();
                               });
  MergePlan plan{.surveys = std::move(surveys),
                 .files = {},
                 .tracks = std::move(tracks),
                 .origin_ns = origin_ns,
                 .sub_microsecond = sub_microsecond,
                 .sorts_by_time = options.sort_by_time,
                 .pids = options.pids,
                 .earliest_ns = clocks.origin_ns};
  plan_sync(clocks, plan);
  refuse_vain_options(inputs, ranks, plan.tracks, clocks, options.clock);
  std::vector<PlannedIds> planned;
  planned.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    planned.push_back(plan_dumps(plan.surveys[i], ranks[i], options.pids));
  const IdRanges ranges = id_ranges(planned);
  std::uint32_t frame_begin = 0;
  plan.files.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    FileSurvey& survey = plan.surveys[i];
    FilePlan file{plan_ids(planned, i, ranges), inputs[i].path, ranks[i], clocks.clocks[i], {}};
    file.shared_flows = options.shared_flows;
    file.times = file.clock.times.since(origin_ns);
    file.matches_names = !survey.evidence.rank_marks.empty();
    file.async_slices = std::move(survey.async_slices);
    file.async_scope = async_scope(planned[i], ranks[i], options.pids);
    file.frames.begin = frame_begin;
    frame_begin += file.frames.keeps ? survey.frame_groups : 1;
    if (!survey.object_ids.ids.empty()) file.object_pids = pids_of(survey, i, plan.tracks);
    plan.has_objects |= !file.object_pids.empty();
    plan.files.push_back(std::move(file));
  }
  plan.order = file_order(plan);
  name_counters(plan);
  plan_subtraces(plan);
  plan_cut_slices(plan);
  return plan;
}

}  // namespace traceloom
