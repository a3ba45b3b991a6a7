#include "analysis/snapshots/memory_files.h"

#include "base/ascii.h"
#include "base/problems.h"
#include "base/units.h"
#include "identity/ranks/ranks.h"
#include "input/byte_source.h"
#include "memory/pickle.h"
#include "run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace traceloom {
namespace {

constexpr std::size_t kMostText = std::size_t{1} << 30;

OwnClocks clocks_of(const Run& run, std::int64_t rank) {
  OwnClocks clocks;
  for (const RunFile& file : run.files) {
    if (file.rank != rank && std::ranges::count(file.ranks, rank) == 0) continue;
    const std::int64_t first_ns = saturating_subtract(file.first_ns, run.origin_ns);
    clocks.add(file.times, file.base_ns, first_ns, saturating_add(first_ns, file.span_ns));
  }
  return clocks;
}

// A step lasts until the next one begins, and the last one until its own end.
StepAt steps_of(const Run& run, std::int64_t rank) {
  const auto events = std::ranges::find(run.ranks, rank, &RankEvents::rank);
  if (events == run.ranks.end()) return {};
  StepsByTime steps(events->steps);
  const Step* const last = steps.begun_at(std::numeric_limits<std::int64_t>::max());
  if (last == nullptr) return {};
  const std::int64_t end_ns = std::max(last->time.from_ns, last->time.to_ns);
  return [clocks = clocks_of(run, rank), steps = std::move(steps),
          end_ns](std::int64_t unix_ns) -> std::optional<TraceStep> {
    const std::optional<std::int64_t> ns = clocks.at(unix_ns);
    const Step* const step = ns && *ns < end_ns ? steps.begun_at(*ns) : nullptr;
    return step == nullptr ? std::nullopt
                           : std::optional(TraceStep{step->number, step->time.from_ns});
  };
}

// "cuda_alloc_rank_0.training_step.2.end.pickle": the function and iteration, and which end.
void read_name(SnapshotFile& file) {
  std::string_view name = file.path;
  name.remove_prefix(name.rfind('/') + 1);
  for (std::size_t dot = name.rfind('.'); dot != name.npos; dot = name.rfind('.')) {
    name = name.substr(0, dot);
    MemorySnapshot named;
    if (!read_moment(name, named)) continue;
    file.function = named.function;
    file.iteration = named.iteration;
    file.is_start = !named.at_end;
    return;
  }
}

SnapshotFile replay_all(const PickleDocument& document, const OtherFile& found,
                        const StepAt& step_at) {
  const Snapshot snapshot = snapshot_of(document, found.path);
  SnapshotFile file{.path = found.path, .rank = *found.forced_rank, .facts = snapshot};
  file.argument = found.argument;
  for (const DeviceSnapshot& device : snapshot.devices)
    file.devices.push_back(replay(snapshot, device, step_at));
  read_name(file);
  return file;
}

void read_pickle_file(const OtherFile& found, const StepAt& step_at, MemoryFiles& files) {
  const std::string& path = found.path;
  const std::string head = first_bytes(path);
  std::unique_ptr<ByteSource> source = open_any(path);
  const bool is_page = trimmed(head).starts_with('<');
  if (is_page) source = embedded_pickle(std::move(source), path);
  if (const auto foreign = sniff_foreign(head); foreign && !is_page && !is_pickle(head))
    throw Error(path, fmt::format("is {}, no pickle of protocol 2 to 5", foreign->what));
  const PickleDocument document = read_pickle(*source, path);
  if (!is_snapshot(document) && is_memory_stats(document))
    return files.stats.push_back(read_memory_stats(document, path));
  files.snapshots.push_back(replay_all(document, found, step_at));
  // The bytes of a page end with zeros.
  if (is_page) files.snapshots.back().facts.trailing_bytes = 0;
}

void read_one(const OtherFile& found, const StepAt& step_at, MemoryFiles& files) {
  const std::string& path = found.path;
  const std::int64_t rank = *found.forced_rank;
  if (found.kind == FileKind::pickle)
    read_pickle_file(found, step_at, files);
  else if (found.kind == FileKind::tracker_report)
    files.reports.push_back({parse_tracker_report(path, read_text(path, kMostText)), rank});
  else if (found.kind == FileKind::memory_timeline)
    files.timelines.push_back({parse_memory_timeline(path, read_text(path, kMostText)), rank});
  else
    files.stats.push_back(read_memory_stats(path));
}

// The histories of several snapshots of a device overlap: each goes on after the one before.
FileCurve curve_of(std::int64_t rank, std::int64_t device,
                   std::vector<const MemoryAnswer*> answers) {
  std::ranges::stable_sort(answers, {}, [](const MemoryAnswer* of) {
    return std::pair{of->from_ns, of->curve.back().at_ns};
  });
  const MemoryAnswer& highest = **std::ranges::max_element(
      answers, {}, [](const MemoryAnswer* of) { return of->peak.requested; });
  FileCurve curve{
      rank, device, "", {}, highest.peak.requested, highest.peak_step, highest.peak_at_ns};
  std::set<std::int64_t> ooms_ns;
  std::vector<MemoryPoint>& points = curve.points;
  for (const MemoryAnswer* const answer : answers) {
    for (const OutOfMemory& oom : answer->out_of_memory)
      if (oom.at_ns != kNoTime) ooms_ns.insert(oom.at_ns);
    if (!points.empty() && answer->curve.back().at_ns <= points.back().at_ns) continue;
    while (!points.empty() && points.back().at_ns >= answer->from_ns) points.pop_back();
    for (const HistoryPoint& point : answer->curve)
      points.push_back({point.at_ns, point.allocated, point.reserved});
  }
  curve.ooms_ns.assign(ooms_ns.begin(), ooms_ns.end());
  return curve;
}

}  // namespace

