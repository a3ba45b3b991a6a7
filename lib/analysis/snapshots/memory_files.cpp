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

RankClock::RankClock(const Run& run, std::int64_t rank) {
  for (const RunFile& file : run.files)
    if (file_ == nullptr && (file.rank == rank || std::ranges::count(file.ranks, rank) > 0))
      file_ = &file;
  for (const RankEvents& events : run.ranks)
    if (events.rank == rank) steps_.emplace(events.steps);
}

std::int64_t RankClock::at(std::int64_t unix_ns, std::int64_t first_ns) const {
  return mapped(unix_ns).value_or(saturating_subtract(unix_ns, first_ns));
}

std::optional<std::int64_t> RankClock::mapped(std::int64_t unix_ns) const {
  std::int64_t ns = 0;
  if (file_ == nullptr || !file_->times.map(saturating_subtract(unix_ns, file_->base_ns), ns))
    return std::nullopt;
  return ns;
}

std::optional<std::int64_t> RankClock::step_at(std::int64_t unix_ns) const {
  const std::optional<std::int64_t> ns = mapped(unix_ns);
  const Step* const step = ns && steps_ ? steps_->at(*ns) : nullptr;
  return step == nullptr ? std::nullopt : std::optional(step->number);
}

std::vector<SnapshotCurve> curves_of(const MemoryFiles& files) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<const MemoryAnswer*>> devices;
  for (const SnapshotFile& file : files.snapshots)
    for (const MemoryAnswer& device : file.devices)
      if (!device.curve.empty()) devices[{file.rank, device.device}].push_back(&device);
  std::vector<SnapshotCurve> curves;
  for (auto& [key, answers] : devices) {
    std::ranges::stable_sort(answers, {}, &MemoryAnswer::from_ns);
    SnapshotCurve& curve = curves.emplace_back(SnapshotCurve{key.first, key.second});
    for (const MemoryAnswer* const answer : answers) {
      if (curve.highest == nullptr || answer->peak.requested > curve.highest->peak.requested)
        curve.highest = answer;
      for (const HistoryPoint& point : answer->curve)
        if (curve.points.empty() || point.at_ns > curve.points.back().at_ns)
          curve.points.push_back(point);
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
  if (guessed > 0 && found.size() > 1)
    all.notes.push_back(
        fmt::format("{} without a rank in the name: it is the place in the list; "
                    "RANK=FILE says it",
                    count_of(guessed, "file")));
  std::map<std::int64_t, RankClock> clocks;
  for (const OtherFile& file : files)
    if (reading.run != nullptr)
      clocks.try_emplace(*file.forced_rank, *reading.run, *file.forced_rank);
  const auto steps_of = [&](const OtherFile& file) -> StepAt {
    const auto clock = clocks.find(*file.forced_rank);
    if (clock == clocks.end()) return {};
    return [found = &clock->second](std::int64_t at_ns) { return found->step_at(at_ns); };
  };
  std::vector<ReadFile> read(files.size());
  for_each_parallel(files.size(), reading.threads, [&](std::size_t i) {
    try {
      read_one(files[i], steps_of(files[i]), read[i].files);
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
