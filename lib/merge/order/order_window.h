// OrderWindow: writes blocks in the order of their files. Within a window of the last blocks it
// first puts events into the order that viewers need (block_order.h).
//
//   OrderWindow window(output);
//   window.prepare(block);  window.take(block);  window.end_file();
#pragma once

#include "merge/order/block_output.h"

#include <cstddef>
#include <deque>
#include <vector>

namespace traceloom {

// Events are sorted within 2 MiB of a file's text, or of what its begin and end events become in
// that text. That is enough, because a parent stands directly before its first child or after its
// last one. Memory: that much text.
class OrderWindow : public BlockOutput {
 public:
  explicit OrderWindow(MergeOutput& output) : output_(output) {}

  // Also compresses the block if the output is compressed.
  void prepare(EventBlock& block) const override;
  void take(EventBlock& block) override;
  // Writes the blocks held back: events of different files do not change places.
  void end_file() override;
  void finish() override {}

 private:
  // Chunks of the file and blocks of joined slices take turns.
  static constexpr std::size_t kBlocks = 3;
  void compress(EventBlock& block) const;
  void write(const EventBlock& block);
  EventBlock take_spare();

  MergeOutput& output_;
  std::deque<EventBlock> held_;
  std::vector<EventBlock> spares_;  // from files that have ended, to use their memory again
};

}  // namespace traceloom
