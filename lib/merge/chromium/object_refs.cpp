#include "merge/chromium/object_refs.h"

#include "base/json_string.h"
#include "base/json_walk.h"
#include "event/event.h"
#include "merge/ids/id_keys.h"

#include <fmt/format.h>

namespace traceloom {
namespace {

bool is_id_ref(std::string_view key) {
  return key == "id_ref" || key == "idRef";
}
bool is_pid_ref(std::string_view key) {
  return key == "pid_ref" || key == "pidRef";
}

// An id such as "cc::Layer/0x7f": the name, and the id after the last slash.
struct NamedId {
  std::string name;
  std::string id;  // JSON text
};

std::optional<NamedId> read_named_id(std::string_view json_value) {
  if (!is_json_string(json_value)) return std::nullopt;
  const std::string text = decoded(json_value);
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) return std::nullopt;
  NamedId named{text.substr(0, slash), {}};
  append_json_string(named.id, std::string_view(text).substr(slash + 1));
  return named;
}

}  // namespace

void ObjectRefs::append_snapshot(std::string& out, std::string_view snapshot) const {
  if (is_json_object(snapshot))
    append_object(out, snapshot, true, true);
  else
    append(out, snapshot, true);
}

void ObjectRefs::append(std::string& out, std::string_view value, bool in_snapshot) const {
  if (is_json_object(value)) return append_object(out, value, in_snapshot, false);
  if (!is_json_list(value)) {
    out += value;
    return;
  }
  out += '[';
  bool is_first = true;
  for_each_element(value, [&](std::string_view element) {
    if (!is_first) out += ',';
    is_first = false;
    append(out, element, in_snapshot);
  });
  out += ']';
}

void ObjectRefs::append_object(std::string& out, std::string_view object, bool in_snapshot,
                               bool is_snapshot) const {
  std::string_view id_ref;
  std::string_view pid_ref;
  std::string_view scope = scope_;
  for_each_member(object, [&](std::string_view key, std::string_view value) {
    if (is_id_ref(key)) id_ref = value;
    if (is_pid_ref(key)) pid_ref = value;
    if (key == "scope" && is_json_string(value)) scope = value;
  });
  const std::string ref_pid = pid_ref.empty() ? std::string(pid_) : canonical_id(pid_ref);
  const std::optional<std::string> new_ref =
      id_ref.empty() ? std::nullopt : new_id(ref_pid, scope, id_ref);
  out += '{';
  bool is_first = true;
  for_each_member(object, [&](std::string_view key, std::string_view value) {
    out += is_first ? "\"" : ",\"";
    is_first = false;
    const bool misleads = is_id_ref(key) && !new_ref && is_taken(value);
    out += misleads ? "source_id_ref" : key;
    out += "\":";
    const std::optional<NamedId> named =
        in_snapshot && !is_snapshot && key == "id" ? read_named_id(value) : std::nullopt;
    const std::optional<std::string> id = named ? new_id(pid_, scope_, named->id) : std::nullopt;
    if (is_id_ref(key) && new_ref)
      out += *new_ref;
    else if (is_pid_ref(key) && new_ref)
      append_pid(out, ref_pid);
    else if (id)
      append_json_string(out, named->name + "/" + decoded(*id));
    else
      append(out, value, in_snapshot);
  });
  out += '}';
}

// A process without events is nowhere in the output; its rank's number stands for it.
void ObjectRefs::append_pid(std::string& out, const std::string& pid) const {
  const auto found = file_.object_pids.find(pid);
  out += found != file_.object_pids.end() ? found->second : std::to_string(file_.rank.rank_of(pid));
}

// Returns the new id as JSON text, or nullopt if the file has no such object.
std::optional<std::string> ObjectRefs::new_id(std::string_view pid, std::string_view scope,
                                              std::string_view id) const {
  const IdMap& map = file_.object_ids.map;
  std::optional<std::uint64_t> number;
  if (file_.object_ids.keeps) {
    std::string scratch;
    const std::string_view key = merged_hex_key(id, scratch);
    if (!key.empty()) number = map.find(key);
  } else {
    number = map.find(object_key(pid, scope, id));
    if (!number) number = map.find(global_object_key(scope, id));
  }
  if (!number) return std::nullopt;
  return fmt::format("\"0x{:x}\"", *number);
}

// True when the output has, or may have, an object of that id.
bool ObjectRefs::is_taken(std::string_view id) const {
  std::string scratch;
  const std::string_view key = merged_hex_key(id, scratch);
  return !key.empty() && std::stoull(scratch) < file_.object_ids_end;
}

void find_objects_in_snapshot(std::string_view snapshot,
                              const std::function<void(std::string_view id)>& found) {
  const auto visit = [&](std::string_view value) {
    if (is_json_object(value) || is_json_list(value)) {
      if (const auto named = read_named_id(find_member(value, "id"))) found(named->id);
      find_objects_in_snapshot(value, found);
    }
  };
  for_each_member(snapshot, [&](std::string_view, std::string_view value) { visit(value); });
  for_each_element(snapshot, visit);
}

}  // namespace traceloom
