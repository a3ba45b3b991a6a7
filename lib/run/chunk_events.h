// ChunkEvents: the columns of one chunk's events, gathered in parallel with those of other chunks.
//
//   ChunkEvents events(request);
//   events.add(event, time_event(event, problems));
//   events.move_to(run_texts, file, columns);                  // one chunk at a time
//   events.reset();                                            // for the next chunk
//
// Each name is classified once: the tables of labels stay from chunk to chunk, so reuse the object.
// An event with a known name on a known row needs no allocation.
#pragma once

#include "event/event.h"
#include "event/event_timing.h"
#include "identity/evidence/event_marks.h"
#include "identity/evidence/file_reading.h"
#include "run/run.h"
#include "scan/begin_end.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

// The numbers in the begin event of a span of Composer: {"epoch": 0, "batch": 3}.
struct BatchNote {
  std::int64_t epoch = kNoId;
  std::int64_t batch = kNoId;
};

inline constexpr int kRecentBits = 9;

// Gathers one chunk after another. Not thread-safe.
class ChunkEvents {
 public:
  // The request, which must outlive it, says which columns to gather besides those of every
  // analysis.
  explicit ChunkEvents(const RunRequest& request) : request_(request) {}

  // Adds any event; it leaves out events that no analysis uses.
  void add(const Event& event, const EventTiming& timing);

  // Appends the spans of X events to `columns`, with the texts of the run.
  void move_to(RunTexts& texts, std::size_t file, EventColumns& columns);

  const BeginEndBatch& begin_end() const { return begin_end_; }
  // Has one entry for each record of begin_end(): an index into notes(), or kNoPayload.
  const std::vector<std::uint32_t>& payloads() const { return payloads_; }
  const std::vector<BatchNote>& notes() const { return notes_; }
  const ReadingPart& reading() const { return reading_; }
  const RowNames& row_names() const { return row_names_; }
  const PhaseCounts& phases() const { return phases_; }

  // Forgets the events.
  void reset();

 private:
  struct Label {
    std::string name;
    std::string category;
    EventClass kind;
    // The results of is_known_by_row() for events with and without a category.
    bool with_category_by_row = false;
    bool without_category_by_row = false;
    bool wanted_as_span = false;  // by RunRequest::spans
    std::uint32_t in_run = kUnknown;
  };
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  static constexpr std::size_t kMostKept = std::size_t{1} << 14;  // texts for the next chunk

  std::uint32_t label_of(const Event& event);
  // The row of the event that was added last.
  std::uint32_t track() const { return reading_.threads.last_row(); }
  void add_span(const Event& event, const EventTiming& timing);
  void add_device(const Event& event, const HostSpan& span);
  void add_operator(const Event& event, const HostSpan& span);
  std::uint32_t detail_of(std::string_view args, bool (*is_wanted)(std::string_view));
  std::uint32_t shapes_of(std::string_view written);
  void add_call(const Event& event, const HostSpan& span);
  void add_on_row(const Event& event, const HostSpan& span);
  void note_correlation(std::int64_t start_ns);
  void add_arrow(const Event& event, std::int64_t start_ns);
  void add_launch(const Event& event, std::int64_t start_ns);
  void add_mark(const Event& event, const HostSpan& span, const EventClass& kind);
  void add_begin_end(const Event& event, std::int64_t start_ns);
  void add_memory(const Event& event, std::int64_t start_ns);
  void add_counter(const Event& event, std::int64_t start_ns);

  const RunRequest& request_;
  EventColumns columns_;  // the columns, except spans that are packed later
  std::vector<HostSpan> spans_;
  std::vector<HostSpan> hosts_;
  std::vector<MarkedSpan> marks_;
  // By row: the begin of the last call or work that has a correlation.
  std::vector<std::int64_t> with_correlation_;
  BeginEndBatch begin_end_;
  std::vector<std::uint32_t> payloads_;
  std::vector<BatchNote> notes_;
  ReadingPart reading_;
  RowNames row_names_;
  PhaseCounts phases_{};

  std::string scratch_;
  StringTable label_texts_;
  std::vector<Label> labels_;
  // Labels of texts that events had lately, which saves a hash of the whole text: 3 % of a summary.
  std::array<std::uint32_t, std::size_t{1} << kRecentBits> recent_labels_ = {};
  StringTable detail_texts_;
  std::vector<std::uint32_t> details_in_run_;
  StringTable shape_texts_;  // as they are written
  std::vector<std::uint32_t> details_of_shapes_;
};

}  // namespace traceloom
