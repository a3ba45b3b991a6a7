// Clocks by moments that several files stamped under one id: the `c` events of a trace.
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
  // How long the stamp took: who asks another process for it knows only when it asked and when it
  // was answered, and takes the middle.
  std::int64_t error_ns = 0;
};

struct SyncNode {
  std::vector<SyncEvent> events = {};          // no id twice
  std::optional<std::int64_t> offset_ns = {};  // of a file whose place is known
};

struct SyncPlace {
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;  // the sum of the stamps' errors on the way from a known place
};

// The places of all files that share ids with one whose place is known, or with one that does, and
// so on: each by the way with the smallest error. Known places stay; nullopt where no way leads.
std::vector<std::optional<SyncPlace>> place_by_sync_events(const std::vector<SyncNode>& files);

// The groups of files that ids connect, of two or more; each and all of them ascending.
std::vector<std::vector<std::size_t>> connected_by_sync_events(const std::vector<SyncNode>& files);

}  // namespace traceloom
