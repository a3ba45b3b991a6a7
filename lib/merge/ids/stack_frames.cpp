#include "merge/ids/stack_frames.h"

#include "base/json_string.h"
#include "base/json_walk.h"
#include "event/event.h"

#include <algorithm>
#include <charconv>

namespace traceloom {
namespace {

// An id such as "f12_7": the group 12, and what follows after the "_".
struct GroupedId {
  std::uint32_t group = 0;
  std::string_view rest;
};

std::optional<GroupedId> split(std::string_view id) {
  if (!id.starts_with('f')) return std::nullopt;
  GroupedId grouped;
  const char* const end = id.data() + id.size();
  const auto [stop, error] = std::from_chars(id.data() + 1, end, grouped.group);
  if (error != std::errc{} || stop == end || *stop != '_') return std::nullopt;
  grouped.rest = {stop + 1, static_cast<std::size_t>(end - stop - 1)};
  return grouped;
}

std::string plain_id(std::string_view json_id) {
  return std::string(unquoted(canonical_id(json_id)));
}

}  // namespace

std::optional<std::uint32_t> frame_group(std::string_view json_id) {
  const std::string id = plain_id(json_id);
  const std::optional<GroupedId> grouped = split(id);
  // No merge has more files than that.
  if (!grouped || grouped->group > 100'000'000) return std::nullopt;
  return grouped->group;
}

void FrameIds::append_to(std::string& out, std::string_view json_id, std::string_view pid) const {
  const std::string id = plain_id(json_id);
  std::string renamed = "f";
  if (const std::optional<GroupedId> grouped = split(id); keeps && grouped) {
    renamed += std::to_string(begin + grouped->group) + "_";
    renamed += grouped->rest;
  } else {
    renamed += std::to_string(begin) + "_";
    if (!pid.empty()) renamed.append(unquoted(pid)) += '_';
    renamed += id;
  }
  append_json_string(out, renamed);
}

bool is_frame_dictionary(std::string_view value) {
  bool is_one = is_json_object(value);
  for_each_member(value, [&](std::string_view, std::string_view frame) {
    is_one = is_one && is_json_object(frame);
  });
  return is_one;
}

void append_frame(std::string& out, std::string_view id, std::string_view frame,
                  const FrameIds& ids, std::string_view pid) {
  ids.append_to(out, std::string("\"").append(id) + '"', pid);
  out += ":{";
  bool is_first = true;
  for_each_member(frame, [&](std::string_view key, std::string_view value) {
    if (!is_first) out += ',';
    is_first = false;
    out += '"';
    out += key;
    out += "\":";
    if (key == "parent" && value != "null")
      ids.append_to(out, value, pid);
    else
      out += value;
  });
  out += '}';
}

}  // namespace traceloom
