// place_by_sync_events: finds clocks by moments that several files stamped under one id, the `c`
// events of a trace.
//
//   std::vector<SyncNode> files(2);
//   files[0] = {{{"\"a\"", 5'000, 0}}, 0};        // has a place: its clock is the common one
//   files[1] = {{{"\"a\"", 9'000, 200}}, {}};
//   place_by_sync_events(files)[1]->offset_ns == -4'000
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// A moment that has a name, on the clock of one file.
struct SyncEvent {
  std::string id;
  std::int64_t moment_ns = 0;
  // The length of the stamp: a process that asks another one for it knows only when it asked and
  // when it was answered, and uses the middle.
  std::int64_t error_ns = 0;

  template <typename Wire>
  void wire(Wire& wire) {
    wire(id, moment_ns, error_ns);
  }
};

struct SyncNode {
  std::vector<SyncEvent> events = {};          // no id occurs twice
  std::optional<std::int64_t> offset_ns = {};  // set for a file whose place is known
};

struct SyncPlace {
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;  // sum of the stamps' errors on the path from a known place
};

// Places all files that share ids with a known place, directly or through other files; each uses
// the path with the smallest error. Known places stay; a file without a path gets nullopt.
std::vector<std::optional<SyncPlace>> place_by_sync_events(const std::vector<SyncNode>& files);

// Returns the groups of two or more files that ids connect; both the groups and their files ascend.
std::vector<std::vector<std::size_t>> connected_by_sync_events(const std::vector<SyncNode>& files);

}  // namespace traceloom
