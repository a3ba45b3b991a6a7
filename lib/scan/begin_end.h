// Which end event (E) closes which begin event (B): the one rule for merge and statistics.
//
//   BeginEndBatch batch;                                  // in parallel, one a chunk
//   if (event.phase == 'B' || event.phase == 'E') batch.add(event, timing.start_ns);
//
//   BeginEndPairer pairer({.pair = [&](const BeginEndPair& pair) { use(pair); }});
//   pairer.take(batch);                                   // all of a file, in file order
//   pairer.finish();
//   drop(pairer.orphan_ends());
//
// The rule: the events of a track, a (pid, tid), are stably sorted by time. An E closes the
// innermost open B of its own name; when there is none, or it has no name, the innermost open B, as
// chrome://tracing does; an E that finds none is an orphan, and a B that is never closed is no
// span: it ends with the first closed slice around it, a pair or an X. Composer (0.6 and later)
// writes ends without begins, each of which would close somebody else's B: in its files an E closes
// a B of its own name or none (match_names()).
#pragma once

#include "base/problems.h"
#include "base/string_table.h"
#include "event/event.h"
#include "scan/slices_around.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// The B and E events of one chunk; reuse it, it keeps its memory. Not thread-safe.
class BeginEndBatch {
 public:
  // `event` is a B or E that can be used, and `start_ns` its time.
  void add(const Event& event, std::int64_t start_ns);
  // An X, which may be around a B that is never closed. Needed where OpenBegin is of interest, of
  // the tracks that have B events.
  void add_slice(const Event& event, std::int64_t start_ns, std::int64_t end_ns);
  void clear();
  bool empty() const { return records_.empty() && slices_.empty(); }

 private:
  friend class BeginEndPairer;

  // Texts are numbers: of the batch's own tables here, of the pairer's tables there.
  struct Record {
    std::int64_t start_ns;
    std::uint64_t offset;
    std::uint32_t track;
    std::uint32_t name;      // kNoText when there is none
    std::uint32_t category;  // of B only
    std::uint32_t payload;
    bool is_end;
    bool is_cut;  // an end that is none: see is_cut_slice()
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
  StringTable tracks_;                  // pid and tid as JSON text, one behind the other
  std::vector<std::size_t> pid_sizes_;  // of each of them
  std::string scratch_;
};

// A number that somebody gives to an event, to know it again.
inline constexpr std::uint32_t kNoPayload = ~std::uint32_t{0};

struct BeginEndPair {
  std::uint32_t track;     // for BeginEndPairer::pid() and tid()
  std::uint32_t name;      // for text(), of the B; kNoText when it has none
  std::uint32_t category;  // the same
  std::int64_t start_ns;
  std::int64_t end_ns;  // never before start_ns
  std::uint64_t begin_offset;
  std::uint64_t end_offset;
  std::uint32_t begin_payload;
  std::uint32_t end_payload;
  // Of the B around this one, if it is open still and starts at the same time.
  std::uint32_t same_start_outer;
  bool names_differ;
  bool is_cut;  // the slice goes on: no span, see is_cut_slice()

  // Perfetto takes both kinds apart: at one time it looks at ends first, and an E of another name
  // closes nothing there. A slice that has been cut may be dropped as a whole.
  bool has_to_be_joined() const { return start_ns == end_ns || names_differ || is_cut; }

  // What does not fit (584 years) is cut to what does.
  std::int64_t duration_ns() const;
};

inline constexpr std::uint32_t kNoText = ~std::uint32_t{0};

// A B that is never closed.
struct OpenBegin {
  std::int64_t start_ns;
  std::uint64_t offset;
  std::uint32_t payload;
  // When the first of the slices around it that are closed ends; kNeverEnds where none is.
  std::int64_t around_end_ns;

  bool is_in_closed_slice() const { return around_end_ns != kNeverEnds; }
  static constexpr std::int64_t kNeverEnds = SlicesAround::kNever;
};

// Each may be left out.
struct BeginEndHandlers {
  std::function<void(const BeginEndPair&)> pair = {};         // in the order of the E's times
  std::function<void(std::uint32_t payload)> stray_end = {};  // an E without a B
  std::function<void(const OpenBegin&)> open_begin = {};      // at finish(), the outer ones first
};

// Pairs the B and E events of one file; make another one for the next file. Linear in the number of
// events, however many are open. Memory: the open B's, the reorder buffer, the orphans' offsets and
// each distinct name and track, and of the slices that were added a window of as many events.
// Not thread-safe.
class BeginEndPairer {
 public:
  // Events may stand out of time order in the file; up to `reorder_records` of them are held back
  // to be sorted. An event that is older than what had to be released of its track is
  // Problem::out_of_order and is taken as it comes.
  static constexpr std::size_t kReorderRecords = std::size_t{1} << 16;

  explicit BeginEndPairer(BeginEndHandlers handlers = {},
                          std::size_t reorder_records = kReorderRecords)
      : handlers_(std::move(handlers)), reorder_records_(reorder_records) {}

  // From now on an E of another name closes nothing: once the file has turned out to be Composer's.
  void match_names() { matches_names_ = true; }

  // `payloads`: one for each record of the batch, or none.
  void take(const BeginEndBatch& batch, const std::vector<std::uint32_t>& payloads = {});
  // How many B have no E yet.
  std::size_t open() const { return open_.size() - free_.size(); }
  // How many events are held back to be sorted; give_up_half() pairs the older half of them now.
  // For who has to save memory.
  std::size_t waiting() const { return waiting_.size(); }
  void give_up_half() { release((waiting_.size() + 1) / 2); }
  // No more batches: pairs what is left and counts what stays open.
  void finish();

  // Byte offsets of the E events without a B, in ascending order; once finish() has been called.
  const std::vector<std::uint64_t>& orphan_ends() const { return orphan_ends_; }
  // end_without_begin, begin_without_end, out_of_order.
  const ProblemCounts& problems() const { return problems_; }

  // The characters of a name or category.
  std::string_view text(std::uint32_t number) const { return texts_[number]; }
  // canonical_id() of a track.
  const std::string& pid(std::uint32_t track) const { return tracks_[track].pid; }
  const std::string& tid(std::uint32_t track) const { return tracks_[track].tid; }

 private:
  using Record = BeginEndBatch::Record;
  static constexpr std::uint32_t kNone = kNoText;

  struct Track {
    std::string pid;
    std::string tid;
    std::uint32_t innermost = kNone;                                      // in open_
    std::uint32_t innermost_bare = kNone;                                 // see Open::outer_bare
    std::int64_t released_ns = std::numeric_limits<std::int64_t>::min();  // up to which it has been
    SlicesAround slices = {};
  };
  // An open B: a link of three chains, the open B's of its track, those that share its name as
  // well, and those around which no slice has been closed yet.
  struct Open {
    Record begin;
    std::uint64_t number;        // in the order in which they begin
    std::int64_t around_end_ns;  // see OpenBegin
    std::uint32_t outer_bare;    // the next outer one of the last chain
    std::uint32_t outer;         // in its track, kNone at the end
    std::uint32_t inner;
    std::uint32_t same_name;  // the next outer one of the same name
    std::uint32_t chain;      // in chains_
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
  std::vector<std::uint64_t> orphan_ends_;

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
  std::size_t most_slices_ = reorder_records_;  // to hold until they are looked at

  StringTable chain_names_;            // (track, name)
  std::vector<std::uint32_t> chains_;  // the innermost open B of each
  std::vector<Open> open_;
  std::uint64_t begun_ = 0;
  std::vector<std::uint32_t> free_;  // places in open_ that can be used again
};

}  // namespace traceloom
