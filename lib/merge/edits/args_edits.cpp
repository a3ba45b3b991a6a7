#include "base/json_string.h"
#include "base/json_walk.h"
#include "event/event.h"
#include "event/event_timing.h"
#include "merge/edits/field_edits.h"

#include <fmt/format.h>

#include <algorithm>

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

// Renames references between objects in strict JSON. All arguments must outlive this object.
class ObjectRefs {
 public:
  ObjectRefs(const FilePlan& file, std::string_view pid, std::string_view scope)
      : file_(file), pid_(pid), scope_(scope) {}

  // Appends the value with all references renamed.
  void append(std::string& out, std::string_view value) const { append(out, value, false); }
  // Does the same, and also renames the ids of objects inside the snapshot.
  void append_snapshot(std::string& out, std::string_view snapshot) const {
    if (is_json_object(snapshot))
      append_object(out, snapshot, true, true);
    else
      append(out, snapshot, true);
  }

 private:
  void append(std::string& out, std::string_view value, bool in_snapshot) const {
    if (is_json_object(value)) return append_object(out, value, in_snapshot, false);
    if (!is_json_list(value)) {
      out += value;
      return;
    }
    JsonParts list(out, '[');
    for_each_element(value,
                     [&](std::string_view element) { append(list.next(), element, in_snapshot); });
    list.close();
  }

