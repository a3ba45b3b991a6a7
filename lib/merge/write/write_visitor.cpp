#include "merge/write/write_visitor.h"

#include "base/json_string.h"
#include "base/units.h"
#include "event/event_timing.h"
#include "merge/edits/field_edits.h"
#include "merge/frame/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace traceloom {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Measured on 8 files of 64 MB, with a reader of the output that lets all chunks pile up: 8 to 10
// MiB without any chunk, packed or not, and 2.1 MiB a chunk. A chunk of B and E events alone takes
// 3 MiB, and up to 5.2 MiB if nearly every character of the text is a control character that is
// written as six.
constexpr std::uint64_t kProgramBytes = 12 * kMiB;
// OrderWindow holds four blocks back.
constexpr std::uint64_t kWindowBytes = 8 * kMiB;
// TimeSorter: the texts that it gathers, their places, and the buffers of what it reads back.
constexpr std::uint64_t kSorterBytes =
    2 * TimeSorter::kRunBytes + TimeSorter::kMaxRuns * SortedRun::kBufferBytes;

constexpr std::uint64_t kBytesOfChunk = 4 * kMiB;
// A large event is in the text that is gathered (which grows by doubling) and in what is written;
// the other copies stand for gaps that large events leave.
constexpr std::uint64_t kCopiesOfEvent = 6;
// The halves, and what has been joined of them but is not yet written.
constexpr std::uint64_t kCopiesOfJoined = 2;

constexpr std::uint64_t kLeastJoinBytes = kMiB / 2;
constexpr std::uint64_t kLeastEventBytes = kMiB;
constexpr std::uint64_t kLeastMemory = kProgramBytes + kWindowBytes + kBytesOfChunk +
                                       kCopiesOfJoined * kLeastJoinBytes +
                                       kCopiesOfEvent * kLeastEventBytes;

}  // namespace

MemoryPlan plan_memory(std::optional<std::uint64_t> max_memory, unsigned threads, bool sorts) {
  MemoryPlan plan;
  plan.threads = static_cast<unsigned>(thread_count(threads));
  plan.chunks_in_flight = kChunksPerThread * plan.threads;
  if (!max_memory) return plan;
  const std::uint64_t of_sorter = sorts ? kSorterBytes : 0;
  const std::uint64_t least = kLeastMemory + of_sorter;
  if (*max_memory < least)
    throw UsageError(fmt::format("--max-memory: {} is too little; a merge{} needs {} at least",
                                 format_bytes(*max_memory), sorts ? " with --sort" : "",
                                 format_bytes(least)));
  std::uint64_t rest = *max_memory - kProgramBytes - kWindowBytes - of_sorter;
  // Chunks get memory first, up to half of it: they are what makes a merge fast.
  plan.chunks_in_flight =
      std::clamp<std::uint64_t>(rest / 2 / kBytesOfChunk, 1, plan.chunks_in_flight);
  plan.threads =
      static_cast<unsigned>(std::min<std::uint64_t>(plan.threads, plan.chunks_in_flight));
  rest -= plan.chunks_in_flight * kBytesOfChunk;
  const std::uint64_t to_share = rest - kCopiesOfEvent * kLeastEventBytes;
  plan.max_join_bytes = std::clamp<std::uint64_t>(to_share / 4 / kCopiesOfJoined, kLeastJoinBytes,
                                                  plan.max_join_bytes);
  rest -= plan.max_join_bytes * kCopiesOfJoined;
  plan.max_event_bytes = std::min<std::uint64_t>(rest / kCopiesOfEvent, plan.max_event_bytes);
  return plan;
}

namespace {

std::unique_ptr<BlockOutput> make_block_output(const MergePlan& plan, Sink& output,
                                               const MemoryPlan& memory) {
  if (plan.sorts_by_time) return std::make_unique<TimeSorter>(output, memory.beside);
  return std::make_unique<OrderWindow>(output);
}

}  // namespace

struct WriteVisitor::Chunk : ChunkResult {
  WriteState state;
  bool reset() override {
    state.reset();
    return true;
  }
};

WriteVisitor::WriteVisitor(const MergePlan& plan, Sink& output, const MemoryPlan& memory)
    : plan_(plan),
      output_(output),
      blocks_(make_block_output(plan, output, memory)),
      is_part_(plan.only_rank.has_value()),
      max_join_bytes_(memory.max_join_bytes),
      max_open_begins_(memory.max_open_begins),
      written_(plan.files.size()) {
  for (std::size_t file = 0; file < plan.files.size(); ++file) writers_.emplace_back(plan, file);
}

