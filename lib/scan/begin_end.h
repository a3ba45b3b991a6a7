// Pairs begin events (B) with end events (E), and finds the slices around a moment.
#pragma once

#include "base/problems.h"
#include "base/string_table.h"
#include "event/event.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// SlicesAround: finds the first end among the closed slices (X) around a moment of a track.
//
//   SlicesAround slices;
//   slices.add(start_ns, end_ns);                          // in any order
//   std::vector<std::int64_t> ends = slices.first_ends(moments);
//   slices.drop_passed(moments_to_come);                   // from time to time

// Holds the slices of one track, in 16 bytes each. Not thread-safe.
class SlicesAround {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  void add(std::int64_t start_ns, std::int64_t end_ns);
  // Returns for each of `moments`, which are ascending, the earliest end of the slices that begin
  // before it and end after it, or kNever if there is none. It takes n log n in the number of
  // slices.
  std::vector<std::int64_t> first_ends(const std::vector<std::int64_t>& moments) const;
  // Forgets those slices of the older half that ended before the latest start and contain none of
  // `moments`, which are ascending. A moment inside such a slice that comes even later in the file
  // no longer finds it.
  void drop_passed(const std::vector<std::int64_t>& moments);
  std::size_t size() const { return slices_.size(); }

 private:
  struct Slice {
    std::int64_t start_ns;
    std::int64_t end_ns;
  };

  std::vector<Slice> slices_;  // in the order of add()
  std::int64_t latest_ns_ = std::numeric_limits<std::int64_t>::min();
};

// BeginEndPairer: finds the end event (E) of each begin event (B), by one rule for merge and
// statistics.
//
//   BeginEndBatch batch;                                  // in parallel, one a chunk
//   if (event.phase == 'B' || event.phase == 'E') batch.add(event, timing.start_ns);
//
//   BeginEndPairer pairer({.pair = [&](const BeginEndPair& pair) { use(pair); }});
//   pairer.take(batch);                                   // all of a file, in file order
//   pairer.finish();
//
// The rule:
// 1. The events of a track, a (pid, tid), are stably sorted by time.
// 2. An E closes the innermost open B of its own name.
// 3. If there is no such B, or the E has no name, it closes the innermost open B, as
//    chrome://tracing does.
// 4. An E that finds no B is an orphan.
// 5. A B that is never closed is no span. It ends with the first closed slice around it, a pair or
//    an X.
//
// Composer (0.6 and later) writes ends without begins, which would close unrelated B's by step 3.
// In its files an E closes only a B of its own name (match_names()).

// The B and E events of one chunk. Reuse it: it keeps its memory. Not thread-safe.
class BeginEndBatch {
 public:
  // `event` is a usable B or E, and `start_ns` its time.
  void add(const Event& event, std::int64_t start_ns);
  // Adds an X, which may surround a B that is never closed. Callers that use OpenBegin need it, for
  // the tracks that have B events.
  void add_slice(const Event& event, std::int64_t start_ns, std::int64_t end_ns);
  void clear();
  bool empty() const { return records_.empty() && slices_.empty(); }

 private:
  friend class BeginEndPairer;

  // Texts are stored as numbers: of the batch's own tables in a batch, of the pairer's tables in a
  // pairer.
  struct Record {
    std::int64_t start_ns;
    std::uint64_t offset;
    std::uint32_t track;
    std::uint32_t name;      // kNoText if the event has no name
    std::uint32_t category;  // only for a B
    std::uint32_t payload;
    bool is_end;
    bool is_cut;  // an E at a cut, which ends no span: see is_cut_slice()
  };

  struct Slice {
    std::int64_t start_ns;
    std::int64_t end_ns;
    std::uint32_t track;
  };

  std::uint32_t track_of(const Event& event);

  std::vector<Record> records_;
  std::vector<Slice> slices_;
  StringTable texts_;                   // names and categories as JSON text
  StringTable tracks_;                  // pid and tid as JSON text, one after the other
  std::vector<std::size_t> pid_sizes_;  // length of the pid in each text of tracks_
  std::string scratch_;
};

// A payload is a number by which the caller recognises an event; this value means none.
inline constexpr std::uint32_t kNoPayload = ~std::uint32_t{0};

struct BeginEndPair {
  std::uint32_t track;     // number for BeginEndPairer::pid() and tid()
  std::uint32_t name;      // number of the B's name for text(); kNoText if it has none
  std::uint32_t category;  // number of the B's category, likewise
  std::int64_t start_ns;
  std::int64_t end_ns;  // never before start_ns
  std::uint64_t begin_offset;
  std::uint64_t end_offset;
  std::uint32_t begin_payload;
  std::uint32_t end_payload;
  // Payload of the B around this one, if that is still open and starts at the same time.
  std::uint32_t same_start_outer;
  bool is_cut;  // the slice goes on after the cut, so it is no span: see is_cut_slice()

  // Returns end - start; a result that does not fit is cut to the limit of int64 (292 years).
  std::int64_t duration_ns() const;
};

inline constexpr std::uint32_t kNoText = ~std::uint32_t{0};

// A B that is never closed.
struct OpenBegin {
  std::int64_t start_ns;
  std::uint64_t offset;
  std::uint32_t payload;
  // The end of the slice around the B that is closed first; kNeverEnds if there is none.
  std::int64_t around_end_ns;

