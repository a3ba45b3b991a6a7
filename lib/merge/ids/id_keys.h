// The keys of ids within their file (those of flows are in flows/flow_id.h). This is the one rule
// for the survey, which gathers ids, and for the writer, which looks up their numbers.
//
//   survey.async_ids.add(async_id_key(event, scratch), ...);
//   file.async_ids.map.number(async_id_key(event, scratch));
//
// All keys are empty if the event has no id. They are views of the event or of `scratch`.
#pragma once

#include "event/event.h"
#include "flows/flow_id.h"
#include "merge/ids/id_map.h"
#include "select/label_filter.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

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
  template <typename Wire>
  void wire(Wire& wire) {
    wire(ids, merged, has_other);
  }
};

}  // namespace traceloom
