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
#include <utility>

namespace traceloom {
namespace {

constexpr std::size_t kMostText = std::size_t{1} << 30;

// A file gives one element of one of the lists, or an error.
struct ReadFile {
  MemoryFiles files;
  std::exception_ptr error;
};

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
  std::vector<std::string_view> parts;
  std::string_view name = file.path;
  name.remove_prefix(name.rfind('/') + 1);
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    parts.push_back(name.substr(0, dot));
    name.remove_prefix(dot + 1);
  }
  for (std::size_t i = 3; i < parts.size(); ++i) {
    const auto iteration = whole_number<std::int64_t>(parts[i - 1]);
    if (!iteration || !is_any_of(parts[i], "start", "end")) continue;
    file.iteration = iteration;
    file.is_start = parts[i] == "start";
    const char* const begin = parts[1].data();
    file.function.assign(begin, parts[i - 1].data() - 1);
    return;
  }
}

SnapshotFile replay_all(const PickleDocument& document, const std::string& path,
                        const StepAt& step_at) {
  const Snapshot snapshot = snapshot_of(document, path);
  SnapshotFile file{.path = path, .expandable_segments = snapshot.expandable_segments};
  file.pinned_bytes = snapshot.pinned_bytes;
  file.left_out = snapshot.left_out;
  file.trailing_bytes = snapshot.trailing_bytes;
  for (const DeviceSnapshot& device : snapshot.devices)
    file.devices.push_back(replay(snapshot, device, step_at));
  read_name(file);
  return file;
}

void read_pickle_file(const OtherFile& found, const StepAt& step_at, MemoryFiles& files) {
  const std::string& path = found.path;
  const std::string head = first_bytes(path);
  std::unique_ptr<ByteSource> source = open_any(path);
  const std::size_t begin = head.find_first_not_of(" \n\r\t");
  const bool is_page = begin != head.npos && head[begin] == '<';
  if (is_page) source = embedded_pickle(std::move(source), path);
  if (const auto foreign = sniff_foreign(head); foreign && !is_page && !is_pickle(head))
    throw Error(path, fmt::format("is {}, no pickle of protocol 2 to 5", foreign->what));
  const PickleDocument document = read_pickle(*source, path);
  if (!is_snapshot(document) && is_memory_stats(document)) {
    files.stats.push_back(read_memory_stats(document, path));
    return;
  }
  files.snapshots.push_back(replay_all(document, path, step_at));
  files.snapshots.back().argument = found.argument;
  // The bytes of a page end with zeros.
  if (is_page) files.snapshots.back().trailing_bytes = 0;
}

void read_one(const OtherFile& found, const StepAt& step_at, MemoryFiles& files) {
  const std::string& path = found.path;
  switch (found.kind) {
    case FileKind::pickle:
      return read_pickle_file(found, step_at, files);
    case FileKind::tracker_report:
      files.reports.push_back({0, parse_tracker_report(path, read_text(path, kMostText))});
      return;
    case FileKind::memory_timeline:
      files.timelines.push_back({0, parse_memory_timeline(path, read_text(path, kMostText))});
      return;
    default:
      files.stats.push_back(read_memory_stats(path));
  }
}

template <class List>
void move_all(List& from, List& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
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

std::vector<SnapshotCurve> curves_of(const MemoryFiles& files) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<const MemoryAnswer*>> devices;
  for (const SnapshotFile& file : files.snapshots)
    for (const MemoryAnswer& device : file.devices)
      if (!device.curve.empty()) devices[{file.rank, device.device}].push_back(&device);
  std::vector<SnapshotCurve> curves;
  for (auto& [key, answers] : devices) {
    std::ranges::stable_sort(answers, {}, [](const MemoryAnswer* of) {
      return std::pair{of->from_ns, of->curve.back().at_ns};
    });
    SnapshotCurve& curve = curves.emplace_back(SnapshotCurve{key.first, key.second});
    for (const MemoryAnswer* const answer : answers) {
      if (curve.highest == nullptr || answer->peak.requested > curve.highest->peak.requested)
        curve.highest = answer;
      for (const OutOfMemory& oom : answer->out_of_memory)
        if (oom.at_ns != kNoTime) curve.ooms_ns.insert(oom.at_ns);
      std::vector<HistoryPoint>& points = curve.points;
      if (!points.empty() && answer->curve.back().at_ns <= points.back().at_ns) continue;
      while (!points.empty() && points.back().at_ns >= answer->from_ns) points.pop_back();
      points.insert(points.end(), answer->curve.begin(), answer->curve.end());
    }
  }
  return curves;
}

