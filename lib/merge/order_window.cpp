#include "merge/order_window.h"

#include "merge/block_order.h"

#include <utility>
#include <vector>

namespace traceloom {

void OrderWindow::prepare(EventBlock& block) const {
  put_in_order(block);
  compress(block);
}

// Not even an empty block where there is nothing to write: a filter may drop all of a chunk, and of
// B and E nothing is left in theirs.
void OrderWindow::compress(EventBlock& block) const {
  if (output_.is_gzip() && !block.text.empty())
    block.compressed = compress_block(block.text, output_.gzip_level());
}

void OrderWindow::take(EventBlock& block) {
  std::vector<EventBlock*> window;
  for (EventBlock& held : held_) window.push_back(&held);
  window.push_back(&block);
  if (put_in_order(window))
    for (EventBlock* changed : window) compress(*changed);
  held_.push_back(std::move(block));
  block = {};
  if (held_.size() <= kBlocks) return;
  write(held_.front());
  block = std::move(held_.front());
  held_.pop_front();
}

void OrderWindow::end_file() {
  for (const EventBlock& block : held_) write(block);
  held_.clear();
}

void OrderWindow::write(const EventBlock& block) {
  if (block.text.empty()) return;
  if (output_.is_gzip())
    output_.write_block(block.compressed);
  else
    output_.write(block.text);
}

}  // namespace traceloom
