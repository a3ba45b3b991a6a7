// SpanCollector: the visitor that gathers the spans of all files, for scan_files().
//
//   SpanCollector collector(paths.size(), SpanPlaces::none, filter, {}, false);
//   scan_files(paths, collector, {});
//   collector.finish();
//   collector.for_each_table([&](const SpanTable& table) { ... });
#pragma once

#include "base/string_table.h"
#include "event/event_side.h"
#include "scan/begin_end.h"
#include "scan/scan_files.h"
#include "stats/span_table.h"
#include "stats/time_windows.h"
#include "survey/file_reading.h"
#include "survey/row_names.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace traceloom {

// Spans of X events go to the table of the chunk that has them, in parallel; pairs of B and E
// events to one table of their own, in file order. A chunk's table goes on to be used for other
// chunks, so there are about as many tables as chunks under way at a time.
class SpanCollector : public FileVisitor {
 public:
  // `filter` must live as long. `windows`: one a file, or none. With `keep_going` an Error of a
  // file is kept in FileReading; what the file gave before is in the tables and told apart by
  // SpanPlaces::files.
  SpanCollector(std::size_t files, SpanPlaces places, const LabelFilter& filter,
                std::vector<FileWindow> windows, bool keep_going);
  ~SpanCollector() override;

  // Throws UsageError when there are far more different names than so many, as soon as that is
  // seen.
  void limit_names(std::size_t most) { most_names_ = most; }
  // When scan_files() is done.
  void finish();
  const std::vector<FileReading>& files() const { return files_; }
  std::vector<FileReading>& files() { return files_; }
  std::size_t file_of(const SpanGroup& group) const { return group.file % files_.size(); }
  // False for a group of a file that does not count, or of its outliers. With SpanPlaces::none the
  // groups are of all files, but for outliers.
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
  // What outlives a chunk and is used for the next one.
  struct Chunk {
    Chunk(const LabelFilter& filter, SpanPlaces places, std::size_t files)
        : spans(filter, places, files) {}
    void settle();

    SpanTable spans;
    BeginEndBatch begin_end;
    FileEvidence evidence;
    RowNames row_names;
    StartTimes starts;
    bool taken = false;
  };
  struct Lease;
  class PairReader;

  void count_names(SpanTable& table);
  // SpanGroup::file. Of times that may turn out to be outliers of their file, a number of its own.
  std::size_t source_of(std::size_t file, std::int64_t ns) const {
    if (StartTimes::is_near(ns)) [[likely]]
      return file;
    return file + files_.size() * (ns < 0 ? 1 : 2);
  }
  bool is_in_window(std::size_t file, std::int64_t start_ns) const {
    return windows_.empty() || windows_[file].contains(start_ns);
  }

  SpanPlaces places_;
  const LabelFilter& filter_;
  std::vector<FileWindow> windows_;
  bool keep_going_;
  std::vector<FileReading> files_;
  std::vector<RowNames> row_names_;  // by file; empty where no row is one of a device
  std::size_t most_names_ = std::numeric_limits<std::size_t>::max();
  StringTable name_sample_;
  SpanTable pair_table_;
  std::unique_ptr<PairReader> pairs_;  // of the file whose chunks are being taken
  std::mutex mutex_;                   // of the two that follow
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Chunk*> free_;
};

}  // namespace traceloom