RankClock::RankClock(const Run& run, std::int64_t rank, std::int64_t from_ns, std::int64_t to_ns)
    : clocks_(clocks_of(run, rank)),
      from_ns_(from_ns),
      is_known_(clocks_.are_near(from_ns, to_ns)) {}

std::int64_t RankClock::at(std::int64_t unix_ns) const {
  const auto ns = is_known_ ? clocks_.at(unix_ns) : std::nullopt;
  return ns.value_or(saturating_subtract(unix_ns, from_ns_));
}

std::vector<const RankedTimeline*> highest_timelines(const MemoryFiles& files) {
  std::vector<const RankedTimeline*> all;
  for (const RankedTimeline& one : files.timelines) all.push_back(&one);
  std::ranges::stable_sort(all, {}, [](const RankedTimeline* one) {
    return std::pair{one->rank, -one->peak};
  });
  const auto others = std::ranges::unique(all, {}, &RankedTimeline::rank);
  all.erase(others.begin(), others.end());
  return all;
}

std::vector<FileCurve> curves_of(const MemoryFiles& files) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<const MemoryAnswer*>> devices;
  for (const SnapshotFile& file : files.snapshots)
    for (const MemoryAnswer& device : file.devices)
      if (!device.curve.empty()) devices[{file.rank, device.device}].push_back(&device);
  std::vector<FileCurve> curves;
  for (auto& [key, answers] : devices)
    curves.push_back(curve_of(key.first, key.second, std::move(answers)));
  for (const RankedTimeline* const of : highest_timelines(files))
    for (std::size_t i = 0; i < kTimelineCategoryCount; ++i) {
      FileCurve curve{of->rank, std::nullopt, kTimelineCategories[i], {}, of->at_peak[i]};
      for (const TimelinePoint& point : of->curve)
        curve.points.push_back({point.at_ns, point.bytes[i]});
      curve.peak_at_ns = of->peak_at_ns;
      if (std::ranges::any_of(curve.points, [](auto& point) { return point.allocated > 0; }))
        curves.push_back(std::move(curve));
    }
  return curves;
}

std::vector<FileCurve> file_curves(const Run& run, const MemoryFiles& files) {
  std::vector<FileCurve> curves = curves_of(files);
  for (FileCurve& curve : curves) {
    const RankClock clock(run, curve.rank, curve.points.front().at_ns, curve.points.back().at_ns);
    for (MemoryPoint& point : curve.points) point.at_ns = clock.at(point.at_ns);
    if (curve.peak_at_ns) curve.peak_at_ns = clock.at(*curve.peak_at_ns);
    for (std::int64_t& ns : curve.ooms_ns) ns = clock.at(ns);
    curve.has_clock = clock.is_known();
  }
  return curves;
}

MemoryFiles read_memory_files(const std::vector<OtherFile>& found, const MemoryReading& reading) {
  std::vector<OtherFile> files;
  MemoryFiles all;
  std::size_t guessed = 0;
  std::vector<std::string> paths;
  for (const OtherFile& file : found) paths.push_back(file.path);
  const std::vector<std::optional<std::int64_t>> named = ranks_in_names(paths);
  for (std::size_t i = 0; i < found.size(); ++i) {
    OtherFile file = found[i];
    keep_first(file.forced_rank, named[i]);
    if (!file.forced_rank) ++guessed;
    // The rank of a file that does not say it is its place in the order of all files.
    file.forced_rank = file.forced_rank.value_or(static_cast<std::int64_t>(i));
    if (reading.ranks.empty() || is_in(reading.ranks, *file.forced_rank)) files.push_back(file);
  }
  if (guessed > 0 && (found.size() > 1 || (reading.run != nullptr && !reading.run->files.empty())))
    all.notes.push_back(
        fmt::format("{} without a rank in the name: it is the place in the list; RANK=FILE says it",
                    count_of(guessed, "file")));
  std::map<std::int64_t, StepAt> steps;  // by rank, which may have many of both
  for (const OtherFile& file : files)
    if (const std::int64_t rank = *file.forced_rank; !steps.contains(rank))
      steps[rank] = reading.run == nullptr ? StepAt() : steps_of(*reading.run, rank);
  std::vector<MemoryFiles> read(files.size());  // each has one element in one of the lists
  std::vector<std::exception_ptr> failures(files.size());
  for_each_parallel(files.size(), reading.threads, [&](std::size_t i) {
    try {
      read_one(files[i], steps.at(*files[i].forced_rank), read[i]);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  });
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (failures[i]) try {
        std::rethrow_exception(failures[i]);
      } catch (const Error& error) {
        const bool is_other =
            files[i].is_found && dynamic_cast<const NoMemoryFile*>(&error) != nullptr;
        if (!is_other && !reading.keep_going) throw;
        (is_other ? all.notes : all.errors).push_back(fmt::format("left out {}", error.what()));
        continue;
      }
    std::ranges::move(read[i].snapshots, std::back_inserter(all.snapshots));
    std::ranges::move(read[i].reports, std::back_inserter(all.reports));
    std::ranges::move(read[i].timelines, std::back_inserter(all.timelines));
    std::ranges::move(read[i].stats, std::back_inserter(all.stats));
  }
  return all;
}

}  // namespace traceloom
