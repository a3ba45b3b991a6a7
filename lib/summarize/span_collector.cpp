#include "summarize/span_collector.h"

#include "event/event_timing.h"
#include "identity/capture/capture.h"
#include "summarize/summary_rows.h"
#include "team/wire.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace traceloom {

void gather_readings(Team& team, const FileBlock& own, std::vector<FileReading>& files) {
  if (team.is_alone()) return;
  WireWriter writer;
  writer(own);
  for (std::size_t i = own.begin; i < own.end; ++i) writer(files[i]);
  team.gather(writer.take(), [&](std::size_t, const std::string& bytes) {
    WireReader reader(bytes);
    FileBlock block;
    reader(block);
    for (std::size_t i = block.begin; i < block.end; ++i) reader(files[i]);
  });
}

namespace {

struct ClockChunk : ChunkResult {
  ReadingPart reading;
};

class ClockReader : public FileVisitor {
 public:
  ClockReader(std::size_t files, bool keep_going) : files_(files), keep_going_(keep_going) {}

  std::vector<FileReading>& files() { return files_; }

  std::unique_ptr<ChunkResult> make_result() override { return std::make_unique<ClockChunk>(); }

  void visit(ChunkResult& result, std::size_t, const Event& event) override {
    static_cast<ClockChunk&>(result).reading.add(event, time_event(event, result.problems));
  }

  void take(ChunkResult& result, std::size_t file) override {
    files_[file].append(static_cast<ClockChunk&>(result).reading);
  }

  void end_file(std::size_t file, const FileEnd& end) override { files_[file].end(end); }

  void fail_file(std::size_t file, const Error& error) override {
    if (!keep_going_) stop_at(error, files_.size());
    files_[file].error = error.what();
  }

 private:
  std::vector<FileReading> files_;
  bool keep_going_;
};

// Returns one window an input, once all files have been read.
std::vector<FileWindow> windows_of(const std::vector<Input>& inputs,
                                   std::vector<FileReading>& files,
                                   const TimeSelection& selection) {
  const RunInputs capture = settle(inputs, readings_of(files));
  std::vector<FileWindow> windows(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!files[i].counts()) continue;
    windows[i].times = capture.clocks.clocks[i].times.since(capture.clocks.origin_ns);
    windows[i].window = selection.window();
  }
  return windows;
}

}  // namespace

std::vector<FileWindow> find_windows(const std::vector<Input>& inputs,
                                     const TimeSelection& selection, bool keep_going,
                                     const ScanOptions& options, Team& team) {
  ClockReader reader(inputs.size(), keep_going);
  team.agree([&] { scan_inputs(inputs, reader, options); });
  gather_readings(team, options.files, reader.files());
  std::vector<FileWindow> windows;
  if (team.is_first()) windows = windows_of(inputs, reader.files(), selection);
  return broadcast(team, std::move(windows));
}

// The object that scan_files() holds while it scans a chunk. Its Chunk becomes free for reuse
// however the lease ends: the chunk was taken, had to be scanned again, or belonged to a file that
// failed.
struct SpanCollector::Lease : ChunkResult {
  Lease(SpanCollector& owner, Chunk& leased) : collector(owner), chunk(leased) {}
  ~Lease() override {
    const std::lock_guard lock(collector.mutex_);
    collector.free_.push_back(&chunk);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  SpanCollector& collector;
  Chunk& chunk;
};

// Reads the pairs of one file into a table, as spans.
class SpanCollector::PairReader {
 public:
  PairReader(SpanCollector& collector, std::size_t file)
      : collector_(collector),
        file_(file),
        pairer_({.pair = [this](const BeginEndPair& pair) { add(pair); },
                 .stray_end = {},
                 .open_begin = {}}) {}

  void take(const BeginEndBatch& batch) {
    if (!collector_.files_[file_].evidence.rank_marks.empty()) pairer_.match_names();
    pairer_.take(batch);
    collector_.pair_table_.commit();
  }
  ProblemCounts finish() {
    pairer_.finish();
    collector_.pair_table_.commit();
    return pairer_.problems();
  }

 private:
  void add(const BeginEndPair& pair) {
    if (pair.is_cut || !collector_.is_in_window(file_, pair.start_ns)) return;
    SpanTable& table = collector_.pair_table_;
    const std::uint32_t known = labels_.intern(NumberPair(pair.name, pair.category).bytes());
    if (known == table_labels_.size())
      table_labels_.push_back(table.label(text(pair.name, kNoName), text(pair.category, {})));
    table.add(table_labels_[known], place_of(pair), pair.duration_ns());
  }

  std::uint32_t place_of(const BeginEndPair& pair) {
    SpanTable& table = collector_.pair_table_;
    const auto place = [&](std::uint32_t track) {
      return table.place(collector_.source_of(file_, pair.start_ns), pairer_.pid(track),
                         pairer_.tid(track));
    };
    if (collector_.parts_stretches_) return place(pair.track);
    while (table_places_.size() <= pair.track)
      table_places_.push_back(place(static_cast<std::uint32_t>(table_places_.size())));
    return table_places_[pair.track];
  }

