#include "merge/order/merge_output.h"

#include "base/problems.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <numeric>
#include <queue>
#include <tuple>

namespace traceloom {

PartOutput::PartOutput(const std::string& path, int level)
    : path_(path),
      spool_(path),
      sink_(pack_by_name(spool_.open_sink(), path, level, Framing::none)) {}

PartSize PartOutput::complete() {
  sink_->complete();
  const PackedSink* const packed = sink_->packed();
  if (packed == nullptr) return {spool_.size(), 0, spool_.size()};
  return {spool_.size(), packed->crc32(), packed->text_size()};
}

void PartOutput::copy_to(const FileGap& gap) const {
  if (spool_.size() == 0) return;
  Descriptor file(open(gap.path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  if (file < 0 && errno == ENOENT)
    throw Error(path_,
                "a process of the team does not see its folder; with --mpi all processes need the "
                "same file system");
  if (file < 0) throw system_error(path_, errno);
  std::uint64_t offset = gap.begin;
  spool_.for_each_piece(
      [&](std::string_view piece) { offset = write_at(file, path_, offset, piece); });
  if (!file.close()) throw system_error(path_, errno);
}

std::vector<FileGap> leave_gaps(Sink& output, const std::vector<PartSize>& parts) {
  std::vector<FileGap> gaps;
  for (const PartSize& part : parts) {
    FileGap& gap = gaps.emplace_back();
    if (part.bytes == 0) continue;
    gap = output.leave_gap(part.bytes);
    if (PackedSink* const packed = output.packed())
      packed->count_elsewhere({{}, part.crc32, part.text_size});
  }
  return gaps;
}

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
  if (packed_ != nullptr && !block.text.empty()) block.compressed = packed_->compress(block.text);
}

void OrderWindow::take(EventBlock& block) {
  std::vector<EventBlock*> window;
  for (EventBlock& held : held_) window.push_back(&held);
  window.push_back(&block);
  // Blocks that change are compressed again once, when they leave the window: of a trace of 62 MB
  // whose blocks mix, each time took 0.22 s, and once takes 0.16.
  if (put_in_order(window))
    for (EventBlock* changed : window) changed->compressed.packed.clear();
  held_.push_back(std::move(block));
  if (held_.size() <= kBlocks) {
    block = {};
    if (spares_.empty()) return;
    block = std::move(spares_.back());
    spares_.pop_back();
    return;
  }
  write(held_.front());
  block = std::move(held_.front());
  held_.pop_front();
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

void OrderWindow::write(EventBlock& block) {
  if (block.text.empty()) return;
  if (packed_ == nullptr) return output_.write(block.text);
  if (block.compressed.packed.empty()) compress(block);
  packed_->write_block(block.compressed);
}

void SortedRun::add(const PlacedEvent& event, std::string_view text) {
  char head[sizeof event];
  std::memcpy(head, &event, sizeof event);
  buffer_.append(head, sizeof head);
  buffer_.append(text);
  if (buffer_.size() >= kBufferBytes) flush();
}

void SortedRun::flush() {
  file_->write(buffer_);
  buffer_.clear();
}

bool SortedRun::next() {
  if (!is_reading_) flush();
  is_reading_ = true;
  if (read_ == file_->size() && buffer_at_ == buffer_.size()) return false;
  std::memcpy(&event_, take(sizeof event_).data(), sizeof event_);
  text_ = take(event_.size);
  return true;
}

std::string_view SortedRun::take(std::size_t size) {
  if (buffer_.size() - buffer_at_ < size) {
    buffer_.erase(0, buffer_at_);
    buffer_at_ = 0;
    const std::size_t kept = buffer_.size();
    const std::size_t more = static_cast<std::size_t>(
        std::min<std::uint64_t>(std::max(size, kBufferBytes) - kept, file_->size() - read_));
    buffer_.resize(kept + more);
    file_->read(read_, buffer_.data() + kept, more);
    read_ += more;
  }
  buffer_at_ += size;
  return std::string_view(buffer_).substr(buffer_at_ - size, size);
}

namespace {

// Returns true if `a` comes first in the order of TimeSorter. Ends that bind to the next slice have
// become slices or flows before.
bool is_earlier(const PlacedEvent& a, const PlacedEvent& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.order != b.order) return a.order < b.order;
  if (a.duration_ns != b.duration_ns) return a.duration_ns > b.duration_ns;
  if (a.order != OrderClass::slice) return false;
  return std::tie(a.group, a.source_at) < std::tie(b.group, b.source_at);
}

// Calls use(event, text) for the events of a block in order.
template <class Use>
void for_each_sorted(const EventBlock& block, const Use& use) {
  std::vector<std::uint32_t> order(block.events.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return is_earlier(block.events[a], block.events[b]);
  });
  for (const std::uint32_t i : order) {
    const PlacedEvent& event = block.events[i];
    use(event, block.text.view().substr(event.begin, event.size));
  }
}

// Calls use(event, text) for the events of all runs in order. Among equal events, those of the
// earlier run come first.
template <class Use>
void for_each_merged(std::vector<SortedRun>& runs, const Use& use) {
  const auto is_later = [&](std::size_t a, std::size_t b) {
    if (is_earlier(runs[a].event(), runs[b].event())) return false;
    return is_earlier(runs[b].event(), runs[a].event()) || a > b;
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(is_later)> next(is_later);
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].next()) next.push(i);
  while (!next.empty()) {
    const std::size_t run = next.top();
    next.pop();
    use(runs[run].event(), runs[run].text());
    if (runs[run].next()) next.push(run);
  }
}

}  // namespace

