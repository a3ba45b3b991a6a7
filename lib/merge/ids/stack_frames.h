// The ids of stack frames, told apart by file: frame 7 of the third file is "f2_7" in the output.
//
//   FrameIds ids{2, false};
//   ids.append_to(text, "7");        // "f2_7", with its quotes
//
// Frames come as a top-level dictionary that events and samples refer to (sf, esf), and as metadata
// of a process that memory dumps refer to. catapult stops its import when an id stands twice. The
// prefix needs nothing that only the end of a file tells, where the dictionary may stand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// How many frame groups a merged file has is one more than the highest of these, over all its ids.
std::optional<std::uint32_t> frame_group(std::string_view json_id);

struct FrameIds {
  std::uint32_t begin = 0;  // the first group that belongs to the file
  bool keeps = false;       // the file was merged before: its ids have groups, which are moved

  // `json_id` is a number or text: 7 and "7" are one frame. Appends JSON text.
  // Frames, and types of objects, of a process (canonical pid) are its own.
  void append_to(std::string& out, std::string_view json_id, std::string_view pid = {}) const;
  bool operator==(const FrameIds&) const = default;
};

// One member of a dictionary of frames: `"f2_7":{...}`, its parent renamed as well. `id` is the key
// as it stands between its quotes, `pid` empty for a top-level dictionary, and canonical for one of
// a process.
void append_frame(std::string& out, std::string_view id, std::string_view frame,
                  const FrameIds& ids, std::string_view pid = {});
// True for an object of objects, strict JSON.
bool is_frame_dictionary(std::string_view value);

}  // namespace traceloom
