#include "merge/edits/args_edits.h"

#include "base/json_walk.h"
#include "event/trace_time.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>

namespace traceloom {
namespace {

// Appends a new value of a member to `out` and returns true, or returns false to keep the value.
using ValueEdit =
    std::function<bool(std::string_view key, std::string_view value, std::string& out)>;

// Returns the object with the values that `edit` replaced; an empty text if it replaced none.
std::string edit_members(std::string_view object, const ValueEdit& edit) {
  bool is_edited = false;
  std::string out;
  for_each_member(object, [&](std::string_view key, std::string_view value) {
    out += out.empty() ? "{\"" : ",\"";
    out += key;
    out += "\":";
    if (edit(key, value, out))
      is_edited = true;
    else
      out += value;
  });
  return is_edited ? out + "}" : std::string();
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
    char separator = '[';
    for_each_element(value, [&](std::string_view entry) {
      out += std::exchange(separator, ',');
      const std::string edited = edit_members(entry, in_entry);
      out += edited.empty() ? entry : edited;
    });
    out += separator == '[' ? "[]" : "]";
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
    char separator = '{';
    for_each_member(value, [&](std::string_view id, std::string_view one) {
      out += std::exchange(separator, ',');
      if (has_frames) return append_frame(out, id, one, frames, pid);
      frames.append_to(out, std::string("\"").append(id) + '"', pid);
      out += ':';
      out += one;
    });
    out += separator == '{' ? "{}" : "}";
    return true;
  });
}

std::string rename_object_refs(std::string_view args, bool has_snapshot, const ObjectRefs& refs) {
  if (!has_snapshot) {
    std::string renamed;
    if (ObjectRefs::may_have(args)) refs.append(renamed, args);
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
