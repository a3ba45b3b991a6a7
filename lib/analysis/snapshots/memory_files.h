// read_memory_files: all files about memory of a run, whatever they are, as what reports need.
//
//   const MemoryFiles files = read_memory_files(found, {.threads = 2});
//   for (const SnapshotFile& snapshot : files.snapshots) use(snapshot.rank, snapshot.devices);
#pragma once

#include "analysis/memory/device_memory.h"
#include "analysis/memory/memory_stats.h"
#include "analysis/report.h"
#include "clock/time_map.h"
#include "input/input_list.h"
#include "memory/memory_reports.h"
#include "memory/replay.h"
#include "run/run.h"
#include "select/selection.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// An allocator snapshot, after its entries were replayed.
struct SnapshotFile {
  std::string path;
  std::int64_t rank = 0;
  // From names like cuda_alloc_rank_0.training_step.2.end.pickle.
  std::string function = {};
  std::optional<std::int64_t> iteration = {};
  bool is_start = false;
  std::size_t argument = 0;  // the number of the argument that led to it
  std::vector<MemoryAnswer> devices = {};
  SnapshotFacts facts = {};
};

// A file does not say its rank: its name or its place in the list does.
template <typename File>
struct Ranked : File {
  std::int64_t rank = 0;
};
using RankedReport = Ranked<TrackerReport>;
using RankedTimeline = Ranked<MemoryTimeline>;

struct MemoryFiles {
  std::vector<SnapshotFile> snapshots;  // in the order of the files, as the others are
  std::vector<RankedReport> reports;
  std::vector<RankedTimeline> timelines;
  std::vector<MemoryStatsFile> stats;
  std::vector<std::string> errors;  // with keep_going: why files were left out
  std::vector<std::string> notes;   // files of a folder that hold no memory, and guessed ranks

  bool is_empty() const {
    return snapshots.empty() && reports.empty() && timelines.empty() && stats.empty();
  }
  bool has_loss() const {
    const auto any = [](const auto& files, auto lacks) {
      return std::ranges::any_of(files, lacks);
    };
    return !errors.empty() ||
           any(snapshots,
               [](auto& of) { return of.facts.left_out + of.facts.trailing_bytes > 0; }) ||
           any(reports, [](auto& of) { return of.is_cut || of.left_out > 0; }) ||
           any(timelines, [](auto& of) { return of.left_out > 0; }) ||
           any(stats, [](auto& of) { return of.is_cut || of.left_out > 0; });
  }
};

// RankClock: the clock of a run for the Unix times of a rank's files about memory.
//
//   const RankClock clock(run, snapshot.rank, from_ns, to_ns);
//   for (const HistoryPoint& point : points) draw(clock.at(point.at_ns));
class RankClock {
 public:
  // `from_ns` and `to_ns` are the Unix times of the file: if no trace of the rank is near them, the
  // clock is not theirs, and time counts from the first of them.
  RankClock(const Run& run, std::int64_t rank, std::int64_t from_ns, std::int64_t to_ns);

  // Returns the time of the run.
  std::int64_t at(std::int64_t unix_ns) const;
  bool is_known() const { return is_known_; }

 private:
  OwnClocks clocks_;
  std::int64_t from_ns_;
  bool is_known_;
};

// FileCurve: what files about memory say over time: a device by all of its snapshots, or a category
// by the highest memory timeline of its rank.
//
//   for (const FileCurve& curve : file_curves(run, files)) draw(curve.rank, curve.points);
struct FileCurve {
  std::int64_t rank = 0;
  std::optional<std::int64_t> device = {};  // absent for a category
  std::string_view category = {};
  std::vector<MemoryPoint> points = {};
  std::int64_t peak_bytes = 0;  // requested of the device; of the category at the peak of all
  std::optional<std::int64_t> peak_step = {};
  std::optional<std::int64_t> peak_at_ns = {};
  std::vector<std::int64_t> ooms_ns = {};  // moments at which memory ran out, ascending
  bool has_clock = false;                  // the times are those of the run
};

struct MemoryReading {
  unsigned threads = 1;  // files that are read at once; 0: as many as there are cores
  bool keep_going = false;
  std::vector<NumberRange> ranks = {};  // those whose files are read; empty: all
  const Run* run = nullptr;             // whose steps serve where a snapshot has none
};

// Returns the memory timeline with the highest peak of each rank, which may have it in two formats.
std::vector<const RankedTimeline*> highest_timelines(const MemoryFiles& files);

// Returns those that have points, in Unix time. The devices come first; categories that never have
// bytes are left out.
std::vector<FileCurve> curves_of(const MemoryFiles& files);
// Returns the same on the clock of the run; without it, time counts from the first point.
std::vector<FileCurve> file_curves(const Run& run, const MemoryFiles& files);

// Throws Error for the first file that cannot be read, unless it keeps going.
MemoryFiles read_memory_files(const std::vector<OtherFile>& files, const MemoryReading& reading);

struct MemoryFileOptions {
  // The number of the argument with the snapshots before; those after are the next one.
  std::optional<std::size_t> base = {};
  std::size_t places = 0;  // rows of places that people see; 0: all
};

// Adds the verdict, tables and notes of snapshots, tracker reports and timelines. Of several
// snapshots of a device the highest one is shown in detail, and the first and the last one of a
// function are compared.
void add_memory_files(const MemoryFiles& files, const MemoryFileOptions& options, Report& report);

}  // namespace traceloom