std::vector<const RankedTimeline*> highest_timelines(const MemoryFiles& files) {
  std::map<std::int64_t, const RankedTimeline*> highest;
  for (const RankedTimeline& one : files.timelines) {
    const auto [at, is_new] = highest.emplace(one.rank, &one);
    if (!is_new && one.timeline.peak > at->second->timeline.peak) at->second = &one;
  }
  std::vector<const RankedTimeline*> all;
  for (const auto& [rank, one] : highest) all.push_back(one);
  return all;
}

std::vector<FileCurve> file_curves(const Run& run, const MemoryFiles& files) {
  std::vector<FileCurve> curves;
  for (const SnapshotCurve& of : curves_of(files)) {
    const RankClock clock(run, of.rank, of.points.front().at_ns, of.points.back().at_ns);
    FileCurve& curve = curves.emplace_back(FileCurve{of.rank, of.device});
    for (const HistoryPoint& point : of.points)
      curve.points.push_back({clock.at(point.at_ns), point.allocated, point.reserved});
    curve.peak_bytes = of.highest->peak.requested;
    curve.peak_step = of.highest->peak_step;
    if (of.highest->peak_at_ns) curve.peak_at_ns = clock.at(*of.highest->peak_at_ns);
    for (const std::int64_t ns : of.ooms_ns) curve.ooms_ns.push_back(clock.at(ns));
    curve.has_clock = clock.is_known();
  }
  for (const RankedTimeline* const of : highest_timelines(files)) {
    const std::vector<TimelinePoint>& points = of->timeline.curve;
    if (points.empty()) continue;
    const RankClock clock(run, of->rank, points.front().at_ns, points.back().at_ns);
    for (std::size_t i = 0; i < kTimelineCategoryCount; ++i) {
      if (std::ranges::all_of(points, [&](auto& point) { return point.bytes[i] <= 0; })) continue;
      FileCurve& curve =
          curves.emplace_back(FileCurve{of->rank, std::nullopt, kTimelineCategories[i]});
      for (const TimelinePoint& point : points)
        curve.points.push_back({clock.at(point.at_ns), point.bytes[i]});
      curve.peak_bytes = of->timeline.at_peak[i];
      if (of->timeline.peak_at_ns) curve.peak_at_ns = clock.at(*of->timeline.peak_at_ns);
      curve.has_clock = clock.is_known();
    }
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
    files.push_back(found[i]);
    const std::optional<std::int64_t> rank = found[i].forced_rank ? found[i].forced_rank : named[i];
    if (!rank) ++guessed;
    // The rank of a file that does not say it is its place in the order of all files.
    files.back().forced_rank = rank.value_or(static_cast<std::int64_t>(i));
    if (!reading.ranks.empty() && !is_in(reading.ranks, *files.back().forced_rank))
      files.pop_back();
  }
  if (guessed > 0 && (found.size() > 1 || (reading.run != nullptr && !reading.run->files.empty())))
    all.notes.push_back(
        fmt::format("{} without a rank in the name: it is the place in the list; "
                    "RANK=FILE says it",
                    count_of(guessed, "file")));
  std::map<std::int64_t, StepAt> steps;  // by rank, which may have many of both
  for (const OtherFile& file : files)
    if (const auto [at, is_new] = steps.try_emplace(*file.forced_rank);
        is_new && reading.run != nullptr)
      at->second = steps_of(*reading.run, *file.forced_rank);
  std::vector<ReadFile> read(files.size());
  for_each_parallel(files.size(), reading.threads, [&](std::size_t i) {
    try {
      read_one(files[i], steps.at(*files[i].forced_rank), read[i].files);
    } catch (...) {
      read[i].error = std::current_exception();
    }
  });
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (read[i].error) try {
        std::rethrow_exception(read[i].error);
      } catch (const NoMemoryFile& error) {
        if (!files[i].is_found && !reading.keep_going) throw;
        (files[i].is_found ? all.notes : all.errors)
            .push_back(fmt::format("left out {}", error.what()));
        continue;
      } catch (const Error& error) {
        if (!reading.keep_going) throw;
        all.errors.push_back(fmt::format("left out {}", error.what()));
        continue;
      }
    const std::int64_t rank = *files[i].forced_rank;
    MemoryFiles& one = read[i].files;
    for (SnapshotFile& snapshot : one.snapshots) snapshot.rank = rank;
    for (RankedReport& report : one.reports) report.rank = rank;
    for (RankedTimeline& timeline : one.timelines) timeline.rank = rank;
    move_all(one.snapshots, all.snapshots);
    move_all(one.reports, all.reports);
    move_all(one.timelines, all.timelines);
    move_all(one.stats, all.stats);
  }
  return all;
}

}  // namespace traceloom
