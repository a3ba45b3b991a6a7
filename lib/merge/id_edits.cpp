#include "merge/id_edits.h"

#include "base/json_walk.h"
#include "merge/id_keys.h"

#include <fmt/format.h>

#include <string_view>

namespace traceloom {
namespace {

std::string_view async_scope(const Event& event, AsyncScope scope) {
  const bool is_global = scope == AsyncScope::trace ? !has_local_async_id(event)
                         : scope == AsyncScope::kept
                             ? event.text(Key::id2).starts_with(kMergedGlobal)
                             : false;
  return is_global ? "global" : "local";
}

// The old async events become nestable ones: Perfetto ignores the old, and takes a step (T) for an
// error. A step is an instant then, with its name in the args as before.
void edit_legacy_phase(const Event& event, const FilePlan& file, EventEdit& edit,
                       std::string& scratch) {
  edit.replace(Key::ph, event.phase == 'S' ? "\"b\"" : event.phase == 'F' ? "\"e\"" : "\"n\"");
  std::string_view category;
  if (event.phase != 'S' && !file.operation_categories.empty())
    category = file.operation_categories.find(async_id_key(event, scratch), event.offset);
  if (!event.has(Key::cat))
    edit.insert(Key::cat, category.empty() ? "\"\"" : category);  // catapult wants one
  else if (!category.empty())
    edit.replace(Key::cat, category);
}

void edit_async_id(const Event& event, const FilePlan& file, EventEdit& edit,
                   std::string& scratch) {
  const std::string_view key =
      file.async_ids.keeps ? merged_async_key(event, scratch) : async_id_key(event, scratch);
  if (key.empty()) return;
  const std::string id2 =
      fmt::format("{{\"{}\": \"0x{:x}\"}}", async_scope(event, file.async_scope),
                  file.async_ids.map.number(key));
  if (event.has(Key::id2)) {
    edit.replace(Key::id2, id2);
    // Both are an error to catapult; the id that counted is in id2 now.
    if (event.has(Key::id)) edit.rename(Key::id, "source_id");
  } else {
    edit.rename(Key::id, "id2");
    edit.replace(Key::id, id2);
  }
  if (is_legacy_async(event)) edit_legacy_phase(event, file, edit, scratch);
}

// Makes `id` of whatever key has the id, and returns which one that is.
Key name_id(const Event& event, EventEdit& edit) {
  if (event.has(Key::id2)) edit.rename(Key::id2, event.has(Key::id) ? "source_id2" : "id");
  return event.has(Key::id) ? Key::id : Key::id2;
}

}  // namespace

void bind_to_slice_around(const Event& end, EventEdit& edit) {
  // Of several the last one counts.
  const std::string_view bp = find_member(end.raw, "bp");
  if (bp.empty()) return edit.replace(1, 1, "\"bp\": \"e\", ");
  const auto begin = static_cast<std::uint32_t>(bp.data() - end.raw.data());
  edit.replace(begin, begin + static_cast<std::uint32_t>(bp.size()), "\"e\"");
}

std::optional<std::uint64_t> edit_flow_id(const Event& event, const FilePlan& file, EventEdit& edit,
                                          std::string& scratch) {
  const std::string_view key = flow_id_key(event, scratch);
  if (key.empty()) return std::nullopt;
  const std::uint64_t number =
      is_shared_flow(event, file.shared_flows) ? shared_id_number(key) : file.flow_ids.number(key);
  edit.set_number(name_id(event, edit), number);
  return number;
}

void edit_ids(const Event& event, const FilePlan& file, EventEdit& edit, std::string& scratch) {
  if (event.has(Key::bind_id))
    edit.set_number(Key::bind_id, file.bind_ids.number(id_key(event.text(Key::bind_id), scratch)));
  if (is_async(event)) {
    edit_async_id(event, file, edit, scratch);
  } else if (is_object_phase(event.phase)) {
    const std::string_view key =
        file.object_ids.keeps ? merged_object_key(event, scratch) : object_id_key(event, scratch);
    if (!key.empty())
      edit.replace(name_id(event, edit),
                   fmt::format("\"0x{:x}\"", file.object_ids.map.number(key)));
  }
}

}  // namespace traceloom