WriteVisitor::~WriteVisitor() = default;

void WriteVisitor::write_head() {
  write_head_of_trace(plan_, [this](std::string_view piece) { output_.write(piece); });
  std::unordered_set<std::string> written;
  TypeNames type_names;
  for (std::size_t file = 0; file < plan_.files.size(); ++file) {
    if (plan_.filter && !plan_.filter->wants_file(file)) continue;
    // Looking at all metadata for each rank of an archive took 9 s for 1,000 ranks.
    if (plan_.only_rank &&
        !std::ranges::binary_search(plan_.tracks.ranks_of(file), *plan_.only_rank))
      continue;
    WriteState state;
    for (const KeptMetadata& event : plan_.surveys[file].metadata) {
      state.block.clear();
      writers_[file].write_metadata(event, state);
      if (state.block.text.empty()) continue;  // it belongs to a rank that the plan does not write
      if ((event.counts_each_time || written.emplace(state.block.text).second) &&
          !type_names.take(state.block.text))
        output_.write(state.block.text);
    }
    written_[file].problems.add(state.problems);
  }
  output_.write(type_names.events());
}

std::unique_ptr<ChunkResult> WriteVisitor::make_result() {
  return std::make_unique<Chunk>();
}

void WriteVisitor::visit(ChunkResult& result, std::size_t file, const Event& event) {
  if (is_part_ && writers_[file].is_left_out(event, static_cast<Chunk&>(result).state)) return;
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
  WriteState& state = static_cast<Chunk&>(result).state;
  if (!state.unplanned) blocks_->prepare(state.block);
}

void WriteVisitor::take(ChunkResult& result, std::size_t file) {
  Chunk& chunk = static_cast<Chunk&>(result);
  written_[file].problems.add(chunk.state.problems);
  if (unplanned_) return;
  if (chunk.state.unplanned) {
    unplanned_ = Unplanned{file, *chunk.state.unplanned};
    stopped_ = true;
    return;
  }
  written_[file].events += chunk.state.events;
  last_ends_.add(chunk.state.last_ends);
  blocks_->take(chunk.state.block);
  std::ranges::move(chunk.state.unended, std::back_inserter(unended_));
  if (chunk.state.halves.empty()) return;
  if (!slices_) {
    slices_ = std::make_unique<SliceJoiner>(
        plan_.filter ? plan_.filter->filter().min_duration_ns : 0, max_join_bytes_);
    if (plan_.files[file].matches_names) slices_->match_names();
  }
  slices_->take(chunk.state.halves);
  // A survey refuses the file; until that is known here, it must not fill the memory.
  if (slices_->open() > max_open_begins_) {
    unplanned_ = Unplanned{file, 0, true};
    stopped_ = true;
    slices_.reset();
    return;
  }
  take_joined(file);
}

// Takes what the joiner has joined, if anything.
void WriteVisitor::take_joined(std::size_t file) {
  EventBlock& joined = slices_->out();
  if (joined.events.empty()) return;
  written_[file].events += joined.events.size();
  blocks_->prepare(joined);
  blocks_->take(joined);
  joined.clear();
}

// Ends async slices that nothing ends: they last as long as their rank in this file. All slices of
// a rank end together, inner ones first.
void WriteVisitor::end_unended() {
  std::ranges::sort(unended_, [](const UnendedAsync& a, const UnendedAsync& b) {
    return std::tie(a.rank, b.start_ns, b.offset) < std::tie(b.rank, a.start_ns, a.offset);
  });
  EventBlock block;
  for (auto begin = unended_.begin(); begin != unended_.end();) {
    const auto end = std::find_if(begin, unended_.end(),
                                  [&](const UnendedAsync& one) { return one.rank != begin->rank; });
    const std::int64_t end_ns = last_ends_.of(begin->rank, begin->start_ns);
    const auto append_text = [&] {
      for (; begin != end; ++begin) block.text += begin->halves.unended(begin->name, end_ns);
    };
    if (plan_.sorts_by_time)
      block.place({.start_ns = end_ns, .source_at = begin->offset}, append_text);
    else
      append_text();
  }
  blocks_->prepare(block);
  blocks_->take(block);
  unended_.clear();
}