TimeSorter::TimeSorter(Sink& output, std::string path, std::size_t run_bytes)
    : output_(output), path_(std::move(path)), run_bytes_(run_bytes) {}

void TimeSorter::take(EventBlock& block) {
  gathered_.append(block);
  if (gathered_.text.size() >= run_bytes_) write_run(false);
}

// Makes slices of the ends that bind to the next slice and are bound, so that they are sorted with
// theirs, and flows of the others. With `waits`, ends whose slice may still come go to the block
// that is returned.
EventBlock TimeSorter::settle_ends(bool waits) {
  EventBlock waiting;
  for (PlacedEvent* const end : bind_next_ends({&gathered_}, {&gathered_}))
    end->order = OrderClass::slice;
  for (const std::uint32_t number : std::exchange(gathered_.unbound, {})) {
    PlacedEvent& end = gathered_.events[number];
    if (waits && waiting.text.size() < run_bytes_ / kShareOfEnds)
      waiting.place(end,
                    [&] { waiting.text += gathered_.text.view().substr(end.begin, end.size); });
    else
      end.order = OrderClass::flow;
  }
  std::erase_if(gathered_.events,
                [](const PlacedEvent& event) { return event.order == OrderClass::next_end; });
  return waiting;
}

void TimeSorter::write_run(bool is_last) {
  EventBlock waiting = settle_ends(!is_last);
  SortedRun run(path_);
  for_each_sorted(gathered_,
                  [&](const PlacedEvent& event, std::string_view text) { run.add(event, text); });
  gathered_.clear();
  gathered_.append(waiting);
  runs_.push_back(std::move(run));
  if (runs_.size() == kMaxRuns) merge_runs();
}

void TimeSorter::merge_runs() {
  SortedRun merged(path_);
  for_each_merged(
      runs_, [&](const PlacedEvent& event, std::string_view text) { merged.add(event, text); });
  runs_.clear();
  runs_.push_back(std::move(merged));
}

void TimeSorter::finish() {
  const auto write = [this](const PlacedEvent&, std::string_view text) { output_.write(text); };
  if (runs_.empty()) {
    settle_ends(false);
    for_each_sorted(gathered_, write);
  } else {
    write_run(true);
    for_each_merged(runs_, write);
  }
}

}  // namespace traceloom
