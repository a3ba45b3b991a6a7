// Files that training jobs leave beside traces: what they are, and which command reads them.
//
//   if (const FileKind kind = kind_of_file("cuda_alloc_rank_0.pickle"); kind != FileKind::unknown)
//     say(describe(kind).many, describe(kind).what_to_do);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom {

enum class FileKind : std::uint8_t {
  unknown,  // a trace, or nothing that is known here
  pickle,   // an allocator snapshot or memory stats; also a page that holds one
  tracker_report,
  memory_stats,
  memory_timeline,
  memory_picture,
  heap_profile,
};

struct FileKindWords {
  std::string_view one;
  std::string_view many;
  std::string_view what_to_do;  // after "which" or "that"
};

const FileKindWords& describe(FileKind kind);

// True if `trace-stats memory` reads the kind.
bool is_memory_kind(FileKind kind);

// Returns the kind by the name, and where that leaves a choice by the first bytes, which only a
// regular file is asked for.
FileKind kind_of_file(const std::string& path);

// Returns true if a file without more than a name to go by may be of a kind: a folder's other files
// are not opened.
bool may_have_kind(std::string_view name);

}  // namespace traceloom
