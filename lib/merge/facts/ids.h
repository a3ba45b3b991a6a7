// Ids that must not meet in a merged trace: those of flows, async events, objects and stack
// frames.
#pragma once

#include "base/string_table.h"
#include "event/event.h"
#include "flows/flow_arrows.h"
#include "select/selection.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// IdMap: makes the ids of flows and async events unique over all files of a merge.
//
// Ids restart in every process and every profiling cycle, while viewers key flows by id, category
// and name over the whole trace: two ranks with the same correlation id would get arrows into each
// other. So each file has a range of numbers of its own in the output, and all ranges have one
// size. A whole number n becomes begin + n, and with a power of ten as size it can still be read in
// the result. Any other id (hexadecimal text, a pointer, a negative number) gets a number of its
// own, from the end of the range down.
//
//   IdSet ids;  ids.add("31");  ids.add("\"0x7f\"");       // while surveying a file
//   IdMap map(ids, 3000, 1000);                            // while writing it
//   map.number("31") == 3031;  map.number("\"0x7f\"") == 3999;

// Whole numbers below the limit keep their distance from each other; others count as text. The
// numbers of an earlier merge are far apart but belong together, so for them the limit is what a
// JavaScript number holds.
inline constexpr std::uint64_t kPlainIdLimit = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kMergedIdLimit = kWholeIdLimit;

// The ids that one file uses. Memory: only the ids that are no plain numbers below kPlainIdLimit.
class IdSet {
 public:
  // `key` is the id as id_key() spells it.
  void add(std::string_view key);
  void add(const IdSet& other);
  bool empty() const { return max_number_ == 0 && others_.size() == 0; }
  // Returns how large a range the ids need if numbers below `limit` are plain.
  std::uint64_t range(std::uint64_t limit = kPlainIdLimit) const {
    return (limit > kPlainIdLimit ? std::max(max_number_, max_large_) : max_number_) +
           others_.size() + 1;
  }
  // For other processes: see team/wire.h.
  auto wired() { return std::tie(max_number_, max_large_, others_); }

 private:
  friend class IdMap;
  std::uint64_t max_number_ = 0;
  std::uint64_t max_large_ = 0;  // at least kPlainIdLimit, below kMergedIdLimit; also in others_
  StringTable others_;           // in order of first appearance
};

// Returns the smallest power of ten that each of these ranges fits into, or 0 if no range has ids
// (all are below 2). A single range is returned as it is: its numbers stay the same however often
// the file is merged.
std::uint64_t common_id_range(const std::vector<std::uint64_t>& ranges);

class IdMap {
 public:
  // Gives numbers in [begin + 1, begin + range). `range` must be at least ids.range(limit) unless
  // ids is empty; `ids` must outlive the map.
  IdMap(const IdSet& ids, std::uint64_t begin, std::uint64_t range,
        std::uint64_t limit = kPlainIdLimit)
      : ids_(&ids), begin_(begin), end_(begin + range), limit_(limit) {}

  // Returns the number of an id that is in the set.
  std::uint64_t number(std::string_view key) const;
  // Returns nullopt for an id that cannot be in the set.
  std::optional<std::uint64_t> find(std::string_view key) const;
  // Returns the begin for the next file.
  std::uint64_t end() const { return end_; }

  // True if both maps give the same number to each id.
  bool operator==(const IdMap& other) const;

 private:
  const IdSet* ids_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::uint64_t limit_;
};

// Returns the number of an id that means the same in all files: a whole number stays what it is,
// any other id becomes a number from 2^52 up that depends on its text alone. So files that are
// merged on their own still fit together. (Two of a million such ids get the same number once in
// 9,000 merges.)
std::uint64_t shared_id_number(std::string_view key);

// The keys of ids within their file (those of flows are in flows/flow_arrows.h). This is the one
// rule for the survey, which gathers ids, and for the writer, which looks up their numbers.
//
//   survey.async_ids.add(async_id_key(event, scratch), ...);
//   file.async_ids.map.number(async_id_key(event, scratch));
//
// All keys are empty if the event has no id. They are views of the event or of `scratch`.

static_assert(unquoted(kQuotedNoName) == kNoName);

