#include "merge/write_visitor.h"

#include "merge/frame.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

namespace traceloom {

struct WriteVisitor::Chunk : ChunkResult {
  WriteState state;
  CompressedBlock block;
};

WriteVisitor::WriteVisitor(const MergePlan& plan, MergeOutput& output)
    : plan_(plan),
      output_(output),
      problems_(plan.files.size()),
      events_(plan.files.size()),
      text_bytes_(plan.files.size()) {
  for (std::size_t file = 0; file < plan.files.size(); ++file) writers_.emplace_back(plan, file);
}

void WriteVisitor::write_head(const std::vector<FileSurvey>& surveys) {
  output_.write(head_of_trace(plan_));
  std::unordered_set<std::string> written;
  for (std::size_t file = 0; file < surveys.size(); ++file) {
    if (plan_.filter && !plan_.filter->wants_file(file)) continue;
    WriteState state;
    for (const KeptMetadata& event : surveys[file].metadata) {
      state.out.clear();
      writers_[file].write_metadata(event, state);
      if (written.insert(state.out).second) output_.write(state.out);
    }
    problems_[file].add(state.problems);
  }
}

std::unique_ptr<ChunkResult> WriteVisitor::make_result() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return std::make_unique<Chunk>();
  std::unique_ptr<ChunkResult> chunk = std::move(free_.back());
  free_.pop_back();
  return chunk;
}

void WriteVisitor::recycle(std::unique_ptr<ChunkResult> result) {
  static_cast<Chunk&>(*result).state.reset();
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(result));
}

void WriteVisitor::visit(ChunkResult& result, std::size_t file, const Event& event) {
  write(result, file, event, time(result, event));
}

EventTiming WriteVisitor::time(ChunkResult& result, const Event& event) const {
  return time_event(event, static_cast<Chunk&>(result).state.problems);
}

void WriteVisitor::write(ChunkResult& result, std::size_t file, const Event& event,
                         const EventTiming& timing) const {
  WriteState& state = static_cast<Chunk&>(result).state;
  if (!state.unplanned && !stopped_.load(std::memory_order_relaxed))
    writers_[file].write(event, timing, state);
}

void WriteVisitor::finish_chunk(ChunkResult& result) {
  Chunk& chunk = static_cast<Chunk&>(result);
  if (output_.is_gzip() && !chunk.state.unplanned && !chunk.state.out.empty())
    chunk.block = compress_block(chunk.state.out, output_.gzip_level());
}

void WriteVisitor::take(ChunkResult& result, std::size_t file) {
  Chunk& chunk = static_cast<Chunk&>(result);
  problems_[file].add(chunk.state.problems);
  if (unplanned_) return;
  if (chunk.state.unplanned) {
    unplanned_ = Unplanned{file, *chunk.state.unplanned};
    stopped_ = true;
    return;
  }
  // Not even an empty block where a filter drops all of a chunk, or its file.
  if (!chunk.state.out.empty()) {
    if (output_.is_gzip())
      output_.write_block(chunk.block);
    else
      output_.write(chunk.state.out);
  }
  events_[file] += chunk.state.events;
  last_ns_ = std::max(last_ns_, chunk.state.last_ns);
  if (chunk.state.halves.empty()) return;
  if (!slices_) slices_ = std::make_unique<SliceJoiner>(least_slice_ns());
  slices_->take(chunk.state.halves);
  write_joined(file);
}

std::int64_t WriteVisitor::least_slice_ns() const {
  return plan_.filter ? plan_.filter->filter().min_duration_ns : 0;
}

// What the joiner has to give, if anything.
void WriteVisitor::write_joined(std::size_t file) {
  if (slices_->out().empty()) return;
  if (output_.is_gzip())
    output_.write_block(compress_block(slices_->out(), output_.gzip_level()));
  else
    output_.write(slices_->out());
  events_[file] += slices_->events();
  slices_->clear_out();
}

void WriteVisitor::end_file(std::size_t file, const FileEnd& end) {
  text_bytes_[file] = end.text_bytes;
  if (slices_ && !unplanned_) {
    slices_->finish(last_ns_);
    write_joined(file);
    problems_[file].add(slices_->problems());
  }
  slices_.reset();
  last_ns_ = 0;
}

}  // namespace traceloom
