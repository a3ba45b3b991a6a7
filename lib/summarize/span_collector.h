// Gathers the spans of all files, of those times that are wanted, and the facts about the
// files.
#pragma once

#include "base/problems.h"
#include "base/string_table.h"
#include "clock/time_map.h"
#include "event/event_side.h"
#include "identity/evidence/event_marks.h"
#include "identity/evidence/file_reading.h"
#include "input/input_list.h"
#include "scan/begin_end.h"
#include "scan/scan_files.h"
#include "select/selection.h"
#include "summarize/span_table.h"
#include "team/team.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace traceloom {

// gather_readings: brings the facts about the files that the processes of a team have read to
// process 0.
//
//   scan_files(paths, visitor, {.files = own});
//   gather_readings(team, own, visitor.files());
//   if (team.is_first()) settle(inputs, ...);

// `own` are the files that this process has read; `files` are all of them.
void gather_readings(Team& team, const FileBlock& own, std::vector<FileReading>& files);

// find_windows: converts a piece of a run into a window on each file's own clock.
//
//   TimeSelection selection{.from_ns = 1'500'000'000, .to_ns = 2'000'000'000};   // 1.5 s to 2 s
//   std::vector<FileWindow> windows = find_windows(inputs, selection, false, {});
//   windows[file].contains(start_ns)

// A window that is queried with a file's own times.
struct FileWindow {
  TimeMap times = TimeMap();  // maps the file's times to the clock of `window`
  TimeWindow window = {};

  // For other processes: see team/wire.h.
  auto wired() { return std::tie(times, window); }

  bool contains(std::int64_t start_ns) const {
    std::int64_t ns = 0;
    return times.map(start_ns, ns) && window.contains(ns);
  }
};

// Reads all files once, for their clocks (clock_plan.h); one window a file. A file that
// cannot be read throws its Error, or with `keep_going` gets an empty guess: it is left to the next
// reading, as is a file whose events others hold as well (repeats.h). Each process of the team
// reads the files in `options` and gets all windows.
std::vector<FileWindow> find_windows(const std::vector<Input>& inputs,
                                     const TimeSelection& selection, bool keep_going,
                                     const ScanOptions& options, Team& team);

// SpanCollector: a visitor for scan_files() that gathers the spans of all files.
//
//   SpanCollector collector(paths.size(), SpanPlaces::none, filter, {}, false);
//   scan_files(paths, collector, {});
//   collector.finish();
//   collector.for_each_table([&](const SpanTable& table) { ... });

// Spans of X events go to the table of their chunk, in parallel. Pairs of B and E events go to one
// table of their own, in file order. A chunk's table is reused for later chunks, so there are about
// as many tables as chunks in flight.
class SpanCollector : public FileVisitor {
 public:
  // `filter` must outlive the collector. `windows` holds one window a file, or none. With
  // `keep_going`, an Error of a file is stored in FileReading; the spans that the file gave before
  // are in the tables, and SpanPlaces::files separates them.
  // Spans of different StartTimes::stretch() have groups of their own with `parts_stretches`.
  SpanCollector(std::size_t files, SpanPlaces places, bool parts_stretches,
                const LabelFilter& filter, std::vector<FileWindow> windows, bool keep_going);
  ~SpanCollector() override;

  // Makes the collector throw UsageError as soon as it sees that there are far more than `most`
  // different names.
  void limit_names(std::size_t most) { most_names_ = most; }
  // Call it after scan_files().
  void finish();
  const std::vector<FileReading>& files() const { return files_; }
  std::vector<FileReading>& files() { return files_; }
  std::size_t file_of(const SpanGroup& group) const { return group.file % files_.size(); }
  // False for a group of a file that does not count, or of that file's outliers. With
  // SpanPlaces::none, all files share their groups if their stretches do.
  bool counts(const SpanGroup& group) const;
  // Whether some spans without a category are told by their rows, which takes
  // SpanPlaces::files_and_threads.
  bool has_device_rows() const;
  EventSide side_of(const SpanGroup& group) const;
  template <typename Use>
  void for_each_table(Use use) const {
    use(pair_table_);
    for (const std::unique_ptr<Chunk>& chunk : chunks_) use(chunk->spans);
  }

  Args wanted_args() const override { return Args::skip; }
  std::unique_ptr<ChunkResult> make_result() override;
  void visit(ChunkResult& result, std::size_t file, const Event& event) override;
  void take(ChunkResult& result, std::size_t file) override;
  void end_file(std::size_t file, const FileEnd& end) override;
  void fail_file(std::size_t file, const Error& error) override;

 private:
  // The parts of a chunk that are reused for the next one.
  struct Chunk {
    Chunk(const LabelFilter& filter, SpanPlaces places, std::size_t files)
        : spans(filter, places, files) {}
    void settle();

    SpanTable spans;
    BeginEndBatch begin_end;
    RowNames row_names;
    ReadingPart reading;
    bool taken = false;
  };
  struct Lease;
  class PairReader;

  void count_names(SpanTable& table);
  // Returns SpanGroup::file.
  std::size_t source_of(std::size_t file, std::int64_t ns) const {
    return parts_stretches_ ? file + files_.size() * (1 + StartTimes::stretch(ns)) : file;
  }
  bool is_in_window(std::size_t file, std::int64_t start_ns) const {
    return windows_.empty() || windows_[file].contains(start_ns);
  }

  SpanPlaces places_;
  bool parts_stretches_;
  const LabelFilter& filter_;
  std::vector<FileWindow> windows_;
  bool keep_going_;
  std::vector<FileReading> files_;
  std::vector<RowNames> row_names_;  // by file; empty where no row is one of a device
  std::size_t most_names_ = std::numeric_limits<std::size_t>::max();
  StringTable name_sample_;
  SpanTable pair_table_;
  std::unique_ptr<PairReader> pairs_;  // pairs of the file whose chunks are being taken
  std::mutex mutex_;                   // guards the next two members
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Chunk*> free_;
};

}  // namespace traceloom
