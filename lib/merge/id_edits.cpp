#include "merge/id_edits.h"

#include "merge/id_map.h"

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

}  // namespace

void edit_ids(const Event& event, const FilePlan& file, EventEdit& edit, std::string& scratch) {
  if (event.has(Key::bind_id))
    edit.set_number(Key::bind_id, file.bind_ids.number(id_key(event.text(Key::bind_id), scratch)));
  if (is_flow_phase(event.phase) && event.has(Key::id))
    edit.set_number(Key::id, file.flow_ids.number(id_key(event.text(Key::id), scratch)));
  if (!is_async_phase(event.phase)) return;
  const std::string_view key =
      file.keeps_async_ids ? merged_async_key(event, scratch) : async_id_key(event, scratch);
  if (key.empty()) return;
  const std::string id2 = fmt::format(
      "{{\"{}\": \"0x{:x}\"}}", async_scope(event, file.async_scope), file.async_ids.number(key));
  if (event.has(Key::id2)) {
    edit.replace(Key::id2, id2);
    // Both are an error to catapult; the id that counted is in id2 now.
    if (event.has(Key::id)) edit.rename(Key::id, "source_id");
  } else {
    edit.rename(Key::id, "id2");
    edit.replace(Key::id, id2);
  }
}

}  // namespace traceloom
