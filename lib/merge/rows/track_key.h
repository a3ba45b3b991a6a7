// track_key(): the text by which a track of an input is known: pid and tid as JSON text, and for
// GPU rows that share a pid with CPU threads (gpu_rows.h) the GPU.
//
//   track_key("1166", "7", scratch)   add_gpu(scratch, "0")
#pragma once

#include <string>
#include <string_view>

namespace traceloom {

// Separates the parts of a key: JSON text never contains it.
inline constexpr char kTrackKeyPart = '\0';

// Returns a view of `scratch`. `pid` and `tid` are empty if the event has none.
inline std::string_view track_key(std::string_view pid, std::string_view tid,
                                  std::string& scratch) {
  scratch.assign(pid);
  scratch.push_back(kTrackKeyPart);
  scratch.append(tid);
  return scratch;
}

// Appends a GPU to `key`, which is a track_key().
inline std::string_view add_gpu(std::string& key, std::string_view said_gpu) {
  key.push_back(kTrackKeyPart);
  key.append(said_gpu);
  return key;
}

// Returns the key without its GPU, if it has one.
inline std::string_view without_gpu(std::string_view key) {
  const std::size_t tid = key.find(kTrackKeyPart) + 1;
  return key.substr(0, key.find(kTrackKeyPart, tid));
}

}  // namespace traceloom
