#include "merge/order/order_window.h"

#include "merge/order/block_order.h"

#include <utility>
#include <vector>

namespace traceloom {
namespace {

// Larger than what a chunk grows to, and smaller than one large event.
constexpr std::size_t kMostSpareBytes = std::size_t{4} << 20;

}  // namespace

void OrderWindow::prepare(EventBlock& block) const {
  put_in_order(block);
  compress(block);
}

// Skips blocks without text: a filter may drop all of a chunk, and B and E events leave nothing in
// their chunk.
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
  if (held_.size() <= kBlocks) {
    block = take_spare();
    return;
  }
  write(held_.front());
  block = std::move(held_.front());
  held_.pop_front();
}

EventBlock OrderWindow::take_spare() {
  if (spares_.empty()) return {};
  EventBlock spare = std::move(spares_.back());
  spares_.pop_back();
  return spare;
}

// Keeps the memory of the blocks for the next file, which would otherwise grow its block from
// nothing: each of 2,000 files of 0.25 MB has one.
void OrderWindow::end_file() {
  for (EventBlock& block : held_) {
    write(block);
    block.clear();
    if (block.text.capacity() <= kMostSpareBytes && spares_.size() < kBlocks)
      spares_.push_back(std::move(block));
  }
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
