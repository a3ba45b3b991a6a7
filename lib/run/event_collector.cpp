#include "run/event_collector.h"

#include "run/row_spans.h"
#include "select/label_filter.h"

#include <limits>
#include <utility>

namespace traceloom {

// Turns the pairs of B and E of one file into rows of its columns.
class EventCollector::PairReader {
 public:
  PairReader(EventCollector& collector, std::size_t file)
      : collector_(collector),
        file_(file),
        pairer_({.pair = [this](const BeginEndPair& pair) { add(pair); },
                 .stray_end = {},
                 .open_begin = {}}) {}

  void take(const ChunkEvents& events) {
    if (!collector_.files_[file_].evidence.rank_marks.empty()) pairer_.match_names();
    payloads_ = events.payloads();
    for (std::uint32_t& payload : payloads_)
      if (payload != kNoPayload) payload = keep_note(events.notes()[payload]);
    pairer_.take(events.begin_end(), payloads_);
    if (columns_.hosts.size() + columns_.marks.size() > kRowsOfAPart) move_part();
  }

  void finish() {
    pairer_.finish();
    collector_.files_[file_].problems.add(pairer_.problems());
    move_part();
  }

 private:
  // Parts are small, so that a growing part never holds its old and its new memory at the same
  // time.
  static constexpr std::size_t kRowsOfAPart = std::size_t{1} << 14;

  void move_part() {
    columns_.shrink_to_fit();
    if (!columns_.empty()) collector_.files_[file_].parts.push_back(std::move(columns_));
    columns_ = {};
  }

  // Returns the place of the note. Places are reused, because only open begins need their notes.
  std::uint32_t keep_note(const BatchNote& note) {
    if (free_notes_.empty()) {
      notes_.push_back(note);
      return static_cast<std::uint32_t>(notes_.size() - 1);
    }
    const std::uint32_t place = free_notes_.back();
    free_notes_.pop_back();
    notes_[place] = note;
    return place;
  }

  BatchNote take_note(std::uint32_t place) {
    if (place == kNoPayload) return {};
    free_notes_.push_back(place);
    return notes_[place];
  }

  std::uint32_t label_of(const BeginEndPair& pair) {
    const std::uint32_t known = pairs_known_.intern(NumberPair(pair.name, pair.category).bytes());
    if (known == labels_.size())
      labels_.push_back(collector_.labels_.intern(
          pair.name == kNoText ? kNoName : pairer_.text(pair.name),
          pair.category == kNoText ? std::string_view{} : pairer_.text(pair.category)));
    return labels_[known];
  }

  std::uint32_t track_of(std::uint32_t track) {
    while (tracks_.size() <= track) {
      const auto next = static_cast<std::uint32_t>(tracks_.size());
      tracks_.push_back(collector_.tracks_.intern(file_, pairer_.pid(next), pairer_.tid(next)));
    }
    return tracks_[track];
  }

  void add(const BeginEndPair& pair) {
    const BatchNote note = take_note(pair.begin_payload);
    if (pair.is_cut) return;
    const HostSpan span{pair.start_ns, pair.end_ns, label_of(pair), track_of(pair.track)};
    const EventClass& kind = collector_.labels_.kind(span.label);
    if (kind.place == EventPlace::nowhere) return;
    if (kind.place == EventPlace::device)
      return columns_.devices.push_back({span, kNoId, kNoId, -1, -1, kNoDetail});
    if (kind.place == EventPlace::call) return columns_.calls.push_back({span, kNoId, kNoId});
    if (kind.is_operator && collector_.wanted_.has_operators())
      columns_.operators.push_back({span, kNoId, kNoDetail});
    else if (kind.role != Role::other)
      columns_.hosts.push_back(span);
    else if (collector_.wanted_.frames ||
             (collector_.wanted_.python && kind.mark == SpanMark::none))
      columns_.frames.push_back(span);
    if (collector_.wanted_.python && kind.is_module)
      columns_.marks.push_back({span, kNoId, kNoEpoch, SpanMark::module, false});
    if (kind.mark == SpanMark::none) return;
    const std::int64_t step = kind.mark == SpanMark::step ? kind.step : note.batch;
    const bool fits = note.epoch >= 0 && note.epoch <= std::numeric_limits<std::int32_t>::max();
    const std::int32_t epoch = fits ? static_cast<std::int32_t>(note.epoch) : kNoEpoch;
    columns_.marks.push_back({span, step, epoch, kind.mark, false});
  }

  EventCollector& collector_;
  std::size_t file_;
  EventColumns columns_;
  std::vector<BatchNote> notes_;           // notes of the open begins
  std::vector<std::uint32_t> free_notes_;  // free places in notes_
  std::vector<std::uint32_t> payloads_;
  StringTable pairs_known_;  // (name, category) as numbers of the pairer
  std::vector<std::uint32_t> labels_;
  std::vector<std::uint32_t> tracks_;
  BeginEndPairer pairer_;
};

EventCollector::EventCollector(std::size_t files, bool keep_going, const WantedColumns& wanted)
    : keep_going_(keep_going), wanted_(wanted), files_(files) {}

std::unique_ptr<ChunkResult> EventCollector::make_result() {
  std::unique_ptr<ChunkResult> chunk = pool_.take();
  static_cast<Chunk&>(*chunk).events.want(wanted_);
  return chunk;
}

EventCollector::~EventCollector() = default;

void EventCollector::visit(ChunkResult& result, std::size_t, const Event& event) {
  Chunk& chunk = static_cast<Chunk&>(result);
  EventTiming timing = time_event(event, chunk.problems);
  if (event.phase == 'X' && timing.usable)
    timing.duration_ns = known_duration(event, timing, chunk.problems).value_or(0);
  chunk.events.add(event, timing);
  if (wanted_.arrows && timing.usable && is_flow_phase(event.phase))
    chunk.flow_ends.add(event, timing.start_ns);
}

void EventCollector::take(ChunkResult& result, std::size_t file) {
  Chunk& chunk = static_cast<Chunk&>(result);
  CollectedEvents& collected = files_[file];
  collected.problems.add(chunk.problems);
  for (const FlowEnd& end : chunk.flow_ends.all()) arrows_.add(end);
  collected.evidence.append(chunk.events.evidence());
  collected.starts.add(chunk.events.starts());
  collected.row_names.append(chunk.events.row_names());
  for (std::size_t i = 0; i < collected.phases.size(); ++i)
    collected.phases[i] += chunk.events.phases()[i];
  EventColumns part;
  chunk.events.move_to({labels_, tracks_, details_}, file, part);
  part.shrink_to_fit();
  if (!part.empty()) collected.parts.push_back(std::move(part));
  if (chunk.events.begin_end().empty()) return;
  if (!pairs_) pairs_ = std::make_unique<PairReader>(*this, file);
  pairs_->take(chunk.events);
}

void EventCollector::end_file(std::size_t file, const FileEnd& end) {
  if (pairs_) {
    pairs_->finish();
    pairs_.reset();
  }
  arrows_.finish(files_[file].problems);
  place_row_spans(files_[file].parts, files_[file].row_names,
                  {labels_, tracks_, details_, wanted_.frames});
  name_devices_by_rows(files_[file].parts, files_[file].row_names, tracks_);
  files_[file].row_names.clear();
  files_[file].end(end);
}

void EventCollector::fail_file(std::size_t file, const Error& error) {
  if (!keep_going_) stop_at(error, files_.size());
  pairs_.reset();
  arrows_.finish(files_[file].problems);
  files_[file] = {};
  files_[file].error = error.what();
}

}  // namespace traceloom