void WriteVisitor::end_file(std::size_t file, const FileEnd& end) {
  written_[file].text_bytes = end.text_bytes;
  if (slices_ && !unplanned_) {
    slices_->finish(last_ends_);
    take_joined(file);
    written_[file].problems.add(slices_->problems());
  }
  if (!unended_.empty() && !unplanned_) end_unended();
  blocks_->end_file();
  slices_.reset();
  last_ends_.clear();
}

OwnClocks WriteVisitor::times_of(std::int64_t rank) const {
  OwnClocks times;
  for (std::size_t i = 0; i < plan_.files.size(); ++i) {
    const FileSurvey& survey = plan_.surveys[i];
    if (survey.starts.empty() || std::ranges::count(plan_.tracks.ranks_of(i), rank) == 0) continue;
    const CommonTimes events = common_times(survey.starts, plan_.files[i].times);
    times.add(plan_.files[i].times, survey.evidence.base_ns.value_or(0), events.first_ns,
              events.last_ns);
  }
  return times;
}

std::optional<std::uint64_t> WriteVisitor::add_row(const AddedRow& row) {
  const std::vector<OutputProcess>& processes = plan_.tracks.processes();
  const auto process = std::ranges::find_if(
      processes, [&](const OutputProcess& one) { return one.rank == row.rank && one.is_main; });
  if (process == processes.end()) return std::nullopt;
  if (!plan_.writes(row.rank) || row.events.empty()) return 0;
  // Below the numbers that folded threads get (track_plan.h), and above those of Linux.
  constexpr std::uint32_t kFirstTid = 9'999'000;
  const std::uint32_t tid = kFirstTid + added_rows_;
  // Numbers of tracks count from 0 up.
  const std::uint32_t group = std::numeric_limits<std::uint32_t>::max() - added_rows_++;
  const OwnClocks own = times_of(row.rank);
  if (row.is_own_time && !own.are_near(row.events.front().start_ns, row.events.back().start_ns))
    return std::nullopt;
  // A merge among the inputs may have it already.
  const auto has_row =
      [key = counter_key(row.rank, row.events.front().name)](const FileSurvey& survey) {
        return survey.counters.find(key).has_value();
      };
  if (row.is_own_time && std::ranges::any_of(plan_.surveys, has_row)) return 0;
  const auto number = static_cast<std::size_t>(process - processes.begin());
  std::uint64_t written = 0;
  EventBlock block;
  std::string text;
  const auto place = [&](const PlacedEvent& event) {
    block.place(event, [&] { block.text += text; });
  };
  const std::string where = fmt::format(R"("pid":{},"tid":{})", process->pid, tid);
  if (!row.name.empty())
    text = fmt::format(",\n{{\"name\":\"thread_name\",\"ph\":\"M\",{},\"args\":{{\"name\":{}}}}}",
                       where, json_string(row.name));
  output_.write(text);
  for (const AddedEvent& event : row.events) {
    const std::int64_t start_ns =
        row.is_own_time ? own.at(event.start_ns).value_or(-1) : event.start_ns - plan_.origin_ns;
    if (start_ns < 0 || (plan_.filter && !plan_.filter->is_in_time(number, start_ns))) continue;
    ++written;
    text =
        fmt::format(R"(,{}{{"name":{},"cat":{},"ph":"{}",{},"ts":)", '\n', json_string(event.name),
                    json_string(row.category), event.duration_ns ? 'X' : 'C', where);
    append_microseconds(text, start_ns);
    if (event.duration_ns) append_microseconds(text += R"(,"dur":)", *event.duration_ns);
    text += fmt::format(R"(,"args":{}}})", event.args.empty() ? "{}" : event.args);
    place({.start_ns = start_ns,
           .duration_ns = event.duration_ns.value_or(0),
           .group = group,
           .order = event.duration_ns ? OrderClass::slice : OrderClass::counter});
  }
  blocks_->prepare(block);
  blocks_->take(block);
  blocks_->end_file();
  return written;
}

void WriteVisitor::finish() {
  blocks_->finish();
}

WrittenFiles WriteVisitor::take_part() {
  blocks_->finish();
  return std::move(written_);
}

void WriteVisitor::add_part(const WrittenFiles& part) {
  for (std::size_t file = 0; file < part.size(); ++file) written_[file].add(part[file]);
}

}  // namespace traceloom
