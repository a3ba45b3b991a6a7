#include "merge/edits/id_edits.h"

#include "base/json_walk.h"
#include "merge/edits/async_edits.h"
#include "merge/ids/id_keys.h"

#include <fmt/format.h>

#include <string_view>

namespace traceloom {
namespace {

// Names the event's id `id`, whatever key it has, and returns that key.
Key name_id(const Event& event, EventEdit& edit) {
  if (event.has(Key::id2)) edit.rename(Key::id2, event.has(Key::id) ? "source_id2" : "id");
  return event.has(Key::id) ? Key::id : Key::id2;
}

// Returns an empty text if the event has no id.
std::string object_key_of(const Event& event, const FilePlan& file, std::string& scratch) {
  const std::string_view key =
      file.object_ids.keeps ? merged_object_key(event, scratch) : object_id_key(event, scratch);
  if (event.phase == 'v' && !file.own_dumps.empty()) {
    std::string own = process_dump_key(key, canonical_id(event.text(Key::pid)));
    if (file.own_dumps.contains(own)) return own;
  }
  return std::string(key);
}

}  // namespace

void bind_to_slice_around(const Event& end, EventEdit& edit) {
  // If there are several, the last one counts.
  const std::string_view bp = find_member(end.raw, "bp");
  if (bp.empty()) return edit.replace(1, 1, "\"bp\": \"e\", ");
  const auto begin = static_cast<std::uint32_t>(bp.data() - end.raw.data());
  edit.replace(begin, begin + static_cast<std::uint32_t>(bp.size()), "\"e\"");
}

void edit_flow_id(const Event& event, const FilePlan& file, EventEdit& edit, std::string& scratch) {
  const std::string_view key = flow_id_key(event, scratch);
  if (key.empty()) return;
  const std::uint64_t number =
      is_shared_flow(event, file.shared_flows) ? shared_id_number(key) : file.flow_ids.number(key);
  edit.set_number(name_id(event, edit), number);
}

void edit_ids(const Event& event, const FilePlan& file, EventEdit& edit, std::string& scratch) {
  if (event.has(Key::bind_id))
    edit.set_number(Key::bind_id, file.bind_ids.number(id_key(event.text(Key::bind_id), scratch)));
  if (is_async(event)) {
    edit_async(event, file, edit, scratch);
  } else if (is_object_phase(event.phase)) {
    const std::string key = object_key_of(event, file, scratch);
    if (!key.empty())
      edit.replace(name_id(event, edit),
                   fmt::format("\"0x{:x}\"", file.object_ids.map.number(key)));
  }
}

}  // namespace traceloom
