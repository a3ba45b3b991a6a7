#include "merge/edits/event_edit.h"

#include "base/json_walk.h"
#include "merge/facts/ids.h"

#include <fmt/format.h>

namespace traceloom {
namespace {

std::string_view id2_scope(const Event& event, AsyncScope scope) {
  const bool is_global = scope == AsyncScope::trace ? !has_local_async_id(event)
                         : scope == AsyncScope::kept
                             ? event.text(Key::id2).starts_with(kMergedGlobal)
                             : false;
  return is_global ? "global" : "local";
}

// Returns an empty text for an event without an id.
std::string id2_of(const Event& event, const FilePlan& file, std::string& scratch) {
  const std::string_view key =
      file.async_ids.keeps ? merged_async_key(event, scratch) : async_id_key(event, scratch);
  if (key.empty()) return {};
  return fmt::format("{{\"{}\": \"0x{:x}\"}}", id2_scope(event, file.async_scope),
                     file.async_ids.map.number(key));
}

// Returns an empty text if the event keeps its own category.
std::string_view other_category(const AsyncAdditions* additions, const FilePlan& file) {
  const bool has_one = additions != nullptr && additions->category != kNoText;
  return has_one ? file.async_slices.text(additions->category) : std::string_view{};
}

// Makes a nestable event of an old one: Perfetto ignores old events, and takes a step (T) for an
// error. A step that becomes no slice is an instant, with its name in the args as before.
void edit_legacy(const Event& event, const FilePlan& file, EventEdit& edit) {
  const AsyncAdditions* const additions = file.async_slices.find(event.offset);
  char phase = event.phase == 'S' ? 'b' : event.phase == 'F' ? 'e' : 'n';
  if (additions != nullptr && additions->step != kNoText) {
    phase = event.phase == 'T' ? 'b' : 'e';
    edit.set(Key::name, file.async_slices.text(additions->step));
  }
  edit.replace(Key::ph, fmt::format("\"{}\"", phase));
  const std::string_view category = other_category(additions, file);
  if (!event.has(Key::cat))
    edit.insert(Key::cat, category.empty() ? "\"\"" : category);  // catapult requires one
  else if (!category.empty())
    edit.replace(Key::cat, category);
}

}  // namespace

void edit_async(const Event& event, const FilePlan& file, EventEdit& edit, std::string& scratch) {
  const std::string id2 = id2_of(event, file, scratch);
  if (id2.empty()) return;
  if (event.has(Key::id2)) {
    edit.replace(Key::id2, id2);
    // Catapult rejects an event with both; the id that counts is in id2 now.
    if (event.has(Key::id)) edit.rename(Key::id, "source_id");
  } else {
    edit.rename(Key::id, "id2");
    edit.replace(Key::id, id2);
  }
  if (is_legacy_async(event)) edit_legacy(event, file, edit);
}

AsyncHalves::AsyncHalves(const Event& event, const Event& clean, const TrackTarget& target,
                         const FilePlan& file, std::string& scratch)
    : category_(other_category(file.async_slices.find(event.offset), file)),
      id2_(id2_of(event, file, scratch)),
      thread_(fmt::format(", \"pid\": {}, \"tid\": {}", target.pid, target.tid)) {
  if (!category_.empty()) return;
  const std::string_view own = clean.text(Key::cat);
  category_ = is_json_string(own) ? own : is_legacy_async(event) ? "\"\"" : "";
}

std::string AsyncHalves::text(char phase, const AsyncHalf& half, const AsyncSlices& slices,
                              std::int64_t ns) const {
  return text(phase, slices.text(half.name),
              half.category == kNoText ? category_ : slices.text(half.category), ns) +
         "}";
}

std::string AsyncHalves::unended(std::string_view name, std::int64_t ns) const {
  return text('e', name, category_, ns) + ", \"unclosed\": true}";
}

// Returns the event without its closing brace.
std::string AsyncHalves::text(char phase, std::string_view name, std::string_view category,
                              std::int64_t ns) const {
  std::string text = fmt::format(",\n{{\"name\": {}, ", name);
  if (!category.empty()) text.append("\"cat\": ").append(category).append(", ");
  text += fmt::format("\"ph\": \"{}\", \"id2\": {}, \"ts\": ", phase, id2_);
  append_microseconds(text, ns);
  text += thread_;
  return text += ", \"added\": true";
}

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
