// TimeSorter: writes the events of all files in the order of their time, however many there are.
//
//   TimeSorter sorter(output);
//   sorter.take(block);  ...  sorter.finish();
#pragma once

#include "merge/order/block_output.h"
#include "merge/order/sorted_run.h"

#include <cstddef>
#include <vector>

namespace traceloom {

// The order is that of is_earlier(). Memory: twice kRunBytes. Further events are written to
// nameless files next to the output and merged from there, so that twice the output's size is
// needed on that disk.
class TimeSorter : public BlockOutput {
 public:
  static constexpr std::size_t kRunBytes = std::size_t{24} << 20;
  // The most files at a time: each is read through a buffer of SortedRun::kBufferBytes.
  static constexpr std::size_t kMaxRuns = 256;

  explicit TimeSorter(MergeOutput& output, std::size_t run_bytes = kRunBytes);

  void prepare(EventBlock&) const override {}
  void take(EventBlock& block) override;
  void end_file() override {}
  void finish() override;

 private:
  void write_run();
  void merge_runs();

  MergeOutput& output_;
  std::size_t run_bytes_;
  EventBlock gathered_;
  std::vector<SortedRun> runs_;
};

}  // namespace traceloom
