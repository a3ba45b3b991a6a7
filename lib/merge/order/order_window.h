// OrderWindow: writes blocks in the order of their files, after mending what viewers need in
// another order (block_order.h) within a window of the last blocks.
//
//   OrderWindow window(output);
//   window.prepare(block);  window.take(block);  window.end_file();
#pragma once

#include "merge/order/block_output.h"

#include <cstddef>
#include <deque>
#include <vector>

namespace traceloom {

// What has to change places is found within 2 MiB of a file's text, or what its begin and end
// events become in that text: a parent stands directly before its first child, or behind its last
// one. Memory: that much text.
class OrderWindow : public BlockOutput {
 public:
  explicit OrderWindow(MergeOutput& output) : output_(output) {}

  // Compresses it, too, if the output is compressed.
  void prepare(EventBlock& block) const override;
  void take(EventBlock& block) override;
  // Writes what has been held back: events of different files do not change places.
  void end_file() override;
  void finish() override {}

 private:
  // Chunks of the file and what was joined in them take turns.
  static constexpr std::size_t kBlocks = 3;
  void compress(EventBlock& block) const;
  void write(const EventBlock& block);
  EventBlock take_spare();

  MergeOutput& output_;
  std::deque<EventBlock> held_;
  std::vector<EventBlock> spares_;  // of files that have ended; their memory is used again
};

}  // namespace traceloom
