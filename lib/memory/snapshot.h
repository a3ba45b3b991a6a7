// Snapshot: an allocator snapshot of torch (torch.cuda.memory._snapshot()), as columns.
//
//   const Snapshot snapshot = snapshot_of(read_pickle(*source, path), path);
//   for (const DeviceSnapshot& device : snapshot.devices) use(replay(snapshot, device));
//
// The blocks say what is there at the end, the entries how that came about, the stacks who did it.
// Layouts of torch 1.13 to 2.14 are read; what a version lacks stays empty.
#pragma once

#include "base/by_enum.h"
#include "memory/pickle.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// What memory was allocated for, as far as the frames of a stack tell.
enum class MemoryCategory : std::uint8_t {
  parameter,
  optimizer,
  activation,
  backward,
  communication,
  other,
  unknown,  // no stack is known
};
constexpr std::string_view to_string(MemoryCategory category) {
  return name_in(
      {"parameter", "optimizer", "activation", "backward", "communication", "other", "unknown"},
      category);
}

struct MemoryFrame {
  std::string_view function;
  std::string_view file;
  std::int64_t line = 0;
};

// The place of a stack, innermost frame first: "model.py:57 attention" for the innermost Python
// frame outside of torch and the standard library, otherwise the autograd node
// ("AddmmBackward0"), otherwise kNoPython.
std::string place_of(const std::vector<MemoryFrame>& stack);
// The first frame from the inside that tells decides.
MemoryCategory category_of(const std::vector<MemoryFrame>& stack);

inline constexpr std::string_view kNoPythonPlace = "(no Python frame)";
inline constexpr std::uint32_t kNoStack = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

enum class MemoryAction : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,  // also segment_map
  segment_free,   // also segment_unmap
  snapshot,
  oom,
  remark,   // annotate: nothing happens
  unknown,  // of a later version
};

struct MemoryEntry {
  std::uint64_t address = 0;  // of an oom the bytes that the device had free
  std::int64_t bytes = 0;
  std::int64_t at_ns = kNoTime;  // Unix time
  std::uint32_t stack = kNoStack;
  MemoryAction action = MemoryAction::unknown;
  bool is_mapping = false;  // of an expandable segment
};

struct MemoryBlock {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t requested = 0;  // 0 for a free one
  std::uint32_t stack = kNoStack;
  bool is_free = false;
  bool waits = false;  // asked to be freed, while another stream may use it
};

// A MemoryPiece is a range that the allocator has from the device.
struct MemoryPiece {
  std::int64_t bytes = 0;
  bool is_small = false;
  bool is_private = false;  // of a pool of CUDA graphs or MemPool
  bool is_expandable = false;
};

struct MemorySegment : MemoryPiece {
  std::uint64_t address = 0;
  std::vector<MemoryBlock> blocks;
};

// A moment at which an annotation (record_function) began or ended.
struct MemoryMark {
  std::int64_t at_ns = 0;
  bool begins = false;
  std::string name;
};

struct DeviceSnapshot {
  std::int64_t device = 0;
  std::vector<MemorySegment> segments;
  std::vector<MemoryEntry> entries;  // oldest first
  std::vector<MemoryMark> marks;     // in the order of the file
};

// A stack as far as reports need it.
struct MemoryStack {
  std::uint32_t place = 0;  // in Snapshot::places
  MemoryCategory category = MemoryCategory::other;
};

// These facts belong to a snapshot as a whole.
struct SnapshotFacts {
  std::optional<bool> expandable_segments = {};  // the allocator's setting
  std::int64_t pinned_bytes = 0;                 // host memory that the allocator holds
  std::uint64_t left_out = 0;                    // parts of the wrong form
  std::uint64_t trailing_bytes = 0;
};

struct Snapshot : SnapshotFacts {
  std::vector<DeviceSnapshot> devices;  // those with segments or entries, in ascending order
  StringTable places;
  std::vector<MemoryStack> stacks;
};

// True if the dictionary has one of the keys of a snapshot.
bool is_snapshot(const PickleDocument& document);

// Throws Error if segments or device_traces is missing or no list. `name` is for messages.
Snapshot snapshot_of(const PickleDocument& document, const std::string& name);

}  // namespace traceloom