// True for the old form of async events. A T with a duration and no id is something else: a thread
// state, as Perfetto has it.
inline bool is_legacy_async(const Event& event) {
  return event.phase == 'S' || event.phase == 'p' || event.phase == 'F' ||
         (event.phase == 'T' &&
          (event.has(Key::id) || event.has(Key::id2) || !event.has(Key::dur)));
}
inline bool is_async(const Event& event) {
  return event.phase == 'b' || event.phase == 'n' || event.phase == 'e' || is_legacy_async(event);
}
// True for objects, contexts, memory dumps and profiles.
inline bool is_object_phase(char phase) {
  return phase == 'N' || phase == 'O' || phase == 'D' || phase == '(' || phase == ')' ||
         phase == 'v' || phase == 'V' || phase == 'P';
}

// True if id2 says nothing: it has neither a local nor a global id. Catapult stops at that.
bool is_empty_id2(std::string_view id2);

// Returns whether the ids of a flow event mean the same in all files: its category is one of these.
inline bool is_shared_flow(const Event& event, const std::vector<std::string>& categories) {
  return !categories.empty() && has_category(decoded(event.text(Key::cat)), categories);
}

// Returns flow_id_key() with the scope. The key of a legacy event has its name, too: such events
// become nestable ones, which viewers do not distinguish by name.
std::string_view async_id_key(const Event& event, std::string& scratch);
// Returns false for an id that belongs to the whole trace.
bool has_local_async_id(const Event& event);
// Returns the id of an object, which belongs to a process and a scope, of a profile, which belongs
// to a process, or of a memory dump, which belongs to the whole file.
std::string_view object_id_key(const Event& event, std::string& scratch);
// Returns the key of the object with that id (as JSON text) in process `pid` (canonical).
std::string object_key(std::string_view pid, std::string_view scope, std::string_view id);
std::string global_object_key(std::string_view scope, std::string_view id);
// Returns the key of a memory dump for one of its processes (canonical), given the key for them
// all.
std::string process_dump_key(std::string_view dump_key, std::string_view pid);
inline constexpr std::string_view kDefaultScope = "\"ptr\"";

// The functions return the number in an id that a merge has written ("0x1f", for async events
// {"local": "0x1f"} or {"global": "0x1f"}), as decimal text, and an empty text for any other id.
// Such numbers are unique in their file, and stay when the file is merged again.
inline constexpr std::string_view kMergedLocal = "{\"local\": ";
inline constexpr std::string_view kMergedGlobal = "{\"global\": ";
std::string_view merged_async_key(const Event& event, std::string& scratch);
std::string_view merged_object_key(const Event& event, std::string& scratch);
std::string_view merged_hex_key(std::string_view json_value, std::string& scratch);

// Ids that a merge writes as such text.
struct HexIds {
  IdSet ids;
  IdSet merged;            // the same ids by the keys of an earlier merge
  bool has_other = false;  // some id differs from what a merge writes

  void add(std::string_view key, std::string_view merged_key) {
    ids.add(key);
    if (merged_key.empty())
      has_other = true;
    else
      merged.add(merged_key);
  }
  void add(const HexIds& later) {
    ids.add(later.ids);
    merged.add(later.merged);
    has_other |= later.has_other;
  }
};

// FrameIds: keeps the ids of stack frames of different files apart. Frame 7 of the third file is
// "f2_7" in the output.
//
//   FrameIds ids{2, false};
//   ids.append_to(text, "7");        // "f2_7", with its quotes
//
// Frames come as a top-level dictionary that events and samples refer to (sf, esf), and as metadata
// of a process that memory dumps refer to. Catapult stops its import if an id stands twice. A
// prefix can be added before the dictionary is known, which may stand at the end of a file.

// Returns the group in an id that a merge has written. A merged file has one frame group more than
// the highest of these.
std::optional<std::uint32_t> frame_group(std::string_view json_id);

struct FrameIds {
  std::uint32_t begin = 0;  // the first group that belongs to the file
  bool keeps = false;       // the file was merged before: its ids have groups, which are moved

  // Appends an id as JSON text. `json_id` is a number or text: 7 and "7" are one frame. A process
  // (canonical pid) has its own frames and types of objects.
  void append_to(std::string& out, std::string_view json_id, std::string_view pid = {}) const;
  bool operator==(const FrameIds&) const = default;
};

// Appends one member of a dictionary of frames, `"f2_7":{...}`, and renames its parent as well.
// `id` is the key as it stands between its quotes; `pid` is empty for a top-level dictionary, and
// canonical for the dictionary of a process.
void append_frame(std::string& out, std::string_view id, std::string_view frame,
                  const FrameIds& ids, std::string_view pid = {});
// True for an object of objects in strict JSON.
bool is_frame_dictionary(std::string_view value);

}  // namespace traceloom
