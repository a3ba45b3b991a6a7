// FlowStarts: finds the ends of arrows (f) that wait for the next slice of their thread and have no
// start.
//
//   FlowStarts starts(plan);
//   scan_files(paths, starts, {});
//   plan.files[file].startless_ends = starts.take(file);      // EventWriter binds them otherwise
//
// Why: when that slice begins, Perfetto draws an arrow to it from the start of the flow, or if
// there is no start, from the first slice of the whole trace, which belongs to another rank. If the
// end is bound to the slice around it ("bp": "e"), Perfetto draws nothing, as catapult does in both
// cases.
//
// A start (an s; to Perfetto a step, t, is none) counts from its time on, and only if its thread
// has already had a slice that it can be bound to.
#pragma once

#include "merge/plan/plan.h"
#include "scan/result_pool.h"
#include "scan/scan_files.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace traceloom {

// Reads the files that have such ends (FileSurvey::next_ends). They are few: torch binds all of its
// ends to the slice around. Memory: 24 bytes a flow event of the file that is being read.
class FlowStarts : public FileVisitor {
 public:
  // `plan` must outlive this visitor. Arrows of PlanOptions::shared_flows may start in another
  // file, so their ends are left alone.
  explicit FlowStarts(const MergePlan& plan);
  ~FlowStarts() override;

  // Returns the ends in a file that has been read: offsets, ascending.
  std::vector<std::uint64_t> take(std::size_t file) { return std::move(startless_[file]); }

  Args wanted_args() const override { return Args::skip; }  // nothing is written here
  std::unique_ptr<ChunkResult> make_result() override;
  void recycle(std::unique_ptr<ChunkResult> result) override;
  void visit(ChunkResult& result, std::size_t file, const Event& event) override;
  void take(ChunkResult& result, std::size_t file) override;
  void end_file(std::size_t file, const FileEnd& end) override;

 private:
  struct Start {
    std::uint64_t flow;  // FlowLabel::hash() plus the number of its id
    std::int64_t ns;
    std::uint32_t row;  // TrackTarget::number
  };
  struct End {
    std::uint64_t flow;
    std::int64_t ns;
    std::uint64_t offset;
  };
  // Slices, starts and ends found in a chunk, or in a file.
  struct Found {
    std::unordered_map<std::uint32_t, std::int64_t> first_slice_ns;  // key: row
    std::vector<Start> starts;
    std::vector<End> ends;

    void add_slice(std::uint32_t row, std::int64_t ns);
  };
  struct Chunk;

  const MergePlan& plan_;
  std::unique_ptr<ResultPool<Chunk>> pool_;
  Found file_;  // the one that is being read
  std::vector<std::vector<std::uint64_t>> startless_;
};

}  // namespace traceloom