  void append_object(std::string& out, std::string_view object, bool in_snapshot,
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
    JsonParts renamed(out, '{');
    for_each_member(object, [&](std::string_view key, std::string_view value) {
      const bool misleads = is_id_ref(key) && !new_ref && is_taken(value);
      renamed.next(misleads ? "source_id_ref" : key);
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
    renamed.close();
  }

  // A process without events is nowhere in the output; its rank's number stands for it.
  void append_pid(std::string& out, const std::string& pid) const {
    const auto found = file_.object_pids.find(pid);
    out +=
        found != file_.object_pids.end() ? found->second : std::to_string(file_.rank.rank_of(pid));
  }

  // Returns the new id as JSON text, or nullopt if the file has no such object.
  std::optional<std::string> new_id(std::string_view pid, std::string_view scope,
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
  bool is_taken(std::string_view id) const {
    std::string scratch;
    const std::string_view key = merged_hex_key(id, scratch);
    return !key.empty() && std::stoull(scratch) < file_.object_ids_end;
  }

  const FilePlan& file_;
  std::string_view pid_;
  std::string_view scope_;
};

}  // namespace

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

namespace {

std::string_view type_names_of(std::string_view object) {
  return find_member(find_member(object, "args"), "typeNames");
}

}  // namespace

bool TypeNames::take(std::string_view event) {
  const std::string_view object = event.substr(event.find('{'));
  const std::string_view added = type_names_of(object);
  if (find_member(object, "name") != "\"typeNames\"" || !is_json_object(added)) return false;
  std::string& known = events_[std::string(find_member(object, "pid"))];
  if (known.empty()) {
    known = event;
    return true;
  }
  const std::string_view all = type_names_of(std::string_view(known).substr(known.find('{')));
  const bool was_empty = !JsonWalk(all).next();
  const std::size_t end = static_cast<std::size_t>(all.data() + all.size() - 1 - known.data());
  const std::string_view members = added.substr(1, added.size() - 2);
  if (JsonWalk(added).next()) known.insert(end, (was_empty ? "" : ",") + std::string(members));
  return true;
}

std::string TypeNames::events() const {
  std::string all;
  for (const auto& [pid, event] : events_) all += event;
  return all;
}

namespace {

// Appends a new value of a member to `out` and returns true, or returns false to keep the value.
using ValueEdit =
    std::function<bool(std::string_view key, std::string_view value, std::string& out)>;

// Returns the object with the values that `edit` replaced; an empty text if it replaced none.
std::string edit_members(std::string_view object, const ValueEdit& edit) {
  bool is_edited = false;
  std::string out;
  JsonParts members(out, '{');
  for_each_member(object, [&](std::string_view key, std::string_view value) {
    if (edit(key, value, members.next(key)))
      is_edited = true;
    else
      out += value;
  });
  members.close();
  return is_edited ? out : std::string();
}

// Appends the edited object, if there is one, and returns whether there is.
bool append_if_edited(std::string& out, const std::string& edited) {
  out += edited;
  return !edited.empty();
}

// Returns the time if it lies on the clock of the event, that is, within a minute of it.
std::optional<std::int64_t> read_time(std::string_view value, std::int64_t start_ns) {
  constexpr std::int64_t kNear = 60'000'000'000;
  const std::optional<ParsedTime> time = parse_time(value);
  std::int64_t distance_ns = 0;
  if (!time || __builtin_sub_overflow(time->rounded_ns(), start_ns, &distance_ns) ||
      distance_ns < -kNear || distance_ns > kNear)
    return std::nullopt;
  return time->rounded_ns();
}

bool append_moved(std::string& out, std::string_view value, ArgsTime time) {
  const std::optional<std::int64_t> ns = read_time(value, time.start_ns);
  std::int64_t moved_ns = 0;
  if (!ns || __builtin_add_overflow(*ns, time.shift_ns, &moved_ns)) return false;
  append_microseconds(out, moved_ns);
  return true;
}

bool is_profile_time(std::string_view key) {
  return key == "startTime" || key == "endTime";
}

}  // namespace

std::string move_clock_sync(std::string_view args, ArgsTime time) {
  return edit_members(args, [&](std::string_view key, std::string_view value, std::string& out) {
    return key == "issue_ts" && append_moved(out, value, time);
  });
}

std::string move_profile(std::string_view args, ArgsTime time) {
  const ValueEdit in_profile = [&](std::string_view key, std::string_view value, std::string& out) {
    return is_profile_time(key) && append_moved(out, value, time);
  };
  const ValueEdit in_data = [&](std::string_view key, std::string_view value, std::string& out) {
    if (key == "cpuProfile") return append_if_edited(out, edit_members(value, in_profile));
    return in_profile(key, value, out);
  };
  return edit_members(args, [&](std::string_view key, std::string_view value, std::string& out) {
    return key == "data" && append_if_edited(out, edit_members(value, in_data));
  });
}

std::string rename_heaps(std::string_view args, const FrameIds& frames, std::string_view pid) {
  const ValueEdit in_entry = [&](std::string_view key, std::string_view value, std::string& out) {
    // An empty frame is the root.
    if ((key != "bt" && key != "type") || value == "\"\"" || value == "null") return false;
    frames.append_to(out, value, pid);
    return true;
  };
  const ValueEdit in_heap = [&](std::string_view key, std::string_view value, std::string& out) {
    if (key != "entries" || !is_json_list(value)) return false;
    JsonParts entries(out, '[');
    for_each_element(value, [&](std::string_view entry) {
      const std::string edited = edit_members(entry, in_entry);
      entries.next() += edited.empty() ? entry : edited;
    });
    entries.close();
    return true;
  };
  const ValueEdit in_heaps = [&](std::string_view, std::string_view value, std::string& out) {
    return append_if_edited(out, edit_members(value, in_heap));
  };
  const ValueEdit in_dumps = [&](std::string_view key, std::string_view value, std::string& out) {
    return key == "heaps" && append_if_edited(out, edit_members(value, in_heaps));
  };
  return edit_members(args, [&](std::string_view key, std::string_view value, std::string& out) {
    return key == "dumps" && append_if_edited(out, edit_members(value, in_dumps));
  });
}

std::string rename_dictionaries(std::string_view args, const FrameIds& frames,
                                std::string_view pid) {
  return edit_members(args, [&](std::string_view key, std::string_view value, std::string& out) {
    const bool has_frames = key == "stackFrames" && is_frame_dictionary(value);
    if (!has_frames && (key != "typeNames" || !is_json_object(value))) return false;
    JsonParts entries(out, '{');
    for_each_member(value, [&](std::string_view id, std::string_view one) {
      if (has_frames) return append_frame(entries.next(), id, one, frames, pid);
      frames.append_to(entries.next(), std::string("\"").append(id) + '"', pid);
      out += ':';
      out += one;
    });
    entries.close();
    return true;
  });
}

std::string rename_object_refs(std::string_view args, bool has_snapshot, const FilePlan& file,
                               std::string_view pid, std::string_view scope) {
  const ObjectRefs refs(file, pid, scope);
  if (!has_snapshot) {
    std::string renamed;
    if (args.find("_ref\"") != std::string_view::npos ||
        args.find("Ref\"") != std::string_view::npos)
      refs.append(renamed, args);
    return renamed;
  }
  return edit_members(args, [&](std::string_view key, std::string_view value, std::string& out) {
    if (key == "snapshot")
      refs.append_snapshot(out, value);
    else
      refs.append(out, value);
    return true;
  });
}

std::optional<std::int64_t> first_time_in_args(char phase, std::string_view args,
                                               std::int64_t start_ns) {
  std::optional<std::int64_t> first;
  const auto add = [&](std::string_view value) {
    if (const std::optional<std::int64_t> ns = read_time(value, start_ns))
      first = std::min(first.value_or(*ns), *ns);
  };
  if (phase == 'c') {
    add(find_member(args, "issue_ts"));
    return first;
  }
  const std::string_view data = find_member(args, "data");
  for (const std::string_view object : {data, find_member(data, "cpuProfile")})
    for (const std::string_view key : {"startTime", "endTime"}) add(find_member(object, key));
  return first;
}

}  // namespace traceloom