  bool is_in_closed_slice() const { return around_end_ns != kNeverEnds; }
  static constexpr std::int64_t kNeverEnds = SlicesAround::kNever;
};

// The calls that BeginEndPairer makes; each may be left empty.
struct BeginEndHandlers {
  // called in the order of the E's times
  std::function<void(const BeginEndPair&)> pair = {};
  std::function<void(std::uint32_t payload)> stray_end = {};  // an E without a B
  std::function<void(const OpenBegin&)> open_begin = {};      // called by finish(), outer B's first
};

// Pairs the B and E events of one file; use a new pairer for each file. The time is linear in the
// number of events, however many are open. Memory holds the open B's, the reorder buffer, each
// distinct name and track, and a window of the added slices (as many as the
// reorder buffer has events). Not thread-safe.
class BeginEndPairer {
 public:
  // The events of a file need not be in time order: up to `reorder_records` of them are held back
  // and sorted. An event that is older than an event already released on its track is counted as
  // Problem::out_of_order and used at once.
  static constexpr std::size_t kReorderRecords = std::size_t{1} << 16;

  explicit BeginEndPairer(BeginEndHandlers handlers = {},
                          std::size_t reorder_records = kReorderRecords)
      : handlers_(std::move(handlers)), reorder_records_(reorder_records) {}

  // From now on an E closes only a B of its own name. Call it once the file has proved to be
  // Composer's.
  void match_names() { matches_names_ = true; }

  // `payloads` has one number for each record of the batch, or none at all.
  void take(const BeginEndBatch& batch, const std::vector<std::uint32_t>& payloads = {});
  // Returns the number of B's without an E so far.
  std::size_t open() const { return open_.size() - free_.size(); }
  // waiting() returns the number of events held back to be sorted. give_up_half() pairs the older
  // half of them now, to save memory.
  std::size_t waiting() const { return waiting_.size(); }
  void give_up_half() { release((waiting_.size() + 1) / 2); }
  // Call it after the last batch: it pairs the rest and counts the B's that stay open.
  void finish();

  // Counts of end_without_begin, begin_without_end and out_of_order.
  const ProblemCounts& problems() const { return problems_; }

  // Returns the characters of a name or category.
  std::string_view text(std::uint32_t number) const { return texts_[number]; }
  // Return the canonical_id() of the pid and tid of a track.
  const std::string& pid(std::uint32_t track) const { return tracks_[track].pid; }
  const std::string& tid(std::uint32_t track) const { return tracks_[track].tid; }

 private:
  using Record = BeginEndBatch::Record;
  static constexpr std::uint32_t kNone = kNoText;

  struct Track {
    std::string pid;
    std::string tid;
    std::uint32_t innermost = kNone;       // index in open_
    std::uint32_t innermost_bare = kNone;  // see Open::outer_bare
    // latest time of the events already paired
    std::int64_t released_ns = std::numeric_limits<std::int64_t>::min();
    SlicesAround slices = {};
  };
  // An open B. It is a link of three chains: the open B's of its track, those of its track and
  // name, and those (called bare) around which no slice has been closed yet.
  struct Open {
    Record begin;
    std::uint64_t number;        // position in the order in which the B's begin
    std::int64_t around_end_ns;  // see OpenBegin
    std::uint32_t outer_bare;    // index of the next outer B of the bare ones
    std::uint32_t outer;         // index of the next outer B of its track, kNone at the end
    std::uint32_t inner;
    std::uint32_t same_name;  // index of the next outer B of the same name
    std::uint32_t chain;      // index in chains_
  };

  std::vector<std::uint32_t> number_texts(const BeginEndBatch& batch);
  std::vector<std::uint32_t> number_tracks(const BeginEndBatch& batch);
  std::uint32_t chain_of(const Record& record);
  void release(std::size_t count);
  void add_open(const Record& begin);
  void close(const Record& end);
  void end_inside(const Open& closed, std::int64_t end_ns);
  void take_slices(const BeginEndBatch& batch, const std::vector<std::uint32_t>& tracks);
  void end_inside_slices();
  void end_inside_slices(Track& track);
  std::vector<std::vector<std::int64_t>> waiting_begins() const;
  std::uint32_t begin_of(const Record& end);
  std::uint32_t same_start_outer(const Open& open) const;
  void unlink(std::uint32_t index);

  BeginEndHandlers handlers_;
  std::size_t reorder_records_;
  bool matches_names_ = false;
  ProblemCounts problems_;

  std::vector<Record> waiting_;
  bool waiting_sorted_ = true;

  StringTable raw_texts_;  // JSON text -> numbers of texts_
  std::vector<std::uint32_t> text_of_raw_;
  StringTable texts_;  // decoded
  StringTable raw_tracks_;
  std::vector<std::uint32_t> track_of_raw_;
  StringTable track_names_;  // canonical
  std::vector<Track> tracks_;
  std::size_t held_slices_ = 0;
  std::size_t most_slices_ = reorder_records_;  // the most slices to hold before they are used

  StringTable chain_names_;            // (track, name)
  std::vector<std::uint32_t> chains_;  // index in open_ of the innermost open B of each chain
  std::vector<Open> open_;
  std::uint64_t begun_ = 0;
  std::vector<std::uint32_t> free_;  // places in open_ that can be reused
};

}  // namespace traceloom
