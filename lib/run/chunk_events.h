// ChunkEvents: what the events of one chunk say, gathered in parallel with those of other chunks.
//
//   ChunkEvents events;
//   events.add(event, time_event(event, problems));
//   events.move_to(run_texts, file, columns);                  // one chunk at a time
//   events.reset();                                            // for the next chunk
//
// Names are looked at once: the tables of labels stay from chunk to chunk, so reuse it. Nothing is
// allocated for an event of a known name on a known row.
#pragma once

#include "event/event.h"
#include "event/event_timing.h"
#include "identity/evidence/file_evidence.h"
#include "identity/evidence/row_names.h"
#include "identity/evidence/start_times.h"
#include "run/event_columns.h"
#include "scan/begin_end.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

// What the begin event of a span of Composer says: {"epoch": 0, "batch": 3}.
struct BatchNote {
  std::int64_t epoch = kNoId;
  std::int64_t batch = kNoId;
};

// Reads it from args; both kNoId when it is not there.
BatchNote read_batch_note(std::string_view args);

// The tables of a run that all chunks share.
struct RunTexts {
  Labels& labels;
  Tracks& tracks;
  StringTable& details;
};

// Not thread-safe.
class ChunkEvents {
 public:
  // Any event; what is of no use is left out.
  void add(const Event& event, const EventTiming& timing);

  // What to gather beside the columns of every analysis; nothing at first.
  void want(const WantedColumns& wanted) { wanted_ = wanted; }

  // Appends the spans of X events to `columns`, with the texts of the run.
  void move_to(const RunTexts& texts, std::size_t file, EventColumns& columns);

  const BeginEndBatch& begin_end() const { return begin_end_; }
  // One a record of begin_end(): an index of notes(), or kNoPayload.
  const std::vector<std::uint32_t>& payloads() const { return payloads_; }
  const std::vector<BatchNote>& notes() const { return notes_; }
  const FileEvidence& evidence() const { return evidence_; }
  const StartTimes& starts() const { return starts_; }
  const RowNames& row_names() const { return row_names_; }
  const PhaseCounts& phases() const { return phases_; }

  // Forgets the events.
  void reset();

 private:
  struct Label {
    std::string name;
    std::string category;
    EventClass kind;
    // What is_told_by_row() says of events that have a category, or have none.
    bool with_category_by_row = false;
    bool without_category_by_row = false;
    std::uint32_t in_run = kUnknown;
  };
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

  std::uint32_t label_of(const Event& event);
  std::uint32_t track_of(const Event& event);
  void add_span(const Event& event, const EventTiming& timing);
  void add_device(const Event& event, const HostSpan& span);
  void add_operator(const Event& event, const HostSpan& span);
  std::uint32_t detail_of(std::string_view args, bool (*is_wanted)(std::string_view));
  void add_call(const Event& event, const HostSpan& span);
  void add_on_row(const Event& event, const HostSpan& span);
  void add_launch(const Event& event, std::int64_t start_ns);
  void add_mark(const Event& event, const HostSpan& span, const EventClass& kind);
  void add_begin_end(const Event& event, std::int64_t start_ns);
  void add_memory(const Event& event, std::int64_t start_ns);
  void add_counter(const Event& event, std::int64_t start_ns);

  EventColumns columns_;  // without those that stand by themselves until they are packed
  std::vector<HostSpan> hosts_;
  std::vector<MarkedSpan> marks_;
  BeginEndBatch begin_end_;
  std::vector<std::uint32_t> payloads_;
  std::vector<BatchNote> notes_;
  FileEvidence evidence_;
  StartTimes starts_;
  RowNames row_names_;
  PhaseCounts phases_{};

  std::string scratch_;
  StringTable label_texts_;
  std::vector<Label> labels_;
  WantedColumns wanted_;
  StringTable detail_texts_;
  std::vector<std::uint32_t> details_in_run_;
  StringTable track_texts_;
  std::vector<std::pair<std::string, std::string>> tracks_;  // pid and tid, as JSON text
  std::string last_pid_;
  std::string last_tid_;
  std::uint32_t last_track_ = kUnknown;
};

}  // namespace traceloom
