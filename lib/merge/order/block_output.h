// BlockOutput: brings events into the order they have in the merged trace, and writes them there.
//
//   std::unique_ptr<BlockOutput> blocks = std::make_unique<OrderWindow>(output);
//   blocks->prepare(block);            // in any thread
//   blocks->take(block);               // in the order of the files and of their text
//   blocks->end_file();
//   blocks->finish();
#pragma once

#include "merge/order/event_block.h"
#include "merge/order/merge_output.h"

namespace traceloom {

class BlockOutput {
 public:
  virtual ~BlockOutput() = default;
  // Does what a block needs by itself. Thread-safe.
  virtual void prepare(EventBlock& block) const = 0;
  // Leaves some block in `block`, to be cleared and used again.
  virtual void take(EventBlock& block) = 0;
  virtual void end_file() = 0;
  // Must be called after all files have been taken.
  virtual void finish() = 0;
};

}  // namespace traceloom
