// FrameIds: keeps the ids of stack frames of different files apart. Frame 7 of the third file is
// "f2_7" in the output.
//
//   FrameIds ids{2, false};
//   ids.append_to(text, "7");        // "f2_7", with its quotes
//
// Frames come as a top-level dictionary that events and samples refer to (sf, esf), and as metadata
// of a process that memory dumps refer to. Catapult stops its import if an id stands twice. A
// prefix can be added before the dictionary is known, which may stand at the end of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

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