  std::string_view text(std::uint32_t number, std::string_view otherwise) const {
    return number == kNoText ? otherwise : pairer_.text(number);
  }

  SpanCollector& collector_;
  std::size_t file_;
  StringTable labels_;  // (name, category) as numbers of the pairer
  std::vector<std::uint32_t> table_labels_;
  std::vector<std::uint32_t> table_places_;  // places in the table, by track
  BeginEndPairer pairer_;
};

SpanCollector::SpanCollector(std::size_t files, SpanPlaces places, bool parts_stretches,
                             const LabelFilter& filter, std::vector<FileWindow> windows,
                             bool keep_going)
    : places_(places),
      parts_stretches_(parts_stretches),
      filter_(filter),
      windows_(std::move(windows)),
      keep_going_(keep_going),
      files_(files),
      row_names_(files),
      pair_table_(filter, places, files) {}

SpanCollector::~SpanCollector() = default;

bool SpanCollector::counts(const SpanGroup& group) const {
  if (places_ == SpanPlaces::none && group.file < files_.size()) return true;
  const FileReading& file = files_[file_of(group)];
  if (!file.counts()) return false;
  return group.file < files_.size() ||
         file.starts.fits(StartTimes::time_in(group.file / files_.size() - 1));
}

bool SpanCollector::has_device_rows() const {
  return std::any_of(row_names_.begin(), row_names_.end(),
                     [](const RowNames& names) { return names.has_device_rows(); });
}

EventSide SpanCollector::side_of(const SpanGroup& group) const {
  if (!group.category.empty()) return event_side(group.category);
  const bool is_device =
      row_names_[file_of(group)].is_device_row(std::string(group.pid), std::string(group.tid));
  return is_device ? EventSide::device : EventSide::host;
}

// Keeps the spans of a chunk that was taken and forgets those of one that was not. This happens
// when the chunk is used again, because that is in a parallel stage, and taking is not.
void SpanCollector::Chunk::settle() {
  if (taken) {
    spans.commit();
  } else {
    spans.discard();
  }
  begin_end.clear();
  reading.clear();
  row_names.clear();
  taken = false;
}

void SpanCollector::finish() {
  for (const std::unique_ptr<Chunk>& chunk : chunks_) chunk->settle();
  pairs_.reset();
}

std::unique_ptr<ChunkResult> SpanCollector::make_result() {
  Chunk* chunk = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      chunks_.push_back(std::make_unique<Chunk>(filter_, places_, files_.size()));
      chunk = chunks_.back().get();
    } else {
      chunk = free_.back();
      free_.pop_back();
    }
  }
  chunk->settle();
  return std::make_unique<Lease>(*this, *chunk);
}

void SpanCollector::visit(ChunkResult& result, std::size_t file, const Event& event) {
  Chunk& chunk = static_cast<Lease&>(result).chunk;
  const EventTiming timing = time_event(event, result.problems);
  chunk.reading.add(event, timing);
  if (event.phase == 'M') {
    chunk.row_names.add(event);
  } else if (event.phase == 'X') {
    if (!timing.usable) return;
    const std::optional<std::int64_t> duration_ns = known_duration(event, timing, result.problems);
    if (duration_ns && is_in_window(file, timing.start_ns))
      chunk.spans.add(event, source_of(file, timing.start_ns), *duration_ns);
  } else if (timing.usable && (event.phase == 'B' || event.phase == 'E')) {
    chunk.begin_end.add(event, timing.start_ns);
  }
}

void SpanCollector::take(ChunkResult& result, std::size_t file) {
  Chunk& chunk = static_cast<Lease&>(result).chunk;
  chunk.taken = true;
  count_names(chunk.spans);
  files_[file].problems.add(result.problems);
  row_names_[file].append(chunk.row_names);
  files_[file].append(chunk.reading);
  if (chunk.begin_end.empty()) return;
  if (!pairs_) pairs_ = std::make_unique<PairReader>(*this, file);
  pairs_->take(chunk.begin_end);
  count_names(pair_table_);
}

// The sample covers the names of all chunks. Because a sample can be off, only a count 50 % above
// the limit is refused here, without needing the memory for all names.
void SpanCollector::count_names(SpanTable& table) {
  table.take_name_sample([this](std::string_view name) { name_sample_.intern(name); });
  if (name_sample_.size() * SpanTable::kNameSample / 3 * 2 > most_names_)
    throw_too_many_rows(most_names_);
}

void SpanCollector::end_file(std::size_t file, const FileEnd& end) {
  if (pairs_) files_[file].problems.add(pairs_->finish());
  pairs_.reset();
  if (!row_names_[file].has_device_rows()) row_names_[file].clear();
  files_[file].end(end);
}

void SpanCollector::fail_file(std::size_t file, const Error& error) {
  if (!keep_going_) stop_at(error, files_.size());
  pairs_.reset();
  if (files_[file].error.empty()) files_[file].error = error.what();
}

}  // namespace traceloom
