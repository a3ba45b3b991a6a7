// Gathers the columns of all files.
#pragma once

#include "base/problems.h"
#include "base/string_table.h"
#include "flows/flow_arrows.h"
#include "identity/evidence/event_marks.h"
#include "identity/evidence/file_reading.h"
#include "run/chunk_events.h"
#include "run/impossible_work.h"
#include "run/run.h"
#include "scan/scan_files.h"
#include "team/team.h"

#include <cstddef>
#include <memory>
#include <tuple>
#include <vector>

namespace traceloom {

// EventCollector: a visitor for scan_files() that gathers the columns of all files.
//
//   EventCollector collector(request);
//   scan_files(paths, collector, {});
//   collector.files()[0].parts

// The result of reading one file. Times are on the file's own clock.
struct CollectedEvents : FileReading {
  std::vector<EventColumns> parts;  // columns in file order, then those of pairs of B and E
  PhaseCounts phases = {};
  RowNames row_names = {};

  // For other processes: see team/wire.h. row_names are empty once the file has been read.
  auto wired() { return std::tie(static_cast<FileReading&>(*this), parts, phases); }
};

class EventCollector : public FileVisitor {
 public:
  // The request must outlive it. With RunRequest::keep_going, an Error of a file is stored in
  // CollectedEvents, and the file's events are discarded.
  explicit EventCollector(const RunRequest& request);
  ~EventCollector() override;

  // The result, complete after scan_files().
  std::vector<CollectedEvents>& files() { return files_; }
  RunTexts& texts() { return texts_; }

  Args wanted_args() const override { return Args::skip; }
  std::unique_ptr<ChunkResult> make_result() override;
  void visit(ChunkResult& result, std::size_t file, const Event& event) override;
  void take(ChunkResult& result, std::size_t file) override;
  void end_file(std::size_t file, const FileEnd& end) override;
  void fail_file(std::size_t file, const Error& error) override;

 private:
  struct Chunk : ChunkResult {
    explicit Chunk(const RunRequest& request) : events(request) {}
    ChunkEvents events;
    FlowEnds flow_ends;  // filled only if arrows are wanted, as the next one
    DisplacedEnds displaced_ends;
    bool reset() override {
      problems = {};
      events.reset();
      flow_ends.clear();
      displaced_ends = {};
      return true;
    }
  };
  class PairReader;

  void mark_device_rows(std::size_t file);

  const RunRequest& request_;
  std::vector<CollectedEvents> files_;
  RunTexts texts_;
  std::unique_ptr<PairReader> pairs_;  // pairs of the file whose chunks are being taken
  ArrowTally arrows_;                  // arrows of that file, if they are wanted
  DisplacedEnds displaced_ends_;       // likewise
  OverlongWork overlong_;              // of that file
};

// share_readings(), settle_ranks(): give what the processes of a team have read to those that work
// with it.
//
//   scan_files(paths, collector, {.files = own});
//   share_readings(team, own, collector);
//   settle_ranks(team, ranks, false);                  // of the files that this process has read
//   if (team.is_first()) use(ranks);                   // of all files

// Gives all processes what each has read, except the columns, which stay where they are. `own` are
// the files that this process has read; all collectors have the same number of files. The numbers
// of labels, tracks and details are the same on all processes: those that one process would give.
void share_readings(Team& team, const FileBlock& own, EventCollector& collector);

// Brings the events of each rank to one process: the first that has any or, without `spread`,
// process 0, which holds one message at a time besides the columns. `ranks` are those of the files
// that this process has read; afterwards they are those of all processes, in the same order on
// each.
void settle_ranks(Team& team, std::vector<RankEvents>& ranks, bool spread);

}  // namespace traceloom
